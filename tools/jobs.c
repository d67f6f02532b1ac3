/* SPDX-License-Identifier: MIT */
/* See jobs.h. */
#include "jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "opts.h"
#include "report.h"
#include "stop.h"
#include "text.h"

/* past_cache: what bypasses the page cache is a way too. */
static int parse_io(const args *a, const char *text, bool past_cache,
                    uint32_t *out)
{
    static const char *const names[] = { "auto", "map", "pread", "direct",
                                         "uring" };
    if (text == NULL)
        return STATUS_GOOD;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0 &&
            (past_cache || strcmp(text, "direct") != 0)) {
            *out = i;
            return STATUS_GOOD;
        }
    return report_usage(a, "--io is '%s': auto, map, pread%s or uring", text,
                        past_cache ? ", direct" : "");
}

int job_open(const args *a, const char *io, const char *budget,
             const char *single, bool past_cache, uint32_t *io_out,
             uint64_t *budget_bytes, model *m)
{
    int status = parse_io(a, io, past_cache, io_out);
    if (status == STATUS_GOOD && budget != NULL &&
        (!opts_size(budget, budget_bytes) || *budget_bytes == 0))
        status =
            report_usage(a, "--budget is '%s': a size like 512M or 4G", budget);
    if (status != STATUS_GOOD)
        return status;
    uint32_t flags = single_flag(single);
    /* A map of a network's or a FUSE mount's file is what was to be left out. */
    if (*io_out == GGLD_IO_PREAD)
        flags |= GGLD_OPEN_PREAD;
    return model_open_with(m, a->operands[0], flags);
}

/* ---- libuv's pool ---- */

#define POOL_DEFAULT 4u
#define POOL_MAX     1024u

static uint32_t pool_size(void)
{
    const char *text = getenv("UV_THREADPOOL_SIZE");
    uint64_t n;
    if (text == NULL)
        return POOL_DEFAULT;
    if (!opts_number(text, 1, UINT64_MAX, &n))
        return 1;
    return n < POOL_MAX ? (uint32_t)n : POOL_MAX;
}

static void wait_turn(void *gate)
{
    uv_mutex_lock(gate);
    uv_mutex_unlock(gate);
}

/* libuv makes all threads of its pool with the first work that is queued, and
 * aborts where it can't have one: as many are made, at one time, before. */
static int try_pool(const char *path)
{
    uv_thread_t threads[POOL_MAX];
    uv_mutex_t gate;
    uint32_t size = pool_size(), n = 0;
    int code = uv_mutex_init(&gate);
    if (code != 0)
        return report(path, "no mutex: %s", uv_strerror(code));
    uv_mutex_lock(&gate);
    while (n < size && code == 0) {
        code = uv_thread_create(&threads[n], wait_turn, &gate);
        n += code == 0;
    }
    uv_mutex_unlock(&gate);
    for (uint32_t i = 0; i < n; i++)
        (void)uv_thread_join(&threads[i]);
    uv_mutex_destroy(&gate);
    if (code == 0)
        return STATUS_GOOD;
    return report(path,
                  "the system gives %" PRIu32 " of the %" PRIu32
                  " threads of libuv's pool: %s; raise its limit (ulimit -u, a "
                  "cgroup's pids.max), or set UV_THREADPOOL_SIZE=1",
                  n, size, uv_strerror(code));
}

/* ---- a job ---- */

int job_run_begin(job_run *r, struct uv_loop_s *loop, const char *path,
                  const char *label)
{
    memset(r, 0, sizeof *r);
    r->path = path;
    int status = try_pool(path);
    if (status != STATUS_GOOD)
        return status;
    int code = uv_loop_init(loop);
    if (code != 0)
        return report(path, "no loop: %s", uv_strerror(code));
    stop_watch();
    progress_begin(&r->bar, label, 0);
    return STATUS_GOOD;
}

int job_run_failed(const job_run *r, struct uv_loop_s *loop,
                   const ggld_error *err)
{
    (void)uv_loop_close(loop);
    return report_error(r->path, err);
}

void job_run_progress(ggld_job *job, uint64_t done_bytes, uint64_t total_bytes,
                      void *user)
{
    job_run *r = user;
    r->bar.total_bytes = total_bytes;
    progress_add(&r->bar, done_bytes - r->done_bytes);
    r->done_bytes = done_bytes;
    if (stop_asked())
        ggld_job_cancel(job);
}

void job_run_done(ggld_job *job, const ggld_error *result, void *user)
{
    job_run *r = user;
    (void)job;
    r->result = *result;
    r->seconds = progress_clock() - r->bar.started;
}

int job_run_finish(job_run *r, struct uv_loop_s *loop)
{
    while (uv_run(loop, UV_RUN_DEFAULT) != 0)
        continue;
    (void)uv_loop_close(loop);
    progress_end(&r->bar);
    /* Also where the job had no more to do than end: nothing follows. */
    if (stop_asked())
        return report(r->path, "stopped by a signal");
    return r->result.code == GGLD_OK ? STATUS_GOOD
                                     : report_error(r->path, &r->result);
}

void job_note(const job_run *r)
{
    if (!r->bar.terminal && r->seconds <= 1)
        return;
    report_note(r->path, "%s in %.2f s, %s/s", text_size(r->done_bytes).text,
                r->seconds, text_size((uint64_t)job_rate(r)).text);
}

double job_rate(const job_run *r)
{
    return r->seconds > 0 ? (double)r->done_bytes / r->seconds : 0;
}
