/* SPDX-License-Identifier: MIT */
/* Jobs' lives: cancelled before they begin, outlived by their file's other
 * holders, on loops that stop early, thousands at once, behind a full pool.
 * Always one completion call, and nothing left. */
#include "check.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536u

static const char *path;

/* ---- streams that go to their end ---- */

typedef struct passer {
    outcome end; /* first: done's user */
    _Atomic int n_chunks;
} passer;

static int count_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk;
    ((passer *)user)->n_chunks++;
    return 0;
}

static void run_stream(passer *p, ggld_file *file)
{
    ggld_stream_options options = ggld_stream_options_init();
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    options.chunk_bytes = CHUNK;
    uv_loop_init(&loop);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options, count_chunk,
                           outcome_done, p, &err),
         err);
    loop_finish(&loop, "stream");
}

/* ---- progress ---- */

/* Of many small chunks: how often it comes is a matter of time. */
static void test_progress_rate(void)
{
    ggld_file *file = model_open(path, 0);
    ggld_prefetch_options options = ggld_prefetch_options_init();
    ggld_view views[6];
    outcome o = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    for (size_t i = 0; i < 6; i++)
        views[i] = ggld_tensor_view(ggld_tensor_at(file, i));
    options.chunk_bytes = 4096;
    options.progress = outcome_progress;
    uv_loop_init(&loop);
    o.begun_ns = uv_hrtime();
    MUST(ggld_prefetch_start(&job, &loop, views, 6, &options, outcome_done, &o,
                             &err),
         err);
    loop_finish(&loop, "progress");
    outcome_check(&o, GGLD_OK, "progress");
    CHECK(
        o.total_bytes > 100 * options.chunk_bytes &&
            o.done_bytes == o.total_bytes && o.n_reports > 0,
        "progress: expected many chunks and a last report of all, got %llu of "
        "%llu in %d reports",
        (unsigned long long)o.done_bytes, (unsigned long long)o.total_bytes,
        o.n_reports);
    ggld_close(file);
}

/* ---- cancelled before anything ran ---- */

static void test_cancel_before_the_loop_runs(void)
{
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    outcome ends[3] = { 0 };
    passer c = { .n_chunks = 0 };
    ggld_job *jobs[4];
    uv_loop_t loop;
    ggld_error err;
    uv_loop_init(&loop);
    MUST(ggld_open_start(&jobs[0], &loop, path, NULL, outcome_opened, &ends[0],
                         &err),
         err);
    MUST(ggld_prefetch_start(&jobs[1], &loop, &view, 1, NULL, outcome_done,
                             &ends[1], &err),
         err);
    MUST(ggld_prefetch_start(&jobs[2], &loop, NULL, 0, NULL, outcome_done,
                             &ends[2], &err),
         err);
    MUST(ggld_stream_start(&jobs[3], &loop, file, NULL, 0, NULL, count_chunk,
                           outcome_done, &c, &err),
         err);
    for (int i = 0; i < 4; i++)
        ggld_job_cancel(jobs[i]);
    CHECK(ends[0].n_calls == 0, "expected no call from cancel itself");
    loop_finish(&loop, "cancel before run");
    for (int i = 0; i < 3; i++)
        outcome_check(&ends[i], GGLD_E_CANCELLED, "cancel before run");
    outcome_check(&c.end, GGLD_E_CANCELLED, "cancel before run");
    CHECK(ends[0].file == NULL, "expected no file of a cancelled open");
    ggld_close(file);
}

/* ---- the file ---- */

static void test_file_closed_while_running(void)
{
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    outcome warm = { 0 };
    passer c = { .n_chunks = 0 };
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    uv_loop_init(&loop);
    MUST(ggld_prefetch_start(&job, &loop, &view, 1, NULL, outcome_done, &warm,
                             &err),
         err);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, NULL, count_chunk,
                           outcome_done, &c, &err),
         err);
    ggld_close(file);
    loop_finish(&loop, "closed while running");
    outcome_check(&warm, GGLD_OK, "closed while warming");
    outcome_check(&c.end, GGLD_OK, "closed while streaming");
}

/* ---- the loop ---- */

typedef struct stopper {
    passer chunks;
    uv_loop_t *loop;
} stopper;

static int stop_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    stopper *s = user;
    if (s->chunks.n_chunks % 3 == 0)
        uv_stop(s->loop);
    return count_chunk(job, chunk, &s->chunks);
}

static void test_loop_stopped_early(bool resume)
{
    ggld_file *file = model_open(path, 0);
    ggld_stream_options options = ggld_stream_options_init();
    stopper s = { .loop = NULL };
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    int n_stops = 0;
    uv_loop_init(&loop);
    s.loop = &loop;
    options.chunk_bytes = CHUNK;
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options, stop_chunk,
                           outcome_done, &s, &err),
         err);
    ggld_close(file);
    while (uv_run(&loop, UV_RUN_DEFAULT) != 0) {
        n_stops++;
        CHECK(uv_loop_close(&loop) == UV_EBUSY,
              "expected EBUSY while a job is not done");
        if (!resume)
            ggld_job_cancel(job);
    }
    CHECK(n_stops > 0, "expected the loop to stop early");
    outcome_check(&s.chunks.end, resume ? GGLD_OK : GGLD_E_CANCELLED,
                  "loop stopped");
    CHECK(uv_loop_close(&loop) == 0, "expected the loop to close");
}

/* ---- the pool ---- */

typedef struct plug {
    uv_work_t work;
    uv_sem_t *sem;
} plug;

static void plug_run(uv_work_t *work)
{
    uv_sem_wait(((plug *)work->data)->sem);
}

static void plug_ran(uv_work_t *work, int status)
{
    (void)work, (void)status;
}

#define N_PLUGS 4 /* libuv's pool, unless UV_THREADPOOL_SIZE says otherwise */

static void plug_pool(uv_loop_t *loop, plug plugs[N_PLUGS], uv_sem_t *sem)
{
    for (int i = 0; i < N_PLUGS; i++) {
        plugs[i].sem = sem;
        plugs[i].work.data = &plugs[i];
        uv_queue_work(loop, &plugs[i].work, plug_run, plug_ran);
    }
}

static void unplug_pool(uv_sem_t *sem)
{
    for (int i = 0; i < N_PLUGS; i++)
        uv_sem_post(sem);
}

static void timer_fired(uv_timer_t *timer)
{
    ++*(int *)timer->data;
    uv_close((uv_handle_t *)timer, NULL);
}

static void test_full_pool(bool cancel)
{
    ggld_file *file = model_open(path, 0);
    passer c = { .n_chunks = 0 };
    plug plugs[N_PLUGS];
    uv_timer_t timer;
    uv_sem_t sem;
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    int n_fired = 0;
    uv_loop_init(&loop);
    uv_sem_init(&sem, 0);
    plug_pool(&loop, plugs, &sem);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, NULL, count_chunk,
                           outcome_done, &c, &err),
         err);
    uv_timer_init(&loop, &timer);
    timer.data = &n_fired;
    uv_timer_start(&timer, timer_fired, 5, 0);
    while (n_fired == 0)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(c.end.n_calls == 0, "expected a job behind a full pool to wait");
    if (cancel) {
        ggld_job_cancel(job);
        while (c.end.n_calls == 0)
            uv_run(&loop, UV_RUN_ONCE);
    }
    unplug_pool(&sem);
    loop_finish(&loop, "full pool");
    outcome_check(&c.end, cancel ? GGLD_E_CANCELLED : GGLD_OK, "full pool");
    uv_sem_destroy(&sem);
    ggld_close(file);
}

/* ---- many ---- */

#define N_MANY 3000

static void start_stream(uv_loop_t *loop, ggld_file *file, ggld_view *view,
                         int i, passer *end)
{
    ggld_stream_options options = ggld_stream_options_init();
    ggld_job *job;
    ggld_error err;
    options.format = (uint32_t)(i / 4 % 3);
    options.io = i % 8 == 3 ? GGLD_IO_MAP : GGLD_IO_AUTO;
    options.flags = i / 8 % 2 != 0 ? GGLD_STREAM_ON_WORKERS : 0;
    options.chunk_bytes = CHUNK;
    options.n_parallel = 2;
    MUST(ggld_stream_start(&job, loop, file, view, 1, &options, count_chunk,
                           outcome_done, end, &err),
         err);
    if (i % 7 == 0)
        ggld_job_cancel(job);
}

static void start_one(uv_loop_t *loop, ggld_file *file, int i, passer *one)
{
    outcome *end = &one->end;
    ggld_view view = ggld_tensor_view(
        ggld_tensor_at(file, (uint64_t)i % ggld_tensor_count(file)));
    ggld_job *job;
    ggld_error err;
    if (i % 4 == 3) {
        start_stream(loop, file, &view, i, one);
        return;
    }
    if (i % 4 == 0)
        MUST(ggld_open_start(&job, loop, path, NULL, outcome_opened, end, &err),
             err);
    if (i % 4 == 1)
        MUST(ggld_prefetch_start(&job, loop, &view, 1, NULL, outcome_done, end,
                                 &err),
             err);
    if (i % 4 == 2)
        MUST(ggld_prefetch_start(&job, loop, &view, 0, NULL, outcome_done, end,
                                 &err),
             err);
    if (i % 7 == 0)
        ggld_job_cancel(job);
}

static void test_thousands(void)
{
    ggld_file *file = model_open(path, 0);
    passer *ends = calloc(N_MANY, sizeof *ends);
    uv_loop_t loop;
    uv_loop_init(&loop);
    for (int i = 0; i < N_MANY; i++)
        start_one(&loop, file, i, &ends[i]);
    ggld_close(file);
    loop_finish(&loop, "thousands");
    for (int i = 0; i < N_MANY; i++) {
        outcome_check(&ends[i].end, i % 7 == 0 ? GGLD_E_CANCELLED : GGLD_OK,
                      "one of thousands");
        CHECK(i % 4 != 3 || i % 7 == 0 || ends[i].n_chunks > 0,
              "stream %d of thousands: expected chunks, got none", i);
        ggld_close(ends[i].end.file);
    }
    free(ends);
}

/* ---- a job from a job's end ---- */

typedef struct chain {
    uv_loop_t *loop;
    int left;
    int n_calls;
} chain;

static void chain_opened(ggld_job *job, ggld_file *file,
                         const ggld_error *result, void *user)
{
    chain *c = user;
    ggld_error err;
    ggld_job *next;
    ggld_job_cancel(job); /* too late, and no harm */
    CHECK(result->code == GGLD_OK, "chain: got %s", result->message);
    ggld_close(file);
    c->n_calls++;
    if (c->left-- > 0)
        MUST(ggld_open_start(&next, c->loop, path, NULL, chain_opened, c, &err),
             err);
}

static void test_chain(void)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    chain c = { &loop, 20, 0 };
    uv_loop_init(&loop);
    MUST(ggld_open_start(&job, &loop, path, NULL, chain_opened, &c, &err), err);
    loop_finish(&loop, "chain");
    CHECK(c.n_calls == 21, "chain: expected 21 calls, got %d", c.n_calls);
}

/* ---- two loops on one file ---- */

static void loop_thread(void *file)
{
    passer c = { .n_chunks = 0 };
    run_stream(&c, file);
    outcome_check(&c.end, GGLD_OK, "one of two loops");
}

static void test_two_loops(void)
{
    ggld_file *file = model_open(path, 0);
    uv_thread_t threads[2];
    for (int i = 0; i < 2; i++)
        uv_thread_create(&threads[i], loop_thread, file);
    for (int i = 0; i < 2; i++)
        uv_thread_join(&threads[i]);
    ggld_close(file);
}

int main(void)
{
    char *made = model_write_layers(3, 700000);
    path = made;
    loop_warm_up();
    int fds = count_fds();
    int threads = count_threads();
    test_progress_rate();
    test_cancel_before_the_loop_runs();
    test_file_closed_while_running();
    test_loop_stopped_early(true);
    test_loop_stopped_early(false);
    test_full_pool(false);
    test_full_pool(true);
    test_thousands();
    test_chain();
    test_two_loops();
    CHECK(count_fds() == fds, "descriptors: expected %d, got %d", fds,
          count_fds());
    /* All that is there is libuv's own pool. */
    uv_library_shutdown();
    CHECK(count_threads() == threads, "threads: expected %d, got %d", threads,
          count_threads());
    model_remove(made);
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
