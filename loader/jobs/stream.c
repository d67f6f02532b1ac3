/* SPDX-License-Identifier: MIT */
/* Streaming as a job: extents in file order, one to a slot; a slot's run drops
 * what the slot had before, reads, and makes values. On the loop, slots that
 * are ready before their turn are held until it comes. */
#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../base/checked.h"
#include "start.h"

/* A worker goes on by itself for so long: the way over the loop is two wake-ups
 * and, where every processor works, a wait for one of them. Others that wait
 * for the pool wait no longer than this, and progress is as often as it may
 * be. */
#define RUN_NS 20000000u

static bool on_workers(const ggld_stream *self)
{
    return (self->options.flags & GGLD_STREAM_ON_WORKERS) != 0;
}

static uint32_t value_bytes_of(uint32_t format)
{
    if (format == GGLD_STREAM_F32)
        return sizeof(float);
    return format == GGLD_STREAM_F16 ? sizeof(uint16_t) : 0;
}

static ggld_status make_buffers(ggld_stream *self, ggld_error *err)
{
    for (uint32_t i = 0; i < self->sizes.n_slots; i++) {
        if (self->sizes.value_bytes == 0)
            break;
        int code = ggld_buffer_make(&self->slots[i].values,
                                    (size_t)self->sizes.value_bytes);
        if (code != 0)
            return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                             "stream: no memory for values (%" PRIu64 " bytes)",
                             self->sizes.value_bytes);
    }
    return ggld_io_add_lanes(&self->io, self->sizes.n_slots,
                             self->sizes.raw_bytes, err);
}

static ggld_status stream_begin(ggld_job *job, ggld_error *err)
{
    ggld_stream *self = (ggld_stream *)job;
    ggld_status status =
        ggld_job_plan_make(&self->plan, job->file, self->views, self->n_views,
                           true, value_bytes_of(self->options.format), err);
    if (status == GGLD_OK)
        status = ggld_stream_settle(self, err);
    if (status == GGLD_OK)
        status = make_buffers(self, err);
    job->total_bytes = self->plan.total_bytes;
    return status;
}

/* The next one for the slot; the one before is what is behind. */
static bool take_extent(ggld_stream *self, ggld_stream_slot *s)
{
    uint64_t max_out = on_workers(self) ? UINT64_MAX : self->sizes.chunk_bytes;
    ggld_extent next;
    uv_mutex_lock(&self->lock);
    bool taken = ggld_job_plan_next(&self->plan, self->sizes.extent_bytes,
                                    max_out, &next);
    if (taken) {
        s->behind = s->extent;
        s->has_behind = self->drops && s->extent.size != 0;
        s->extent = next;
        self->last = next;
    }
    uv_mutex_unlock(&self->lock);
    return taken;
}

/* With what is beside it, up to the extents that slots have or will have: of
 * those the kernel may be reading pages that nobody holds yet. Workers may be
 * done in any order, and whoever is last of two neighbours drops what they
 * shared. Chunks in order are dropped in order. */
static void drop(ggld_stream *self, const ggld_extent *extent)
{
    uint64_t from = 0, to = 0;
    uv_mutex_lock(&self->lock);
    if (on_workers(self))
        to = self->last.shard != extent->shard
                 ? UINT64_MAX
                 : self->last.offset + self->last.size;
    for (uint32_t i = 0; i < GGLD_JOB_MAX_SLOTS; i++) {
        const ggld_extent *e = &self->slots[i].extent;
        if (e->size == 0 || e->shard != extent->shard)
            continue;
        if (e->offset < extent->offset && e->offset + e->size > from)
            from = e->offset + e->size;
        if (e->offset > extent->offset)
            to = ggld_min_u64(to, e->offset);
    }
    uv_mutex_unlock(&self->lock);
    ggld_io_drop(&self->io, extent, from, to);
}

static bool stream_next(ggld_job *job, uint32_t slot)
{
    ggld_stream *self = (ggld_stream *)job;
    ggld_stream_slot *s = &self->slots[slot];
    if (!take_extent(self, s))
        return false;
    s->ready = false;
    uint32_t last = (self->turn + self->n_waiting) % GGLD_JOB_MAX_SLOTS;
    self->order[last] = slot;
    self->n_waiting += on_workers(self) ? 0 : 1;
    return true;
}

/* Extent after extent. Where what is behind is dropped, one, as the budget is
 * for what slots have. */
static ggld_status run_worker(ggld_stream *self, uint32_t slot, ggld_error *err)
{
    ggld_stream_slot *s = &self->slots[slot];
    uint64_t started_ns = uv_hrtime();
    s->worked_bytes = 0;
    do {
        ggld_status status = ggld_stream_work(self, slot, err);
        if (status != GGLD_OK)
            return status;
        s->worked_bytes += s->extent.payload;
    } while (!self->drops && uv_hrtime() - started_ns < RUN_NS &&
             take_extent(self, s));
    return GGLD_OK;
}

static ggld_status stream_run(ggld_job *job, uint32_t slot, ggld_error *err)
{
    ggld_stream *self = (ggld_stream *)job;
    ggld_stream_slot *s = &self->slots[slot];
    if (s->has_behind)
        drop(self, &s->behind);
    s->has_behind = false;
    return on_workers(self) ? run_worker(self, slot, err)
                            : ggld_stream_fill(self, slot, err);
}

/* Hands out the slot whose turn it is; then it is free. */
static ggld_status take_turn(ggld_stream *self, ggld_error *err)
{
    uint32_t slot = self->order[self->turn];
    ggld_status status = ggld_stream_hand_out(self, slot, err);
    if (status != GGLD_OK || ggld_job_stopped(&self->job))
        return status;
    self->turn = (self->turn + 1) % GGLD_JOB_MAX_SLOTS;
    self->n_waiting--;
    ggld_job_advance(&self->job, self->slots[slot].extent.payload);
    ggld_job_free_slot(&self->job, slot);
    return GGLD_OK;
}

static ggld_status stream_take(ggld_job *job, uint32_t slot, ggld_taken *out,
                               ggld_error *err)
{
    ggld_stream *self = (ggld_stream *)job;
    ggld_status status = GGLD_OK;
    if (on_workers(self)) {
        ggld_job_advance(job, self->slots[slot].worked_bytes);
        return GGLD_OK;
    }
    *out = GGLD_TAKEN_HELD;
    self->slots[slot].ready = true;
    while (status == GGLD_OK && self->n_waiting > 0 &&
           self->slots[self->order[self->turn]].ready && !ggld_job_stopped(job))
        status = take_turn(self, err);
    return status;
}

static void stream_end(ggld_job *job)
{
    ggld_stream *self = (ggld_stream *)job;
    for (uint32_t i = 0; i < GGLD_JOB_MAX_SLOTS; i++) {
        ggld_stream_slot *s = &self->slots[i];
        if (self->drops && s->has_behind)
            drop(self, &s->behind);
        if (self->drops && s->extent.size != 0)
            drop(self, &s->extent);
        s->extent.size = 0;
        ggld_buffer_free(&s->values);
    }
    ggld_io_close(&self->io);
    ggld_job_plan_free(&self->plan);
    /* Large arrays are unmapped, which may have to wait. */
    free(self->views);
    self->views = NULL;
}

static void stream_done(ggld_job *job, const ggld_error *result)
{
    ggld_stream *self = (ggld_stream *)job;
    self->done(job, result, self->user);
}

static void stream_destroy(ggld_job *job)
{
    ggld_stream *self = (ggld_stream *)job;
    if (self->has_lock)
        uv_mutex_destroy(&self->lock);
    if (self->has_verify_lock)
        uv_mutex_destroy(&self->verify_lock);
    free(self->views);
    free(self);
}

static const ggld_job_kind stream_kind = {
    .begin = stream_begin,
    .next = stream_next,
    .run = stream_run,
    .take = stream_take,
    .end = stream_end,
    .done = stream_done,
    .destroy = stream_destroy,
};

static ggld_status check_options(const ggld_stream_options *options,
                                 ggld_error *err)
{
    ggld_status status =
        ggld_check_options("stream", options->struct_size, sizeof *options,
                           options->reserved, 4, err);
    if (status != GGLD_OK)
        return status;
    if ((options->flags & ~GGLD_STREAM_ON_WORKERS) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "stream job: flags 0x%" PRIx32 " are not known",
                         options->flags);
    if (options->format > GGLD_STREAM_F16 ||
        options->n_parallel > GGLD_JOB_MAX_SLOTS)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "stream job: format %" PRIu32 " (0 to %d), n_parallel "
                         "%" PRIu32 " (0 to %d)",
                         options->format, GGLD_STREAM_F16, options->n_parallel,
                         GGLD_JOB_MAX_SLOTS);
    return GGLD_OK;
}

static ggld_stream *stream_new(const ggld_view *views, size_t n_views,
                               const ggld_stream_options *options)
{
    ggld_stream *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->has_lock = uv_mutex_init(&self->lock) == 0;
    self->has_verify_lock = uv_mutex_init(&self->verify_lock) == 0;
    if (views != NULL)
        self->views = ggld_copy_views(views, n_views);
    if (!self->has_lock || !self->has_verify_lock ||
        (views != NULL && self->views == NULL)) {
        stream_destroy(&self->job);
        return NULL;
    }
    uint32_t n = options->n_parallel;
    self->n_views = n_views;
    self->options = *options;
    self->job.kind = &stream_kind;
    self->job.n_slots = n != 0 ? n : GGLD_DEFAULT_PARALLEL;
    self->job.progress = options->progress;
    return self;
}

ggld_status ggld_stream_start(ggld_job **out, struct uv_loop_s *loop,
                              ggld_file *file, const ggld_view *views,
                              size_t n_views,
                              const ggld_stream_options *options,
                              ggld_chunk_call chunk, ggld_job_done done,
                              void *user, ggld_error *err)
{
    ggld_stream_options standard = ggld_stream_options_init();
    if (options == NULL)
        options = &standard;
    if (out == NULL || loop == NULL || file == NULL || chunk == NULL ||
        done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "stream job: out, loop, file, chunk and done are "
                         "needed");
    ggld_status status = check_options(options, err);
    if (status != GGLD_OK)
        return status;
    ggld_stream *self = stream_new(views, n_views, options);
    if (self == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "stream job: no memory for %zu views", n_views);
    self->job.loop = loop;
    self->job.user = user;
    self->job.file = ggld_file_ref(file);
    self->chunk = chunk;
    self->done = done;
    self->user = user;
    status = ggld_job_launch(&self->job, err);
    if (status != GGLD_OK) {
        ggld_close(file);
        stream_destroy(&self->job);
        return status;
    }
    *out = &self->job;
    return GGLD_OK;
}
