/* SPDX-License-Identifier: MIT */
/* Cancelled at every point: streams with every engine, format and byte order at
 * each chunk and each report, prefetches and fills of windows after each turn of
 * the loop. One completion call, nothing handed out behind it, nothing left. */
#include "check.h"
#include "model.h"

#include <ggld/window.h>

#define CHUNK 65536u

static const char *path;

/* ---- streams ---- */

typedef enum cancel_by {
    BY_CALL,   /* ggld_job_cancel in the chunk call */
    BY_RESULT, /* the chunk call's result */
    ON_WORKER, /* the same, on a worker */
    BY_PROGRESS,
    N_WAYS
} cancel_by;

static const char *const cancel_names[] = { "by call", "by result",
                                            "on a worker", "by progress" };

typedef struct canceller {
    outcome end; /* first: done's user */
    cancel_by by;
    uint32_t io, format;
    int at; /* number of the chunk, or of the report */
    _Atomic int n_chunks;
    int n_after, n_reports;
} canceller;

static int cancel_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    canceller *c = user;
    (void)chunk;
    int number = c->n_chunks++;
    /* So that there is a report after each. */
    if (c->by == BY_PROGRESS) {
        uv_sleep(51);
        c->n_after += c->n_reports > c->at;
        return 0;
    }
    if (number > c->at && c->by != ON_WORKER)
        c->n_after++;
    if (number != c->at)
        return 0;
    if (c->by == BY_CALL) {
        ggld_job_cancel(job);
        ggld_job_cancel(job);
        return 0;
    }
    return 1;
}

static void cancel_progress(ggld_job *job, uint64_t done_bytes,
                            uint64_t total_bytes, void *user)
{
    canceller *c = user;
    (void)done_bytes, (void)total_bytes;
    if (c->n_reports++ == c->at)
        ggld_job_cancel(job);
}

static void stream_name(const canceller *c, char *out, size_t size)
{
    snprintf(out, size, "%s at %d, io %u, format %u", cancel_names[c->by],
             c->at, c->io, c->format);
}

static void run(canceller *c, ggld_file *file)
{
    ggld_stream_options options = ggld_stream_options_init();
    char what[80];
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    options.chunk_bytes = CHUNK;
    options.io = c->io;
    options.format = c->format;
    if (c->by == ON_WORKER)
        options.flags = GGLD_STREAM_ON_WORKERS;
    if (c->by == BY_PROGRESS)
        options.progress = cancel_progress;
    stream_name(c, what, sizeof what);
    uv_loop_init(&loop);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options, cancel_chunk,
                           outcome_done, c, &err),
         err);
    loop_finish(&loop, what);
}

/* One that goes to its end, and how many chunks it has. -1: the engine is not to
 * be had here. */
static int count(ggld_file *file, cancel_by by, uint32_t io, uint32_t format)
{
    canceller whole = { .by = by == BY_PROGRESS ? BY_CALL : by,
                        .io = io,
                        .format = format,
                        .at = -1 };
    run(&whole, file);
    if (io >= GGLD_IO_DIRECT && whole.end.result.code == GGLD_E_UNSUPPORTED)
        return -1;
    outcome_check(&whole.end, GGLD_OK, cancel_names[by]);
    CHECK(whole.n_chunks >= 5, "expected some chunks, got %d", whole.n_chunks);
    return whole.n_chunks;
}

static void cancel_each(ggld_file *file, cancel_by by, uint32_t io,
                        uint32_t format)
{
    int n = count(file, by, io, format);
    if (n < 0)
        printf("left out: io %u\n", io);
    /* Reports take their time; the last is behind all chunks. */
    if (by == BY_PROGRESS && n > 3)
        n = 3;
    for (int at = 0; at < n; at++) {
        canceller c = { .by = by, .io = io, .format = format, .at = at };
        char what[80];
        stream_name(&c, what, sizeof what);
        run(&c, file);
        outcome_check(&c.end, GGLD_E_CANCELLED, what);
        CHECK(c.n_after == 0, "%s: expected no chunk behind it, got %d", what,
              c.n_after);
    }
}

static void test_streams(uint32_t open_flags, uint32_t last_io)
{
    ggld_file *file = model_open(path, open_flags);
    for (uint32_t io = GGLD_IO_AUTO; io <= last_io; io++)
        for (uint32_t format = 0; format <= GGLD_STREAM_F16; format++)
            for (cancel_by by = BY_CALL; by < N_WAYS; by++)
                cancel_each(file, by, io, format);
    ggld_close(file);
}

/* ---- jobs that hand nothing out: after so many turns of the loop ---- */

typedef struct turned {
    const char *what;
    uint32_t io;
    ggld_window *window; /* NULL: a prefetch */
} turned;

static ggld_status start(const turned *t, uv_loop_t *loop, ggld_file *file,
                         ggld_job **job, outcome *o, ggld_error *err)
{
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    ggld_prefetch_options options = ggld_prefetch_options_init();
    if (t->window != NULL)
        return ggld_window_fill_start(job, loop, t->window, 0, view.n_elems,
                                      outcome_progress, outcome_done, o, err);
    options.io = t->io;
    options.chunk_bytes = 8192;
    options.n_parallel = 1;
    return ggld_prefetch_start(job, loop, &view, 1, &options, outcome_done, o,
                               err);
}

/* Was there a job left to cancel? */
static bool cancel_after(const turned *t, ggld_file *file, int n_turns,
                         int *n_cancelled)
{
    outcome o = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    uv_loop_init(&loop);
    if (start(t, &loop, file, &job, &o, &err) != GGLD_OK) {
        CHECK(0, "%s: expected a start, got %s", t->what, err.message);
        (void)uv_loop_close(&loop);
        return false;
    }
    for (int i = 0; i < n_turns && o.n_calls == 0; i++)
        uv_run(&loop, UV_RUN_ONCE);
    bool left = o.n_calls == 0;
    if (left)
        ggld_job_cancel(job);
    loop_finish(&loop, t->what);
    if (o.result.code == GGLD_E_UNSUPPORTED && t->io >= GGLD_IO_DIRECT) {
        printf("left out: %s: %s\n", t->what, o.result.message);
        return false;
    }
    /* Its last chunk may be done, so that it is too late. */
    ggld_status expected =
        left && o.result.code != GGLD_OK ? GGLD_E_CANCELLED : GGLD_OK;
    outcome_check(&o, n_turns == 0 ? GGLD_E_CANCELLED : expected, t->what);
    *n_cancelled += o.result.code == GGLD_E_CANCELLED;
    return left;
}

static void cancel_every_turn(const turned *t, ggld_file *file, int least)
{
    int n_cancelled = 0;
    int n_turns = 0;
    while (cancel_after(t, file, n_turns, &n_cancelled))
        n_turns++;
    CHECK(n_turns == 0 || n_cancelled >= least,
          "%s: expected to be cancelled at %d points at least, got %d", t->what,
          least, n_cancelled);
}

static void test_prefetches(void)
{
    ggld_file *file = model_open(path, 0);
    for (uint32_t io = GGLD_IO_AUTO; io <= GGLD_IO_URING; io++) {
        turned t = { "prefetch", io, NULL };
        if (io != GGLD_IO_DIRECT)
            cancel_every_turn(&t, file, 15);
    }
    ggld_close(file);
}

static void test_fills(void)
{
    char *made = model_write_layers(1, 1500000);
    ggld_file *file = model_open(made, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    turned t = { "fill of a window", 0, NULL };
    ggld_error err;
    ggld_status status = ggld_window_open(&t.window, &view, NULL, &err);
    if (status != GGLD_OK)
        printf("left out: windows: %s\n", err.message);
    else
        cancel_every_turn(&t, file, 5);
    ggld_window_close(t.window);
    ggld_close(file);
    model_remove(made);
}

int main(void)
{
    loop_warm_up();
    int fds = count_fds();
    for (int big = 0; big < 2; big++) {
        char *made = model_write_layers_in(big != 0, 3, 150000);
        path = made;
        test_streams(0, GGLD_IO_URING);
        test_streams(GGLD_OPEN_COPY, GGLD_IO_AUTO);
        test_prefetches();
        model_remove(made);
    }
    test_fills();
    CHECK(count_fds() == fds, "descriptors: expected %d, got %d", fds,
          count_fds());
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
