/* SPDX-License-Identifier: MIT */
/* Filling a window as a job: a megabyte of floats at a time, by the call that an
 * app would make. */
#include <ggld/window.h>

#include <inttypes.h>
#include <stdlib.h>

#include "../base/checked.h"
#include "job.h"

/* So little that cancelling takes a millisecond. */
#define RUN_BYTES (1u << 20)
/* A window has two buffers, and one is for those who touch it. */
#define N_SLOTS 1u

typedef struct window_job {
    ggld_job job;
    ggld_window *window;
    uint64_t first_elem; /* of the range */
    uint64_t n_elems;
    uint64_t elem_bytes;
    uint64_t done_elems; /* handed to runs */
    uint64_t run_elems;  /* of the run under way */
    ggld_job_done done;
    void *user;
} window_job;

/* As a whole, before its parts are filled one by one. */
static ggld_status check_range(const window_job *self, ggld_error *err)
{
    ggld_window_counts c = { sizeof c };
    ggld_window_stats(self->window, &c);
    uint64_t in_one = c.chunk_bytes / self->elem_bytes;
    if (!ggld_fits(self->first_elem, self->n_elems, c.n_elems))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window job: fill %" PRIu64 " elements from %" PRIu64
                         " on, the window has %" PRIu64,
                         self->n_elems, self->first_elem, c.n_elems);
    uint64_t n_chunks = self->n_elems == 0
                            ? 0
                            : (self->first_elem + self->n_elems - 1) / in_one -
                                  self->first_elem / in_one + 1;
    if (c.lazy != 0 && n_chunks > c.max_resident_bytes / c.chunk_bytes)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "window job: %" PRIu64 " elements are in %" PRIu64
                         " chunks, the budget has room for %" PRIu64
                         " of %" PRIu64
                         " bytes: fill less, or raise max_resident_bytes",
                         self->n_elems, n_chunks,
                         c.max_resident_bytes / c.chunk_bytes, c.chunk_bytes);
    return GGLD_OK;
}

static ggld_status window_begin(ggld_job *job, ggld_error *err)
{
    window_job *self = (window_job *)job;
    job->total_bytes = self->n_elems * self->elem_bytes;
    return check_range(self, err);
}

static bool window_next(ggld_job *job, uint32_t slot)
{
    window_job *self = (window_job *)job;
    (void)slot;
    self->run_elems = ggld_min_u64(self->n_elems - self->done_elems,
                                   RUN_BYTES / self->elem_bytes);
    return self->run_elems != 0;
}

static ggld_status window_run(ggld_job *job, uint32_t slot, ggld_error *err)
{
    window_job *self = (window_job *)job;
    (void)slot;
    return ggld_window_fill(self->window, self->first_elem + self->done_elems,
                            self->run_elems, err);
}

static ggld_status window_take(ggld_job *job, uint32_t slot, ggld_taken *out,
                               ggld_error *err)
{
    window_job *self = (window_job *)job;
    (void)slot, (void)err;
    *out = GGLD_TAKEN_FREE;
    self->done_elems += self->run_elems;
    ggld_job_advance(job, self->run_elems * self->elem_bytes);
    return GGLD_OK;
}

static void window_end(ggld_job *job)
{
    ggld_window_close(((window_job *)job)->window);
}

static void window_done(ggld_job *job, const ggld_error *result)
{
    window_job *self = (window_job *)job;
    self->done(job, result, self->user);
}

static void window_destroy(ggld_job *job)
{
    free(job);
}

static const ggld_job_kind window_kind = {
    .begin = window_begin,
    .next = window_next,
    .run = window_run,
    .take = window_take,
    .end = window_end,
    .done = window_done,
    .destroy = window_destroy,
};

ggld_status ggld_window_fill_start(ggld_job **out, struct uv_loop_s *loop,
                                   ggld_window *window, uint64_t first_elem,
                                   uint64_t n_elems, ggld_job_progress progress,
                                   ggld_job_done done, void *user,
                                   ggld_error *err)
{
    if (out == NULL || loop == NULL || window == NULL || done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window job: out, loop, window and done are needed");
    /* Filling nothing is refused where filling anything would be, as in the
     * child of a fork. */
    ggld_status status = ggld_window_fill(window, 0, 0, err);
    if (status != GGLD_OK)
        return status;
    window_job *self = calloc(1, sizeof *self);
    if (self == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "window job: no memory");
    self->job.kind = &window_kind;
    self->job.loop = loop;
    self->job.n_slots = N_SLOTS;
    self->job.progress = progress;
    self->job.user = user;
    self->window = ggld_window_ref(window);
    self->first_elem = first_elem;
    self->n_elems = n_elems;
    self->elem_bytes = ggld_window_data(window) != NULL ? 4 : 2;
    self->done = done;
    self->user = user;
    status = ggld_job_launch(&self->job, err);
    if (status != GGLD_OK) {
        ggld_window_close(window);
        free(self);
        return status;
    }
    *out = &self->job;
    return GGLD_OK;
}
