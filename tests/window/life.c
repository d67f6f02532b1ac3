/* SPDX-License-Identifier: MIT */
/* Windows' lives: budgets, what is dropped and comes back, several windows and
 * threads, closing while others read, children, system calls, jobs, systems
 * without faults, and all refusals. */
#include "../jobs/check.h"
#include "../jobs/model.h"
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <ggld/window.h>

#define ROW_ELEMS   1024u
#define N_ROWS      256u
#define N_ELEMS     (ROW_ELEMS * N_ROWS) /* a megabyte of floats */
#define CHUNK       16384u
#define CHUNK_ELEMS (CHUNK / 4)
#define N_CHUNKS    (N_ELEMS / CHUNK_ELEMS)

static char *path;
static ggld_file *file;
static ggld_view whole;
static float *expected; /* of the whole tensor */
static ggld_error err;
static unsigned n_passed;
static bool have_faults;

static ggld_window_options options_of(uint32_t flags, uint64_t budget)
{
    ggld_window_options o = ggld_window_options_init();
    o.flags = flags;
    o.max_resident_bytes = budget;
    o.chunk_bytes = CHUNK;
    return o;
}

static ggld_window *window_open(uint32_t flags, uint64_t budget)
{
    ggld_window_options o = options_of(flags, budget);
    ggld_window *w = NULL;
    ggld_status status = ggld_window_open(&w, &whole, &o, &err);
    CHECK(status == GGLD_OK, "expected a window, got: %s", err.message);
    if (status != GGLD_OK)
        exit(1);
    return w;
}

static ggld_window_counts counts_of(ggld_window *w)
{
    ggld_window_counts c = { sizeof c };
    ggld_window_stats(w, &c);
    return c;
}

static bool is_right(const float *data, uint64_t i)
{
    return memcmp(&data[i], &expected[i], sizeof *data) == 0;
}

static void expect_code(ggld_status got, ggld_status code, const char *text,
                        const char *what)
{
    CHECK(got == code, "%s: expected %s, got %s", what, ggld_status_name(code),
          ggld_status_name(got));
    CHECK(strstr(err.message, text) != NULL,
          "%s: expected \"%s\" in the message, got: %s", what, text,
          err.message);
}

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

static bool chunk_is_there(ggld_window *w, uint32_t chunk)
{
    unsigned char pages[CHUNK / 4096];
    const char *at = (const char *)ggld_window_data(w) + chunk * (size_t)CHUNK;
    return mincore((void *)at, CHUNK, pages) == 0 && (pages[0] & 1) != 0;
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

static int touch_in_child(void *arg)
{
    ggld_window *w = arg;
    return is_right(ggld_window_data(w), 3) ? 1 : CHILD_WRONG;
}

static int call_in_child(void *arg)
{
    ggld_window *w = arg;
    ggld_window_counts c = { sizeof c };
    ggld_window_stats(w, &c);
    bool refused = ggld_window_fill(w, 0, 1, &err) == GGLD_E_INVALID &&
                   strstr(err.message, "child of a fork has none") != NULL &&
                   ggld_window_drop(w, 0, 1, &err) == GGLD_E_INVALID &&
                   ggld_window_status(w, &err) == GGLD_E_INVALID;
    ggld_window_close(w);
    return refused && c.n_elems == N_ELEMS ? 0 : 1;
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

/* ---- jobs ---- */

static void run_job(ggld_window *w, uint64_t first, uint64_t n, outcome *o)
{
    uv_loop_t loop;
    ggld_job *job;
    uv_loop_init(&loop);
    MUST(ggld_window_fill_start(&job, &loop, w, first, n, outcome_progress,
                                outcome_done, o, &err),
         err);
    loop_finish(&loop, "window job");
}

static void test_job(void)
{
    ggld_window *w = window_open(0, 0);
    outcome o = { 0 };
    run_job(w, 5, N_ELEMS - 5, &o);
    outcome_check(&o, GGLD_OK, "window job");
    CHECK(o.done_bytes == 4 * (N_ELEMS - 5) && o.total_bytes == o.done_bytes,
          "expected all bytes reported, got %llu",
          (unsigned long long)o.done_bytes);
    ggld_window_counts c = counts_of(w);
    CHECK(c.n_filled == N_CHUNKS, "expected all chunks filled, got %llu",
          (unsigned long long)c.n_filled);
    CHECK(memcmp(ggld_window_data(w), expected, 4 * N_ELEMS) == 0,
          "expected the bits");
    CHECK(!have_faults || counts_of(w).n_faults == 0,
          "expected no touch to wait");
    ggld_window_close(w);
}

static void test_job_refused(void)
{
    ggld_window *w = window_open(0, 4 * CHUNK);
    outcome past = { 0 }, more = { 0 }, none = { 0 }, cancelled = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    run_job(w, N_ELEMS, 1, &past);
    outcome_check(&past, GGLD_E_INVALID, "job past the end");
    run_job(w, 0, 5 * CHUNK_ELEMS, &more);
    outcome_check(&more, GGLD_E_LIMIT, "job over the budget");
    run_job(w, 0, 0, &none);
    outcome_check(&none, GGLD_OK, "job of nothing");
    expect_code(
        ggld_window_fill_start(NULL, NULL, w, 0, 1, NULL, NULL, NULL, &err),
        GGLD_E_INVALID, "are needed", "job without a loop");
    /* The job holds the window until it is done. */
    uv_loop_init(&loop);
    MUST(ggld_window_fill_start(&job, &loop, w, 0, CHUNK_ELEMS, NULL,
                                outcome_done, &cancelled, &err),
         err);
    ggld_window_close(w);
    ggld_job_cancel(job);
    loop_finish(&loop, "cancelled window job");
    outcome_check(&cancelled, GGLD_E_CANCELLED, "cancelled window job");
}

/* ---- systems without faults ---- */

static int forbid_userfaultfd(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int open_forbidden(void *arg)
{
    ggld_window_options o = options_of(0, 0);
    ggld_window *w = NULL;
    (void)arg;
    if (forbid_userfaultfd() != 0)
        return 77;
    if (ggld_window_open(&w, &whole, &o, &err) != GGLD_OK ||
        memcmp(ggld_window_data(w), expected, 4 * N_ELEMS) != 0 ||
        counts_of(w).lazy != 0 || counts_of(w).resident_bytes != 4 * N_ELEMS)
        return 1;
    ggld_window_close(w);
    w = NULL;
    o.max_resident_bytes = 4 * N_ELEMS - 1;
    if (ggld_window_open(&w, &whole, &o, &err) != GGLD_E_UNSUPPORTED ||
        w != NULL || err.sys_errno != EPERM)
        return 2;
    return strstr(err.message, "Operation not permitted") == NULL ||
           strstr(err.message, "1048576 bytes do not fit the budget of "
                               "1048575: raise max_resident_bytes") == NULL;
}

static void test_without_faults(void)
{
    int code = child_run(open_forbidden, NULL);
    if (code == 77)
        printf("skipped: no seccomp filter can be set here\n");
    else
        CHECK(code == 0,
              "a filter forbids userfaultfd: expected the whole, "
              "then a refusal, got %s",
              child_text(code));

    ggld_window_options o = options_of(GGLD_WINDOW_AT_ONCE, 4 * N_ELEMS);
    ggld_window *w = window_open(GGLD_WINDOW_AT_ONCE, 4 * N_ELEMS);
    CHECK(memcmp(ggld_window_data(w), expected, 4 * N_ELEMS) == 0,
          "at once: expected the bits");
    MUST(ggld_window_fill(w, 0, N_ELEMS, &err), err);
    MUST(ggld_window_drop(w, 0, N_ELEMS, &err), err);
    CHECK(counts_of(w).resident_bytes == 4 * N_ELEMS,
          "at once: expected everything kept");
    int code_fork = child_run(touch_in_child, w);
    CHECK(code_fork == CHILD_SEGV, "at once, child: expected SIGSEGV, got %s",
          child_text(code_fork));
    ggld_window_close(w);
    o.max_resident_bytes = 4 * CHUNK;
    expect_code(ggld_window_open(&w, &whole, &o, &err), GGLD_E_UNSUPPORTED,
                "asked for all at once", "at once over the budget");
}

static int open_locked(void *arg)
{
    (void)arg;
    /* What is mapped from here on is populated, and kept. */
    if (mlockall(MCL_FUTURE) != 0)
        return 77;
    ggld_window *w = window_open(0, 4 * CHUNK);
    const float *data = ggld_window_data(w);
    bool right = memcmp(data, expected, 4 * N_ELEMS) == 0;
    right &= memcmp(data, expected, 4 * N_ELEMS) == 0;
    bool within = counts_of(w).peak_bytes <= 4 * CHUNK && !chunk_is_there(w, 0);
    ggld_window_close(w);
    return !right ? CHILD_WRONG : !within ? 2 : 0;
}

static void test_locked_memory(void)
{
    int code = child_run(open_locked, NULL);
    if (code == 77)
        printf("skipped: memory can't be locked here\n");
    else
        CHECK(code == 0,
              "all memory locked: expected the bits within the "
              "budget, got %s",
              child_text(code));
}

/* ---- refusals ---- */

static void test_options_refused(void)
{
    static const struct {
        const char *what, *text;
        ggld_status code;
        size_t field, size;
        uint64_t value;
    } cases[] = {
#define FIELD(name)                      \
    offsetof(ggld_window_options, name), \
        sizeof(((ggld_window_options *)0)->name)
        { "struct_size", "struct_size 8", GGLD_E_ABI, FIELD(struct_size), 8 },
        { "flags", "flags 0x100", GGLD_E_ABI, FIELD(flags), 256 },
        { "format", "format 2", GGLD_E_INVALID, FIELD(format), 2 },
        { "threads", "17 threads", GGLD_E_INVALID, FIELD(n_threads), 17 },
        { "reserved32", "reserved", GGLD_E_ABI, FIELD(reserved32), 1 },
        { "reserved", "reserved", GGLD_E_ABI, FIELD(reserved[3]), 1 },
        { "budget of one chunk", "has room for 1 chunks of 16384 bytes, 2",
          GGLD_E_INVALID, FIELD(max_resident_bytes), 2 * CHUNK - 1 },
#undef FIELD
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ggld_window_options o = options_of(0, 0);
        ggld_window *w = NULL;
        char *at = (char *)&o + cases[i].field;
        uint32_t word = (uint32_t)cases[i].value;
        memcpy(at, cases[i].size == 4 ? (void *)&word : (void *)&cases[i].value,
               cases[i].size);
        expect_code(ggld_window_open(&w, &whole, &o, &err), cases[i].code,
                    cases[i].text, cases[i].what);
        CHECK(w == NULL, "%s: expected *out untouched", cases[i].what);
    }
}

static void test_arguments_refused(void)
{
    ggld_window *w = window_open(0, 4 * CHUNK), *none = NULL;
    ggld_view view = whole;
    expect_code(ggld_window_open(NULL, &whole, NULL, &err), GGLD_E_INVALID,
                "are needed", "open without out");
    view.n_elems++;
    expect_code(ggld_window_open(&none, &view, NULL, &err), GGLD_E_INVALID,
                "tensor 0", "a view past its tensor");
    view = ggld_tensor_view(ggld_tensor_at(file, 1));
    expect_code(ggld_window_open(&none, &view, NULL, &err), GGLD_E_TENSOR_TYPE,
                "tensor 1", "an unknown type");
    CHECK(none == NULL, "expected *out untouched");
    expect_code(ggld_window_fill(w, 1, N_ELEMS, &err), GGLD_E_INVALID,
                "fill 262144 elements from 1 on, the window has 262144",
                "fill past the end");
    expect_code(ggld_window_drop(w, N_ELEMS + 1, 0, &err), GGLD_E_INVALID,
                "drop 0 elements from 262145", "drop past the end");
    expect_code(ggld_window_fill(w, 1, 4 * CHUNK_ELEMS, &err), GGLD_E_LIMIT,
                "in 5 chunks, the budget has room for 4", "fill over budget");
    MUST(ggld_window_fill(w, N_ELEMS, 0, &err), err);
    MUST(ggld_window_status(w, &err), err);
    ggld_window_close(w);
}

static void test_empty_and_small(void)
{
    ggld_view view;
    ggld_window *w;
    MUST(ggld_view_elems(&view, &whole, 9, 0, &err), err);
    MUST(ggld_window_open(&w, &view, NULL, &err), err);
    CHECK(ggld_window_data(w) != NULL && ggld_window_data_f16(w) == NULL,
          "expected an address of floats");
    MUST(ggld_window_fill(w, 0, 0, &err), err);
    ggld_window_close(w);
    MUST(ggld_view_elems(&view, &whole, 9, 1, &err), err);
    ggld_window_options o = ggld_window_options_init();
    o.max_resident_bytes = 4096;
    MUST(ggld_window_open(&w, &view, &o, &err), err);
    CHECK(memcmp(ggld_window_data(w), expected + 9, 4) == 0,
          "one element: expected its bits");
    ggld_window_close(w);
}

/* ---- main ---- */

static bool faults_offered(void)
{
    ggld_window *w = window_open(0, 0);
    bool lazy = counts_of(w).lazy != 0;
    ggld_window_close(w);
    return lazy;
}

static void set_up(void)
{
    model_tensor tensors[] = { { GGLD_TYPE_Q4_0, N_ROWS, ROW_ELEMS },
                               { 99, 1, 64 } };
    path = model_write(tensors, 2);
    file = model_open(path, 0);
    whole = ggld_tensor_view(ggld_tensor_at(file, 0));
    expected = malloc(sizeof *expected * N_ELEMS);
    if (expected == NULL ||
        ggld_view_read_f32(&whole, expected, N_ELEMS, &err) != GGLD_OK)
        exit(99);
    loop_warm_up();
    have_faults = faults_offered();
}

int main(void)
{
    static const struct {
        void (*run)(void);
        bool needs_faults;
    } tests[] = {
        /* First those whose children have threads: while there are others the
         * thread sanitizer allows none in children. */
        { test_locked_memory, true },
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
        { test_without_faults, false },
        { test_job, false },
        { test_job_refused, true },
        { test_options_refused, true },
        { test_arguments_refused, true },
        { test_empty_and_small, false },
    };
    unsigned n_skipped = 0;
    set_up();
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        int before = n_failed;
        if (tests[i].needs_faults && !have_faults) {
            n_skipped++;
            continue;
        }
        tests[i].run();
        n_passed += n_failed == before;
    }
    if (!have_faults)
        printf("skipped: this system offers no userfaultfd\n");
    ggld_close(file);
    model_remove(path);
    free(expected);
    printf("%u passed, %d failed, %u skipped\n", n_passed, n_failed, n_skipped);
    return n_failed != 0;
}
