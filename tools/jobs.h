/* SPDX-License-Identifier: MIT */
/* A job of libggld-uv as a command runs it: to its end, with a bar, and
 * cancelled by Ctrl-C. */
#ifndef TOOLS_JOBS_H
#define TOOLS_JOBS_H

#include <ggld/async.h>

#include "command.h"
#include "model.h"
#include "progress.h"

/* First member of what a command gives its job as user. */
typedef struct job_run {
    const char *path;
    progress bar;
    uint64_t done_bytes;
    ggld_error result;
    double seconds;
} job_run;

/* Opens the model, once the values of --io, --budget and --single are
 * understood; what is NULL of them leaves its result as it was. past_cache:
 * --io may be direct. Exit status. */
int job_open(const args *a, const char *io, const char *budget,
             const char *single, bool past_cache, uint32_t *io_out,
             uint64_t *budget_bytes, model *m);

/* Makes the loop, once it is known that libuv's pool can be had. Exit status;
 * what is wrong has been reported, and there is no loop. */
int job_run_begin(job_run *r, struct uv_loop_s *loop, const char *path,
                  const char *label);
/* Where nothing was started. Reports err, and gives the exit status. */
int job_run_failed(const job_run *r, struct uv_loop_s *loop,
                   const ggld_error *err);
void job_run_progress(ggld_job *job, uint64_t done_bytes, uint64_t total_bytes,
                      void *user);
void job_run_done(ggld_job *job, const ggld_error *result, void *user);
/* Runs the loop to its end and closes it. Exit status; what is wrong has been
 * reported. */
int job_run_finish(job_run *r, struct uv_loop_s *loop);

/* Bytes per second, 0 where no time has passed. */
double job_rate(const job_run *r);

/* Notes bytes, time and rate on standard error, where that is a terminal or it
 * took more than a second. */
void job_note(const job_run *r);

#endif /* TOOLS_JOBS_H */
