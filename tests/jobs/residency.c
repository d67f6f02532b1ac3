/* SPDX-License-Identifier: MIT */
/* What is in memory, in every way to open: warmed it is there, dropped it is
 * not, and who is not told the truth gets "unknown". Locks keep it there. */
#include "check.h"
#include "memory.h"
#include "model.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ggld/residency.h>

/* Pages at either end. */
#define PAGES_BYTES (128u << 10)

static const char *path;

static uint64_t resident(const ggld_view *view, const char *what)
{
    ggld_error err = { 0 };
    uint64_t bytes = 0;
    ggld_status status = ggld_residency(view, &bytes, &err);
    CHECK(status == GGLD_OK, "%s: expected GGLD_OK, got %s", what, err.message);
    return bytes;
}

static void advise(const ggld_view *view, ggld_advice advice)
{
    ggld_error err = { 0 };
    CHECK(ggld_view_advise(view, advice, &err) == GGLD_OK,
          "advice %d: expected GGLD_OK, got %s", advice, err.message);
}

static uint64_t stored_bytes(const ggld_view *view)
{
    ggld_tensor_info info = { sizeof info };
    ggld_tensor_get_info(view->tensor, &info);
    return info.size_bytes;
}

/* A tensor's neighbours share a page at either end, and the kernel's readahead
 * brings in more than was asked for. */
static void test_warm_and_drop(uint32_t open_flags)
{
    ggld_file *file = model_open(path, open_flags);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    uint64_t size = stored_bytes(&view);
    uint64_t slack = 2 * (uint64_t)sysconf(_SC_PAGESIZE);
    float row[512];
    ggld_view first;
    ggld_error err;

    memory_chill(path);
    advise(&view, GGLD_ADVISE_DROP);
    uint64_t got = resident(&view, "dropped");
    CHECK(got <= slack, "dropped: expected about none of %llu bytes, got %llu",
          (unsigned long long)size, (unsigned long long)got);
    for (ggld_advice a = GGLD_ADVISE_NORMAL; a <= GGLD_ADVISE_RANDOM; a++)
        advise(&view, a);
    MUST(ggld_view_rows(&first, &view, 0, 1, &err), err);
    MUST(ggld_view_read_f32(&first, row, 512, &err), err);
    got = resident(&first, "a row");
    CHECK(got == 512 / 32 * 18, "a row: expected all 288 bytes, got %llu",
          (unsigned long long)got);
    got = resident(&view, "a row was read at random");
    CHECK(got < size / 2, "expected less than half of %llu bytes, got %llu",
          (unsigned long long)size, (unsigned long long)got);

    outcome o = { 0 };
    ggld_job *job;
    uv_loop_t loop;
    uv_loop_init(&loop);
    MUST(ggld_prefetch_start(&job, &loop, &view, 1, NULL, outcome_done, &o,
                             &err),
         err);
    loop_finish(&loop, "warm");
    outcome_check(&o, GGLD_OK, "warm");
    got = resident(&view, "warmed");
    CHECK(got == size, "warmed: expected %llu bytes, got %llu",
          (unsigned long long)size, (unsigned long long)got);
    advise(&view, GGLD_ADVISE_COLD);
    advise(&view, GGLD_ADVISE_WILL_NEED);
    ggld_close(file);
}

/* Each engine leaves the first quarter warm and the rest as it was: of the whole
 * file there is nothing else in memory, but what opening has brought in. */
static void test_prefetch_budget(uint32_t io)
{
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    uint64_t size = stored_bytes(&view);
    ggld_prefetch_options options = ggld_prefetch_options_init();
    outcome o = { 0 };
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    ggld_view head = view;
    options.io = io;
    options.max_resident_bytes = size / 4 / 18 * 18;
    options.progress = outcome_progress;
    head.n_elems = options.max_resident_bytes / 18 * 32;
    advise(&view, GGLD_ADVISE_DROP);
    memory_chill(path);
    uint64_t before = memory_cached(path);
    uv_loop_init(&loop);
    MUST(ggld_prefetch_start(&job, &loop, &view, 1, &options, outcome_done, &o,
                             &err),
         err);
    loop_finish(&loop, "budget");
    uint64_t after = memory_cached(path);
    if (o.result.code == GGLD_E_UNSUPPORTED) {
        printf("left out: %s\n", o.result.message);
    } else {
        outcome_check(&o, GGLD_OK, "budget");
        uint64_t got = resident(&head, "budget");
        CHECK(got == options.max_resident_bytes,
              "io %u, budget: expected %llu bytes, got %llu", io,
              (unsigned long long)options.max_resident_bytes,
              (unsigned long long)got);
        CHECK(after - before <= options.max_resident_bytes + PAGES_BYTES,
              "io %u, budget: expected about %llu bytes of the file, got %llu",
              io, (unsigned long long)options.max_resident_bytes,
              (unsigned long long)(after - before));
        CHECK(o.done_bytes == options.max_resident_bytes &&
                  o.total_bytes == options.max_resident_bytes,
              "io %u, budget: expected progress up to it, got %llu of %llu", io,
              (unsigned long long)o.done_bytes,
              (unsigned long long)o.total_bytes);
    }
    ggld_close(file);
}

/* What a stream within a budget leaves behind: nothing. */
static int pass_by(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk, (void)user;
    return 0;
}

static void test_stream_leaves_nothing(uint32_t io)
{
    ggld_file *file = model_open(path, 0);
    ggld_stream_options options = ggld_stream_options_init();
    outcome o = { 0 };
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    uint64_t left = 0;
    options.io = io;
    options.max_resident_bytes = 4u << 20;
    memory_chill(path);
    uv_loop_init(&loop);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options, pass_by,
                           outcome_done, &o, &err),
         err);
    loop_finish(&loop, "stream");
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, i));
        left += resident(&view, "streamed");
    }
    if (o.result.code == GGLD_E_UNSUPPORTED)
        printf("left out: %s\n", o.result.message);
    else
        outcome_check(&o, GGLD_OK, "stream");
    /* Readahead behind the last drop. */
    CHECK(left <= 2u << 20, "io %u: expected about nothing left, got %llu", io,
          (unsigned long long)left);
    ggld_close(file);
}

static void test_no_file(void)
{
    ggld_file *copy = model_open(path, GGLD_OPEN_COPY);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(copy, 1));
    ggld_error err;
    uint64_t got = resident(&view, "private copy");
    CHECK(got == stored_bytes(&view),
          "private copy: expected all resident, got %llu",
          (unsigned long long)got);
    ggld_status status = ggld_view_advise(&view, GGLD_ADVISE_DROP, &err);
    CHECK(status == GGLD_E_UNSUPPORTED,
          "advice on a copy: expected GGLD_E_UNSUPPORTED, got %s",
          ggld_status_name(status));
    status = ggld_view_lock(&view, &err);
    CHECK(status == GGLD_E_UNSUPPORTED,
          "lock of a copy: expected GGLD_E_UNSUPPORTED, got %s",
          ggld_status_name(status));
    ggld_close(copy);
}

static void test_bad_views(void)
{
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 0));
    ggld_view past = view;
    ggld_view none = { 0 };
    ggld_view empty = view;
    ggld_error err;
    uint64_t bytes = 7;
    past.first_elem = 1;
    empty.n_elems = 0;
    CHECK(ggld_residency(&past, &bytes, &err) == GGLD_E_INVALID && bytes == 7,
          "expected a view past its tensor refused, *out untouched");
    CHECK(ggld_residency(&none, &bytes, &err) == GGLD_E_INVALID,
          "expected a view of no tensor refused");
    CHECK(ggld_view_advise(&view, (ggld_advice)6, &err) == GGLD_E_INVALID,
          "expected advice 6 refused");
    CHECK(resident(&empty, "empty") == 0, "expected 0 bytes of nothing");
    advise(&empty, GGLD_ADVISE_DROP);
    ggld_close(file);
}

/* ---- who may know ---- */

static int ask_as_nobody(mode_t mode)
{
    int code;
    chmod(path, mode);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(77);
        ggld_file *file = model_open(path, 0);
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
        bool unknown = resident(&view, "nobody") == GGLD_RESIDENT_UNKNOWN;
        _exit(unknown ? 1 : 0);
    }
    waitpid(child, &code, 0);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void test_who_may_know(void)
{
    if (geteuid() != 0) {
        printf("left out: other users' answers; that takes root\n");
        return;
    }
    int got = ask_as_nobody(0644);
    CHECK(got == 1, "a reader: expected unknown, got exit %d", got);
    got = ask_as_nobody(0666);
    CHECK(got == 0, "who may write: expected an answer, got exit %d", got);
    chmod(path, 0600);
}

/* ---- locks ---- */

static void test_lock(void)
{
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 3));
    ggld_error err;
    memory_chill(path);
    ggld_status status = ggld_view_lock(&view, &err);
    if (status == GGLD_E_LIMIT) {
        printf("left out: %s\n", err.message);
    } else {
        CHECK(status == GGLD_OK, "lock: expected GGLD_OK, got %s", err.message);
        advise(&view, GGLD_ADVISE_NORMAL);
        uint64_t got = resident(&view, "locked");
        CHECK(got == stored_bytes(&view), "locked: expected all, got %llu",
              (unsigned long long)got);
        MUST(ggld_view_unlock(&view, &err), err);
    }
    ggld_close(file);
}

static void lock_within(rlim_t limit, ggld_status *status, ggld_error *err)
{
    struct rlimit rl = { limit, limit };
    int fds[2];
    if (pipe(fds) != 0)
        exit(99);
    pid_t child = fork();
    if (child == 0) {
        ggld_file *file = model_open(path, 0);
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 3));
        memset(err, 0, sizeof *err);
        /* Root's locks have no limit. */
        if (setrlimit(RLIMIT_MEMLOCK, &rl) != 0 ||
            (geteuid() == 0 && setuid(65534) != 0))
            _exit(77);
        err->code = ggld_view_lock(&view, err);
        _exit(write(fds[1], err, sizeof *err) == sizeof *err ? 0 : 99);
    }
    close(fds[1]);
    memset(err, 0, sizeof *err);
    CHECK(read(fds[0], err, sizeof *err) == sizeof *err, "no answer");
    *status = err->code;
    close(fds[0]);
    waitpid(child, NULL, 0);
}

static void test_lock_limit(void)
{
    ggld_status status;
    ggld_error err;
    lock_within(65536, &status, &err);
    CHECK(status == GGLD_E_LIMIT, "limit: expected GGLD_E_LIMIT, got %s: %s",
          ggld_status_name(status), err.message);
    CHECK(strstr(err.message, "RLIMIT_MEMLOCK is 65536 bytes") != NULL &&
              strstr(err.message, "ulimit -l") != NULL && err.sys_errno != 0,
          "limit: expected limit, advice and errno, got %d: %s", err.sys_errno,
          err.message);
}

static void test_lock_of_cut_file(void)
{
    char *cut = model_write_layers(1, 1000000);
    ggld_file *file = model_open(cut, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 1));
    ggld_error err = { 0 };
    CHECK(truncate(cut, 100000) == 0, "truncate");
    ggld_status status = ggld_view_lock(&view, &err);
    CHECK(status == GGLD_E_TRUNCATED,
          "cut: expected GGLD_E_TRUNCATED, got %s: %s",
          ggld_status_name(status), err.message);
    ggld_close(file);
    model_remove(cut);
}

int main(void)
{
    char *made = model_write_layers(2, 24000000);
    path = made;
    test_warm_and_drop(0);
    test_warm_and_drop(GGLD_OPEN_PREAD);
    for (uint32_t io = GGLD_IO_AUTO; io <= GGLD_IO_URING; io++) {
        if (io != GGLD_IO_DIRECT)
            test_prefetch_budget(io);
        test_stream_leaves_nothing(io);
    }
    test_no_file();
    test_bad_views();
    test_who_may_know();
#ifdef TEST_SANITIZED
    printf("left out: locks, which sanitizers pass over\n");
    (void)test_lock, (void)test_lock_limit, (void)test_lock_of_cut_file;
#else
    test_lock();
    test_lock_limit();
    test_lock_of_cut_file();
#endif
    model_remove(made);
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
