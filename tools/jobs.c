/* SPDX-License-Identifier: MIT */
/* See jobs.h. */
#include "jobs.h"

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
    return model_open_with(m, a->operands[0], single_flag(single));
}

void job_run_begin(job_run *r, const char *path, const char *label)
{
    memset(r, 0, sizeof *r);
    r->path = path;
    stop_watch();
    progress_begin(&r->bar, label, 0);
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
    if (r->result.code == GGLD_OK)
        return STATUS_GOOD;
    if (stop_asked())
        return report(r->path, "stopped by a signal");
    return report_error(r->path, &r->result);
}

/* Who waited wants to know, and who looks on; a script that reads what others
 * say on standard error does not. */
void job_note(const job_run *r)
{
    if (!r->bar.terminal && r->seconds < 1)
        return;
    report_note(r->path, "%s in %.2f s, %s/s", text_size(r->done_bytes).text,
                r->seconds, text_size((uint64_t)job_rate(r)).text);
}

double job_rate(const job_run *r)
{
    return r->seconds > 0 ? (double)r->done_bytes / r->seconds : 0;
}
