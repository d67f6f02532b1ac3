/* SPDX-License-Identifier: MIT */
/* The loop stays free while jobs work on it: its thread never waits for a disk,
 * and a timer goes on firing. How long the longest turn takes, by the clock and
 * of its thread's processor time, is printed and judged by nobody: a test that
 * is timed fails when the machine has other work. The loop never sleeps here, so
 * that what a turn takes is what callbacks take. A millisecond is asked for; see
 * tests/README.md for what is reached. */
#include "check.h"
#include "model.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define N_ATTEMPTS 5

typedef struct turns {
    uv_idle_t idle;
    uv_prepare_t prepare;
    uv_timer_t timer;
    uint64_t own_ns, wall_ns; /* when the last turn began */
    uint64_t longest_own_ns, longest_wall_ns;
    int n_turns, n_fired, n_jobs;
} turns;

/* Processor time of this thread. */
static uint64_t own_time(void)
{
    struct timespec own;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    return (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec;
}

/* Blocks that this thread had a disk read for, and faults that needed one. */
static long n_waits(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_inblock + usage.ru_majflt;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void on_prepare(uv_prepare_t *prepare)
{
    turns *t = prepare->data;
    uint64_t own_ns = own_time(), wall_ns = uv_hrtime();
    if (t->n_turns++ > 0) {
        t->longest_own_ns = longer(t->longest_own_ns, own_ns - t->own_ns);
        t->longest_wall_ns = longer(t->longest_wall_ns, wall_ns - t->wall_ns);
    }
    t->own_ns = own_ns;
    t->wall_ns = wall_ns;
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void on_timer(uv_timer_t *timer)
{
    ((turns *)timer->data)->n_fired++;
}

static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk, (void)user;
    return 0;
}

static void on_done(ggld_job *job, const ggld_error *result, void *user)
{
    turns *t = user;
    (void)job;
    CHECK(result->code == GGLD_OK, "expected GGLD_OK, got %s", result->message);
    if (--t->n_jobs > 0)
        return;
    uv_close((uv_handle_t *)&t->idle, NULL);
    uv_close((uv_handle_t *)&t->prepare, NULL);
    uv_close((uv_handle_t *)&t->timer, NULL);
}

/* Streams of every engine and a prefetch, all at once; the last of them closes
 * the file. */
static void on_open(ggld_job *job, ggld_file *file, const ggld_error *result,
                    void *user)
{
    turns *t = user;
    uv_loop_t *loop = t->idle.loop;
    ggld_error err = *result;
    ggld_view view;
    if (file == NULL) {
        t->n_jobs = 1;
        on_done(job, result, user);
        return;
    }
    view = ggld_tensor_view(ggld_tensor_at(file, 1));
    t->n_jobs = 5;
    for (uint32_t io = GGLD_IO_AUTO; io <= GGLD_IO_DIRECT; io++) {
        ggld_stream_options options = ggld_stream_options_init();
        options.io = io;
        options.format = io % 2 == 0 ? GGLD_STREAM_BYTES : GGLD_STREAM_F32;
        options.max_resident_bytes = 32u << 20;
        MUST(ggld_stream_start(&job, loop, file, NULL, 0, &options, on_chunk,
                               on_done, t, &err),
             err);
    }
    MUST(ggld_prefetch_start(&job, loop, &view, 1, NULL, on_done, t, &err),
         err);
    ggld_close(file);
}

static void attempt(turns *t, const char *path)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    uv_loop_init(&loop);
    uv_idle_init(&loop, &t->idle);
    uv_prepare_init(&loop, &t->prepare);
    uv_timer_init(&loop, &t->timer);
    t->prepare.data = t;
    t->timer.data = t;
    uv_idle_start(&t->idle, on_idle);
    uv_prepare_start(&t->prepare, on_prepare);
    uv_timer_start(&t->timer, on_timer, 1, 1);
    MUST(ggld_open_start(&job, &loop, path, NULL, on_open, t, &err), err);
    loop_finish(&loop, "latency");
}

int main(void)
{
    char *path = model_write_layers(4, 16u << 20);
    int n_fired = 0;
    for (int i = 0; i < N_ATTEMPTS; i++) {
        turns t = { 0 };
        model_chill(path);
        long n_waited = n_waits();
        attempt(&t, path);
        n_waited = n_waits() - n_waited;
        CHECK(n_waited == 0,
              "expected no read from disk on the loop's thread, got %ld",
              n_waited);
        n_fired += t.n_fired;
        printf("longest of %d turns: %.3f ms of processor time, %.3f ms by the "
               "clock; the timer fired %d times\n",
               t.n_turns, (double)t.longest_own_ns / 1e6,
               (double)t.longest_wall_ns / 1e6, t.n_fired);
    }
    CHECK(n_fired > 0, "expected the timer to fire");
    model_remove(path);
    return n_failed != 0;
}
