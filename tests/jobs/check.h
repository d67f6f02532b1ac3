/* SPDX-License-Identifier: MIT */
/* The checks of plain mains, which the thread sanitizer can watch, and a job's
 * end as a value. */
#ifndef TEST_JOBS_CHECK_H
#define TEST_JOBS_CHECK_H

#include <uv.h>

#include <ggld/async.h>

#include "../views/check.h"

/* Of a call that must succeed; the function returns where it does not. */
#define MUST(call, err)                                                      \
    do {                                                                     \
        if ((call) != GGLD_OK) {                                             \
            CHECK(0, "%s: expected GGLD_OK, got: %s", #call, (err).message); \
            return;                                                          \
        }                                                                    \
    } while (0)

/* What completion calls leave here. */
typedef struct outcome {
    int n_calls;
    ggld_error result;
    ggld_file *file; /* of an open */
    uint64_t done_bytes, total_bytes;
    int n_reports;
    uint64_t begun_ns; /* if it is set, reports are counted against the time */
} outcome;

void outcome_done(ggld_job *job, const ggld_error *result, void *user);
void outcome_opened(ggld_job *job, ggld_file *file, const ggld_error *result,
                    void *user);
void outcome_progress(ggld_job *job, uint64_t done_bytes, uint64_t total_bytes,
                      void *user);

/* Expects one call with that code. */
void outcome_check(const outcome *o, ggld_status code, const char *what);

/* Runs until nothing is left, and closes: which shows that nothing is. */
void loop_finish(uv_loop_t *loop, const char *what);

/* libuv opens things of its own with the first loop and keeps them; the thread
 * sanitizer has a thread of its own from the first thread on. */
void loop_warm_up(void);

/* Numbers of this process's descriptors and threads. */
int count_fds(void);
int count_threads(void);

#endif /* TEST_JOBS_CHECK_H */
