/* SPDX-License-Identifier: MIT */
/* Numbered items of work on all cores, whose results are taken one by one in
 * their order: what comes out does not depend on the number of threads. The
 * library's stream job gives chunks to its threads in no order, which suits
 * sums; this is for results that are as long as what they are made of. */
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
    size_t slot_bytes; /* there are at most PIPELINE_SLOTS_MAX slots */
    void *user;
    pipeline_step work; /* on any thread, several at a time */
    pipeline_step take; /* on the caller's, in the order of items */
} pipeline;

#define PIPELINE_SLOTS_MAX 32

/* The first failure, in the order of items, ends it and is the result; nothing
 * behind it is taken. GGLD_E_CANCELLED: stop_asked().
 * Where the command is built without libuv, all is done on one thread. */
ggld_status pipeline_run(const pipeline *p, ggld_error *err);

#endif /* TOOLS_PIPELINE_H */
