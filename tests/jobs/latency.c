/* SPDX-License-Identifier: MIT */
/* The loop stays free while jobs work on it: no turn of the loop takes longer
 * than a millisecond, and a timer goes on firing. The loop never waits here, so
 * that what a turn takes is what callbacks take. A turn in which the system
 * gave the processor to somebody else is measured by its own processor time; a
 * worker that was taken off with libuv's lock held can still hold a turn up, but
 * what blocks does so each time, so that the best of several attempts counts. */
#include "check.h"
#include "model.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define LIMIT_NS   1000000u
#define N_ATTEMPTS 15

typedef struct moment {
    uint64_t wall_ns, own_ns;
    long n_taken_off; /* involuntary switches */
} moment;

typedef struct turns {
    uv_idle_t idle;
    uv_prepare_t prepare;
    uv_timer_t timer;
    moment last;
    uint64_t longest_ns;
    int n_turns, n_fired, n_jobs;
    ggld_file *file;
} turns;

static long n_taken_off(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* All three at once: again, if the thread was taken off between them. */
static moment now(void)
{
    struct timespec own;
    moment m;
    do {
        m.n_taken_off = n_taken_off();
        m.wall_ns = uv_hrtime();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
        m.own_ns = (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec;
    } while (m.n_taken_off != n_taken_off());
    return m;
}

static void on_prepare(uv_prepare_t *prepare)
{
    turns *t = prepare->data;
    moment m = now();
    uint64_t took_ns = m.n_taken_off != t->last.n_taken_off
                           ? m.own_ns - t->last.own_ns
                           : m.wall_ns - t->last.wall_ns;
    if (t->n_turns++ > 0 && took_ns > t->longest_ns)
        t->longest_ns = took_ns;
    t->last = m;
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
    uint64_t best_ns = UINT64_MAX;
    int n_fired = 0;
    for (int i = 0; i < N_ATTEMPTS && best_ns > LIMIT_NS; i++) {
        turns t = { 0 };
        model_chill(path);
        attempt(&t, path);
        if (t.longest_ns < best_ns)
            best_ns = t.longest_ns;
        n_fired += t.n_fired;
        printf("longest of %d turns: %.3f ms; the timer fired %d times\n",
               t.n_turns, (double)t.longest_ns / 1e6, t.n_fired);
    }
    CHECK(best_ns <= LIMIT_NS, "expected no turn over 1 ms, got %.3f ms",
          (double)best_ns / 1e6);
    CHECK(n_fired > 0, "expected the timer to fire");
    model_remove(path);
    return n_failed != 0;
}
