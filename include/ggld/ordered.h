/* SPDX-License-Identifier: MIT */
/* Numbered items of work on all cores, whose results are taken one by one in
 * their order (libggld-uv): what comes out does not depend on the number of
 * threads. For work whose results are as long as what they are made of, such as
 * converting a model; a stream job (async.h) suits sums.
 *
 * The call waits, and needs no loop: its threads are its own, begin with it and
 * end with it. */
#ifndef GGLD_ORDERED_H
#define GGLD_ORDERED_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* slot: memory of the item alone, from its work to the end of its take; what an
 * earlier item left there is still in it. err is never NULL. */
typedef ggld_status (*ggld_ordered_step)(void *user, uint64_t item, void *slot,
                                         ggld_error *err);

#define GGLD_ORDERED_MAX_THREADS 256

typedef struct ggld_ordered {
    size_t struct_size; /* sizeof(ggld_ordered) */
    uint64_t n_items;
    size_t slot_bytes; /* aligned for any type */
    /* 0: as many as there are processors, and 4 where there are fewer, which
     * gain by them while they wait for a disk. At most
     * GGLD_ORDERED_MAX_THREADS. 1: all is done on the caller's thread. */
    uint32_t n_threads;
    uint32_t reserved32;
    /* Of all slots together; 0: 64 MiB. There are two slots a thread where they
     * fit, and no more threads than slots; one slot there always is. */
    uint64_t max_slots_bytes;
    void *user;
    ggld_ordered_step work; /* on any thread, several at a time */
    ggld_ordered_step take; /* on the caller's, in the order of items */
    uint64_t reserved[4];
} ggld_ordered;

static inline ggld_ordered ggld_ordered_init(void)
{
    ggld_ordered ordered = {
        sizeof(ggld_ordered), 0, 0, 0, 0, 0, NULL, NULL, NULL, { 0, 0, 0, 0 }
    };
    return ordered;
}

/* The first failure of a step, in the order of items, ends it and is the
 * result; nothing behind it is taken. To end it early, fail from take with
 * GGLD_E_CANCELLED. GGLD_E_NOMEM: no memory for a slot; where threads can't be
 * had, fewer do the work. Signals but those of faults are blocked on its
 * threads. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_ordered_run(const ggld_ordered *ordered, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_ORDERED_H */
