/* SPDX-License-Identifier: MIT */
/* Numbered items of work on all cores, whose results are taken one by one in
 * their order (see <ggld/ordered.h>), until a signal says stop. */
#ifndef TOOLS_PIPELINE_H
#define TOOLS_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#include <ggld/error.h>

/* slot: memory of the item, from its work to the end of its take. */
typedef ggld_status (*pipeline_step)(void *user, uint64_t item, void *slot,
                                     ggld_error *err);

typedef struct pipeline {
    uint64_t n_items;
    size_t slot_bytes;
    void *user;
    pipeline_step work; /* on any thread, several at a time */
    pipeline_step take; /* on the caller's, in the order of items */
} pipeline;

/* The first failure, in the order of items, ends it and is the result; nothing
 * behind it is taken. GGLD_E_CANCELLED: stop_asked().
 * Where the command is built without libuv, all is done on one thread. */
ggld_status pipeline_run(const pipeline *p, ggld_error *err);

/* What UV_THREADPOOL_SIZE says; 0: nothing. With libuv only. */
uint32_t pipeline_threads(void);

#endif /* TOOLS_PIPELINE_H */
