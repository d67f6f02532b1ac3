/* SPDX-License-Identifier: MIT */
/* A stream's own state, for the files that it is made of: stream.c (the job),
 * stream_size.c (what fits a budget), stream_values.c (chunks out of bytes). */
#ifndef GGLD_JOBS_STREAM_H
#define GGLD_JOBS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/async.h>
#include <ggld/codec.h>

#include "buffer.h"
#include "io.h"
#include "job.h"
#include "plan.h"

/* How large everything is. */
typedef struct ggld_stream_sizes {
    uint64_t extent_bytes; /* of the file, that one slot works on */
    uint64_t chunk_bytes;  /* of data handed out at once, at most */
    uint64_t raw_bytes;    /* of a lane's buffer; 0: none */
    uint64_t value_bytes;  /* of a slot's values; 0: none */
    uint32_t n_slots;
} ggld_stream_sizes;

typedef struct ggld_stream_slot {
    ggld_extent extent; /* written under the lock, and read by other slots */
    ggld_extent behind; /* the one before, while it is to be dropped */
    bool has_behind;
    bool ready;            /* to be handed out in its turn */
    uint64_t worked_bytes; /* by the last run, on workers */
    ggld_buffer values;
} ggld_stream_slot;

typedef struct ggld_stream {
    ggld_job job;
    ggld_stream_options options;
    ggld_view *views; /* NULL: all tensors */
    size_t n_views;
    ggld_chunk_call chunk;
    ggld_job_done done;
    void *user;

    uv_mutex_t lock; /* of the place in the plan, and what slots have */
    bool has_lock;
    uv_mutex_t verify_lock; /* while a budget's verifier is asked */
    bool has_verify_lock;
    ggld_job_plan plan;
    ggld_extent last; /* that was taken */
    ggld_io io;
    ggld_stream_sizes sizes;
    bool drops;  /* what is behind */
    bool pieces; /* extents are read in pieces, as they are handed out */
    ggld_stream_slot slots[GGLD_JOB_MAX_SLOTS];
    /* Slots in the order of their extents, from turn on. */
    uint32_t order[GGLD_JOB_MAX_SLOTS];
    uint32_t turn;
    uint32_t n_waiting;
} ggld_stream;

/* Chooses the engine and the sizes. GGLD_E_INVALID: the budget is less than
 * one chunk needs. */
ggld_status ggld_stream_settle(ggld_stream *self, ggld_error *err);

/* Pool: makes the slot's extent ready for handing out, in the lane's and the
 * slot's buffers. */
ggld_status ggld_stream_fill(ggld_stream *self, uint32_t slot, ggld_error *err);
/* Loop: hands out what fill has made ready. */
ggld_status ggld_stream_hand_out(ggld_stream *self, uint32_t slot,
                                 ggld_error *err);
/* Pool: both at once, in pieces that fit a core's cache. */
ggld_status ggld_stream_work(ggld_stream *self, uint32_t slot, ggld_error *err);

#endif /* GGLD_JOBS_STREAM_H */
