/* SPDX-License-Identifier: MIT */
/* Windows' lives: budgets, what is dropped and comes back, several windows and
 * threads, closing while others read, children, system calls. */
#include "subject.h"

#include "../jobs/model.h"
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what is filled, and what goes ---- */

static void test_only_what_is_touched(void)
{
    ggld_window *w = window_open(GGLD_WINDOW_NO_AHEAD, 0);
    const float *data = ggld_window_data(w);
    CHECK(counts_of(w).n_filled == 0, "expected nothing filled by open");
    CHECK(is_right(data, 5 * CHUNK_ELEMS + 3), "expected the element's bits");
    CHECK(is_right(data, 5 * CHUNK_ELEMS), "expected its neighbour's bits");
    CHECK(is_right(data, N_ELEMS - 1), "expected the last one's bits");
    ggld_window_counts c = counts_of(w);
    CHECK(c.n_filled == 2 && c.n_faults >= 2 && c.n_ahead == 0,
          "expected 2 chunks by 2 touches, got %llu by %llu",
          (unsigned long long)c.n_filled, (unsigned long long)c.n_faults);
    CHECK(c.resident_bytes == 2 * CHUNK,
          "expected 2 chunks resident, got %llu bytes",
          (unsigned long long)c.resident_bytes);
    CHECK(c.n_elems == N_ELEMS && c.size_bytes == 4 * N_ELEMS &&
              c.chunk_bytes == CHUNK && c.max_resident_bytes == 4 * N_ELEMS,
          "expected the window's sizes");
    ggld_window_close(w);
}

static void test_oldest_go_first(void)
{
    ggld_window *w = window_open(GGLD_WINDOW_NO_AHEAD, 4 * CHUNK);
    const float *data = ggld_window_data(w);
    /* 0 is asked for again, and so newer than 1. What is still on its way can't
     * be dropped: to ask for it is to wait for its end. */
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(is_right(data, i * CHUNK_ELEMS), "expected chunk %u's bits", i);
        MUST(ggld_window_fill(w, i * CHUNK_ELEMS, 1, &err), err);
    }
    MUST(ggld_window_fill(w, 0, 1, &err), err);
    CHECK(is_right(data, 10 * CHUNK_ELEMS), "expected chunk 10's bits");
    static const bool there[] = { true, false, true, true };
    for (uint32_t i = 0; i < 4; i++)
        CHECK(chunk_is_there(w, i) == there[i], "expected chunk %u %s", i,
              there[i] ? "there" : "gone");
    ggld_window_counts c = counts_of(w);
    CHECK(c.n_dropped == 1 && c.resident_bytes == 4 * CHUNK,
          "expected 1 dropped, got %llu", (unsigned long long)c.n_dropped);
    for (uint64_t round = 0; round < 3; round++)
        CHECK(memcmp(data, expected, sizeof *data * N_ELEMS) == 0,
              "expected the same bits again");
    c = counts_of(w);
    CHECK(c.peak_bytes <= 4 * CHUNK, "expected at most 4 chunks, got %llu",
          (unsigned long long)c.peak_bytes);
    ggld_window_close(w);
}

static void test_drop(void)
{
    ggld_window *w = window_open(0, 0);
    const float *data = ggld_window_data(w);
    MUST(ggld_window_fill(w, 0, N_ELEMS, &err), err);
    CHECK(counts_of(w).resident_bytes == 4 * N_ELEMS, "expected all of it");
    CHECK(counts_of(w).read_ns > 0 && counts_of(w).place_ns > 0,
          "expected time counted");
    MUST(ggld_window_drop(w, CHUNK_ELEMS + 1, CHUNK_ELEMS, &err), err);
    CHECK(chunk_is_there(w, 0) && !chunk_is_there(w, 1) &&
              !chunk_is_there(w, 2) && chunk_is_there(w, 3),
          "expected the two chunks gone, and no other");
    CHECK(memcmp(data, expected, sizeof *data * N_ELEMS) == 0,
          "expected the bits again");
    MUST(ggld_window_drop(w, 0, N_ELEMS, &err), err);
    CHECK(counts_of(w).resident_bytes == 0, "expected nothing left");
    ggld_window_close(w);
}

/* The second touch in order brings two chunks more, which nobody waits for. */
static void test_filled_ahead(void)
{
    ggld_window *w = window_open(0, 0);
    const float *data = ggld_window_data(w);
    CHECK(is_right(data, 0) && is_right(data, CHUNK_ELEMS),
          "expected the bits of two chunks");
    for (int i = 0; i < 10000 && counts_of(w).n_filled < 4; i++)
        usleep(1000);
    ggld_window_counts c = counts_of(w);
    CHECK(c.n_filled == 4 && c.n_ahead == 2,
          "expected 4 chunks, 2 of them ahead, got %llu, %llu",
          (unsigned long long)c.n_filled, (unsigned long long)c.n_ahead);
    CHECK(memcmp(data, expected, sizeof *data * N_ELEMS) == 0,
          "expected the bits");
    ggld_window_close(w);
}

/* ---- threads ---- */

typedef struct reader {
    pthread_t thread;
    ggld_window *window;
    uint32_t seed;
    uint32_t n_touches;
    uint32_t n_wrong;
    bool closes;
} reader;

static void *read_at_random(void *arg)
{
    reader *r = arg;
    const float *data = ggld_window_data(r->window);
    uint32_t random = r->seed;
    for (uint32_t i = 0; i < r->n_touches; i++) {
        random = random * 1664525 + 1013904223;
        r->n_wrong += !is_right(data, (random >> 8) % N_ELEMS);
    }
    if (r->closes)
        ggld_window_close(r->window);
    return NULL;
}

static void readers_start(reader *readers, unsigned n, ggld_window *w,
                          bool close)
{
    for (unsigned i = 0; i < n; i++) {
        reader r = { .window = close ? ggld_window_ref(w) : w,
                     .seed = i * 7919 + 1,
                     .n_touches = 1000,
                     .closes = close };
        readers[i] = r;
        if (pthread_create(&readers[i].thread, NULL, read_at_random,
                           &readers[i]) != 0)
            abort();
    }
}

static void readers_end(reader *readers, unsigned n, const char *what)
{
    for (unsigned i = 0; i < n; i++) {
        pthread_join(readers[i].thread, NULL);
        CHECK(readers[i].n_wrong == 0, "%s, thread %u: %u values wrong", what,
              i, readers[i].n_wrong);
    }
}

static void test_dropped_under_readers(void)
{
    reader readers[4];
    ggld_window *w = window_open(0, 8 * CHUNK);
    readers_start(readers, 4, w, false);
    for (int i = 0; i < 100; i++)
        MUST(ggld_window_drop(w, 0, N_ELEMS, &err), err);
    readers_end(readers, 4, "dropped under readers");
    CHECK(counts_of(w).peak_bytes <= 8 * CHUNK, "expected the budget to hold");
    ggld_window_close(w);
}

static void test_several_windows(void)
{
    reader readers[6];
    ggld_window *windows[3];
    for (int i = 0; i < 3; i++) {
        windows[i] = window_open(0, 16 * CHUNK);
        readers_start(readers + 2 * i, 2, windows[i], false);
    }
    readers_end(readers, 6, "several windows");
    for (int i = 0; i < 3; i++)
        ggld_window_close(windows[i]);
}

static void test_more_threads_and_fills(void)
{
    reader readers[4];
    ggld_window_options o = options_of(0, 32 * CHUNK);
    ggld_window *w;
    o.n_threads = 6;
    MUST(ggld_window_open(&w, &whole, &o, &err), err);
    CHECK(counts_of(w).max_resident_bytes == 28 * CHUNK,
          "expected 4 buffers within the budget, got room for %llu",
          (unsigned long long)counts_of(w).max_resident_bytes);
    readers_start(readers, 4, w, false);
    for (uint64_t i = 0; i < 100; i++)
        MUST(ggld_window_fill(w, i * 977 % (N_ELEMS / 2), 20 * CHUNK_ELEMS,
                              &err),
             err);
    readers_end(readers, 4, "fills beside touches");
    ggld_window_close(w);
}

/* ---- closing ---- */

static void test_holders_outlive_close(void)
{
    reader readers[4];
    ggld_file *own = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(own, 0));
    ggld_window_options o = options_of(0, 8 * CHUNK);
    ggld_window *w;
    MUST(ggld_window_open(&w, &view, &o, &err), err);
    ggld_close(own);
    readers_start(readers, 4, w, true);
    ggld_window_close(w);
    readers_end(readers, 4, "closed while holders read");
}

/* Reads until it is gone; a value that is wrong is another end. */
static void *read_until_gone(void *arg)
{
    const float *data = arg;
    for (uint64_t i = 0;; i = (i * 5 + 4099) % N_ELEMS)
        if (!is_right(data, i))
            _exit(CHILD_WRONG);
    return NULL;
}

static int close_under_a_reader(void *arg)
{
    pthread_t thread;
    (void)arg;
    ggld_window *w = window_open(0, 4 * CHUNK);
    if (pthread_create(&thread, NULL, read_until_gone,
                       (void *)ggld_window_data(w)) != 0)
        return 98;
    usleep(20000);
    ggld_window_close(w);
    pthread_join(thread, NULL);
    return 0;
}

static void test_closed_under_readers(void)
{
    for (int i = 0; i < 5; i++) {
        int code = child_run(close_under_a_reader, NULL);
        CHECK(code == CHILD_SEGV,
              "closed under a reader who is no holder: "
              "expected SIGSEGV, got %s",
              child_text(code));
    }
}

static void test_nothing_is_left(void)
{
    int fds = count_fds(), threads = count_threads();
    for (int i = 0; i < 20; i++) {
        ggld_window *w = window_open(0, 8 * CHUNK);
        CHECK(is_right(ggld_window_data(w), 77), "expected the bits");
        ggld_window_close(w);
    }
    ggld_window_close(NULL);
    CHECK(count_fds() == fds, "expected %d descriptors, got %d", fds,
          count_fds());
    CHECK(count_threads() == threads, "expected %d threads, got %d", threads,
          count_threads());
}

/* ---- fork ---- */

static int call_in_child(void *arg)
{
    static const char why[] = "child of a fork has none";
    ggld_window *w = arg;
    ggld_window_counts c = { sizeof c };
    uv_loop_t loop; /* not looked at */
    ggld_job *job = NULL;
    ggld_window_stats(w, &c);
    bool refused = ggld_window_fill(w, 0, 1, &err) == GGLD_E_INVALID &&
                   strstr(err.message, why) != NULL &&
                   ggld_window_drop(w, 0, 1, &err) == GGLD_E_INVALID &&
                   strstr(err.message, why) != NULL &&
                   ggld_window_status(w, &err) == GGLD_E_INVALID &&
                   strstr(err.message, why) != NULL;
    if (!refused)
        return 1;
    if (ggld_window_fill_start(&job, &loop, w, 0, 1, NULL, outcome_done, NULL,
                               &err) != GGLD_E_INVALID ||
        strstr(err.message, why) == NULL || job != NULL)
        return 2;
    bool tells = c.n_elems == N_ELEMS && c.n_faults > 0 &&
                 ggld_window_data(w) != NULL &&
                 ggld_window_data_f16(w) == NULL && ggld_window_ref(w) == w;
    ggld_window_close(w);
    ggld_window_close(w);
    return tells ? 0 : 3;
}

static void test_fork(void)
{
    reader readers[2];
    ggld_window *w = window_open(0, 8 * CHUNK);
    const float *data = ggld_window_data(w);
    CHECK(is_right(data, 3), "expected the bits");
    readers_start(readers, 2, w, false);
    for (int i = 0; i < 4; i++) {
        int code = child_run(touch_in_child, w);
        CHECK(code == CHILD_SEGV,
              "child that touches: expected SIGSEGV, got %s", child_text(code));
        code = child_run(call_in_child, w);
        CHECK(code == 0, "child that calls: expected refusals, got %s",
              child_text(code));
    }
    readers_end(readers, 2, "forked meanwhile");
    CHECK(is_right(data, N_ELEMS / 2), "expected the bits in the parent");
    ggld_window_close(w);
}

/* ---- system calls ---- */

static void test_system_calls(void)
{
    ggld_window *w = window_open(GGLD_WINDOW_NO_AHEAD, 0);
    const float *data = ggld_window_data(w);
    int fd = memfd_create("out", MFD_CLOEXEC);
    float back[CHUNK_ELEMS];
    errno = 0;
    ssize_t n = write(fd, data + CHUNK_ELEMS, sizeof back);
    CHECK(n == -1 && errno == EFAULT,
          "write of what is not filled: expected EFAULT, got %zd, %s", n,
          strerror(errno));
    MUST(ggld_window_fill(w, CHUNK_ELEMS, CHUNK_ELEMS, &err), err);
    n = write(fd, data + CHUNK_ELEMS, sizeof back);
    CHECK(n == (ssize_t)sizeof back,
          "write of what is filled: expected %zu, "
          "got %zd",
          sizeof back, n);
    CHECK(pread(fd, back, sizeof back, 0) == (ssize_t)sizeof back &&
              memcmp(back, expected + CHUNK_ELEMS, sizeof back) == 0,
          "expected the bits in the file");
    close(fd);
    ggld_window_close(w);
}

/* ---- main ---- */

int main(void)
{
    static const subject_test tests[] = {
        /* First that whose children have threads: while there are others the
         * thread sanitizer allows none in children. */
        { test_closed_under_readers, true },
        { test_only_what_is_touched, true },
        { test_oldest_go_first, true },
        { test_drop, true },
        { test_filled_ahead, true },
        { test_dropped_under_readers, true },
        { test_several_windows, true },
        { test_more_threads_and_fills, true },
        { test_holders_outlive_close, true },
        { test_nothing_is_left, true },
        { test_fork, true },
        { test_system_calls, true },
    };
    return subject_run(tests, sizeof tests / sizeof tests[0]);
}
