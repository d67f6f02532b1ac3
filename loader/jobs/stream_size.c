/* SPDX-License-Identifier: MIT */
/* What a stream uses memory for, made to fit its budget: first smaller reads,
 * then fewer at a time, then smaller ones still. */
#include <inttypes.h>

#include "../base/checked.h"
#include "stream.h"

/* With the boundaries that a direct read adds, two huge pages. */
#define EXTENT_BYTES ((4u << 20) - 2 * GGLD_DIRECT_ALIGN)
/* Below this a disk's rate falls off. */
#define EXTENT_GOOD_BYTES (512u << 10)
/* A block of any type fits, as stored and as values. */
#define EXTENT_MIN_BYTES 4096u
/* Bytes and the values made of them, in half of a small second-level cache. */
#define PIECE_BYTES (128u << 10)

static bool on_workers(const ggld_stream *self)
{
    return (self->options.flags & GGLD_STREAM_ON_WORKERS) != 0;
}

static void derive(ggld_stream *self)
{
    ggld_stream_sizes *s = &self->sizes;
    bool values = self->options.format != GGLD_STREAM_BYTES;
    uint64_t asked = self->options.chunk_bytes;
    if (on_workers(self))
        s->chunk_bytes =
            asked != 0 ? asked : ggld_min_u64(PIECE_BYTES, s->extent_bytes);
    else
        s->chunk_bytes = asked != 0 ? asked : s->extent_bytes;
    s->value_bytes = values ? s->chunk_bytes : 0;
    s->raw_bytes = 0;
    if (self->pieces)
        s->raw_bytes = values ? PIECE_BYTES : s->chunk_bytes;
    else if (ggld_io_needs_buffer(&self->io))
        s->raw_bytes = s->extent_bytes + UINT64_C(2) * GGLD_DIRECT_ALIGN;
}

static uint64_t footprint(const ggld_stream *self)
{
    const ggld_stream_sizes *s = &self->sizes;
    bool cached =
        self->io.kind == GGLD_IO_MAP || self->io.kind == GGLD_IO_PREAD;
    uint64_t one = s->raw_bytes + s->value_bytes;
    if (cached && !self->io.by_source)
        one += s->extent_bytes;
    return one * s->n_slots;
}

/* false: nothing is left to make smaller. */
static bool shrink(ggld_stream *self)
{
    ggld_stream_sizes *s = &self->sizes;
    uint64_t least = EXTENT_MIN_BYTES;
    if (self->options.chunk_bytes > least)
        least = self->options.chunk_bytes;
    if (s->extent_bytes / 2 >= least &&
        (s->extent_bytes > EXTENT_GOOD_BYTES || s->n_slots == 1))
        s->extent_bytes /= 2;
    else if (s->n_slots > 1)
        s->n_slots--;
    else
        return false;
    derive(self);
    return true;
}

static ggld_status fit(ggld_stream *self, ggld_error *err)
{
    uint64_t budget = self->options.max_resident_bytes;
    self->sizes.extent_bytes = EXTENT_BYTES;
    if (!on_workers(self) && self->options.chunk_bytes != 0)
        self->sizes.extent_bytes = self->options.chunk_bytes;
    if (self->sizes.extent_bytes < self->options.chunk_bytes)
        self->sizes.extent_bytes = self->options.chunk_bytes;
    self->sizes.n_slots = self->job.n_slots;
    derive(self);
    while (budget != 0 && footprint(self) > budget)
        if (!shrink(self))
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "stream: a budget of %" PRIu64
                             " bytes is less than one chunk needs (%" PRIu64
                             "): raise it to that or more%s",
                             budget, footprint(self),
                             self->options.chunk_bytes > EXTENT_MIN_BYTES
                                 ? ", or ask for smaller chunks"
                                 : "");
    self->job.n_slots = self->sizes.n_slots;
    return GGLD_OK;
}

static ggld_status check_chunk(const ggld_stream *self, ggld_error *err)
{
    uint64_t asked = self->options.chunk_bytes;
    if (asked != 0 && (asked < EXTENT_MIN_BYTES || asked > UINT32_MAX))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "stream: chunks of %" PRIu64
                         " bytes; give from %u to %" PRIu32
                         ", or 0 for the default",
                         asked, EXTENT_MIN_BYTES, UINT32_MAX);
    return GGLD_OK;
}

/* Mapped or direct bytes come an extent at a time; others can be read as they
 * are needed, so that they stay in the cache of the core that reads them. */
static bool reads_pieces(const ggld_stream *self)
{
    return on_workers(self) &&
           (self->io.by_source || self->io.kind == GGLD_IO_PREAD);
}

ggld_status ggld_stream_settle(ggld_stream *self, ggld_error *err)
{
    uint64_t budget = self->options.max_resident_bytes;
    uint64_t room = 2 * (uint64_t)EXTENT_BYTES * self->job.n_slots;
    self->drops = budget != 0 &&
                  (budget < room || self->plan.total_bytes > budget - room);
    ggld_status status = check_chunk(self, err);
    if (status == GGLD_OK)
        status = ggld_io_open(&self->io, self->job.file, self->options.io,
                              self->drops ? GGLD_TO_PASS_BY : GGLD_TO_KEEP,
                              self->drops ? budget : 0, err);
    if (status != GGLD_OK)
        return status;
    self->pieces = reads_pieces(self);
    return fit(self, err);
}
