/* SPDX-License-Identifier: MIT */
/* What the tests of jobs share. */
#include "check.h"

#include <dirent.h>

int n_failed;

void outcome_done(ggld_job *job, const ggld_error *result, void *user)
{
    outcome *o = user;
    (void)job;
    o->n_calls++;
    o->result = *result;
}

void outcome_opened(ggld_job *job, ggld_file *file, const ggld_error *result,
                    void *user)
{
    outcome *o = user;
    outcome_done(job, result, user);
    o->file = file;
}

void outcome_progress(ggld_job *job, uint64_t done_bytes, uint64_t total_bytes,
                      void *user)
{
    outcome *o = user;
    (void)job;
    CHECK(done_bytes >= o->done_bytes,
          "progress: expected to grow, got %llu after %llu",
          (unsigned long long)done_bytes, (unsigned long long)o->done_bytes);
    o->done_bytes = done_bytes;
    o->total_bytes = total_bytes;
    o->n_reports++;
    if (o->begun_ns == 0)
        return;
    /* One at the beginning, one at the end, and 50 ms between others: on a
     * slow machine more time passes, and never less. */
    uint64_t most = 2 + (uv_hrtime() - o->begun_ns) / 50000000;
    CHECK((uint64_t)o->n_reports <= most,
          "progress: expected at most %llu reports by now, got %d",
          (unsigned long long)most, o->n_reports);
}

void outcome_check(const outcome *o, ggld_status code, const char *what)
{
    CHECK(o->n_calls == 1, "%s: expected 1 completion call, got %d", what,
          o->n_calls);
    CHECK(o->result.code == code, "%s: expected %s, got %s: %s", what,
          ggld_status_name(code), ggld_status_name(o->result.code),
          o->result.message);
}

void loop_finish(uv_loop_t *loop, const char *what)
{
    int left = uv_run(loop, UV_RUN_DEFAULT);
    CHECK(left == 0, "%s: expected nothing on the loop, got %d", what, left);
    int status = uv_loop_close(loop);
    CHECK(status == 0, "%s: expected the loop to close, got %s", what,
          uv_strerror(status));
}

static void nothing(void *arg)
{
    (void)arg;
}

void loop_warm_up(void)
{
    uv_loop_t loop;
    uv_thread_t thread;
    uv_loop_init(&loop);
    uv_loop_close(&loop);
    if (uv_thread_create(&thread, nothing, NULL) == 0)
        uv_thread_join(&thread);
}

static int count_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;
    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

int count_fds(void)
{
    return count_entries("/proc/self/fd");
}

int count_threads(void)
{
    return count_entries("/proc/self/task");
}
