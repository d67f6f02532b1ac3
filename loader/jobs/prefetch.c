/* SPDX-License-Identifier: MIT */
/* Warming as a job: extents of the views in the order given, each brought into
 * the page cache by one chunk of work. Nothing is kept but the place in the
 * plan. */
#include <ggld/async.h>

#include <inttypes.h>
#include <stdlib.h>

#include "../base/checked.h"
#include "io.h"
#include "job.h"
#include "plan.h"
#include "start.h"

/* Long enough for the kernel's readahead to get going in each. */
#define CHUNK_BYTES (16u << 20)
/* A block of any type fits. */
#define CHUNK_MIN_BYTES 4096u
/* For reads that have to go somewhere. */
#define SCRATCH_BYTES (256u << 10)

typedef struct prefetch_job {
    ggld_job job;
    ggld_prefetch_options options;
    ggld_view *views;
    size_t n_views;
    ggld_job_done done;
    void *user;
    uint64_t chunk_bytes;
    ggld_job_plan plan;
    ggld_io io;
    ggld_extent extents[GGLD_JOB_MAX_SLOTS];
} prefetch_job;

static ggld_status settle_budget(prefetch_job *self, ggld_error *err)
{
    uint64_t budget = self->options.max_resident_bytes;
    uint64_t least = self->options.chunk_bytes != 0 ? self->options.chunk_bytes
                                                    : CHUNK_MIN_BYTES;
    self->chunk_bytes = self->options.chunk_bytes != 0
                            ? self->options.chunk_bytes
                            : CHUNK_BYTES;
    if (self->chunk_bytes < CHUNK_MIN_BYTES)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "prefetch: a chunk of %" PRIu64
                         " bytes; give %u or more, or 0 for the default",
                         self->chunk_bytes, CHUNK_MIN_BYTES);
    if (budget == 0)
        return GGLD_OK;
    if (budget < least)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "prefetch: a budget of %" PRIu64
                         " bytes is smaller than one chunk (%" PRIu64
                         "): raise it to that or more%s",
                         budget, least,
                         self->options.chunk_bytes > CHUNK_MIN_BYTES
                             ? ", or ask for smaller chunks"
                             : "");
    self->plan.max_payload = budget;
    self->chunk_bytes = ggld_min_u64(self->chunk_bytes, budget);
    return GGLD_OK;
}

static ggld_status prefetch_begin(ggld_job *job, ggld_error *err)
{
    prefetch_job *self = (prefetch_job *)job;
    if (self->n_views == 0)
        return GGLD_OK;
    if (job->file == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "view 0: has no tensor; was it looked up by a name "
                         "that the file does not have?");
    ggld_status status = ggld_job_plan_make(&self->plan, job->file, self->views,
                                            self->n_views, false, 0, err);
    if (status == GGLD_OK)
        status = settle_budget(self, err);
    if (status == GGLD_OK)
        status =
            ggld_io_open(&self->io, job->file, self->options.io, GGLD_TO_WARM,
                         self->options.max_resident_bytes, err);
    if (status == GGLD_OK)
        status = ggld_io_add_lanes(&self->io, job->n_slots, SCRATCH_BYTES, err);
    job->total_bytes =
        ggld_min_u64(self->plan.total_bytes, self->plan.max_payload);
    return status;
}

static bool prefetch_next(ggld_job *job, uint32_t slot)
{
    prefetch_job *self = (prefetch_job *)job;
    return ggld_job_plan_next(&self->plan, self->chunk_bytes, UINT64_MAX,
                              &self->extents[slot]);
}

static ggld_status prefetch_run(ggld_job *job, uint32_t slot, ggld_error *err)
{
    prefetch_job *self = (prefetch_job *)job;
    return ggld_io_warm(&self->io, slot, &self->plan, &self->extents[slot],
                        err);
}

static ggld_status prefetch_take(ggld_job *job, uint32_t slot, ggld_taken *out,
                                 ggld_error *err)
{
    prefetch_job *self = (prefetch_job *)job;
    (void)out, (void)err;
    ggld_job_advance(job, self->extents[slot].payload);
    return GGLD_OK;
}

static void prefetch_end(ggld_job *job)
{
    prefetch_job *self = (prefetch_job *)job;
    ggld_io_close(&self->io);
    ggld_job_plan_free(&self->plan);
    /* Large arrays are unmapped, which may have to wait. */
    free(self->views);
    self->views = NULL;
}

static void prefetch_done(ggld_job *job, const ggld_error *result)
{
    prefetch_job *self = (prefetch_job *)job;
    self->done(job, result, self->user);
}

static void prefetch_destroy(ggld_job *job)
{
    prefetch_job *self = (prefetch_job *)job;
    free(self->views);
    free(self);
}

static const ggld_job_kind prefetch_kind = {
    .begin = prefetch_begin,
    .next = prefetch_next,
    .run = prefetch_run,
    .take = prefetch_take,
    .end = prefetch_end,
    .done = prefetch_done,
    .destroy = prefetch_destroy,
};

static ggld_status check_options(const ggld_prefetch_options *options,
                                 ggld_error *err)
{
    ggld_status status =
        ggld_check_options("prefetch", options->struct_size, sizeof *options,
                           options->reserved, 3, err);
    if (status != GGLD_OK)
        return status;
    if (options->flags != 0 || options->reserved32 != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "prefetch job: flags 0x%" PRIx32 " are not known",
                         options->flags);
    if (options->n_parallel > GGLD_JOB_MAX_SLOTS)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "prefetch job: n_parallel %" PRIu32 "; the most is %d",
                         options->n_parallel, GGLD_JOB_MAX_SLOTS);
    return GGLD_OK;
}

static void prefetch_fill(prefetch_job *self, struct uv_loop_s *loop,
                          const ggld_prefetch_options *options)
{
    uint32_t n = options->n_parallel;
    self->options = *options;
    self->job.kind = &prefetch_kind;
    self->job.loop = loop;
    self->job.n_slots = n != 0 ? n : GGLD_DEFAULT_PARALLEL;
    self->job.progress = options->progress;
    self->job.user = self->user;
    const ggld_tensor *first =
        self->n_views != 0 ? self->views[0].tensor : NULL;
    /* Counting a holder changes nothing that others may see of the file. */
    if (first != NULL)
        self->job.file = ggld_file_ref((ggld_file *)ggld_tensor_file(first));
}

ggld_status ggld_prefetch_start(ggld_job **out, struct uv_loop_s *loop,
                                const ggld_view *views, size_t n_views,
                                const ggld_prefetch_options *options,
                                ggld_job_done done, void *user, ggld_error *err)
{
    ggld_prefetch_options standard = ggld_prefetch_options_init();
    if (options == NULL)
        options = &standard;
    if (out == NULL || loop == NULL || done == NULL ||
        (views == NULL && n_views != 0))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "prefetch job: out, loop, views and done are needed");
    ggld_status status = check_options(options, err);
    if (status != GGLD_OK)
        return status;

    prefetch_job *self = calloc(1, sizeof *self);
    ggld_view *copy = ggld_copy_views(views, n_views);
    if (self == NULL || copy == NULL) {
        free(self);
        free(copy);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "prefetch job: no memory for %zu views", n_views);
    }
    self->views = copy;
    self->n_views = n_views;
    self->done = done;
    self->user = user;
    prefetch_fill(self, loop, options);
    status = ggld_job_launch(&self->job, err);
    if (status != GGLD_OK) {
        ggld_close(self->job.file);
        prefetch_destroy(&self->job);
        return status;
    }
    *out = &self->job;
    return GGLD_OK;
}
