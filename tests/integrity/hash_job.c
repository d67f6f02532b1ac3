/* SPDX-License-Identifier: MIT */
/* Hash and verify as jobs: progress, cancelling, files that shrink, many at
 * once, and a page cache that is left as it was. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../jobs/check.h"
#include "../jobs/memory.h"
#include "support.h"

#define SIZE_BYTES (96u << 20)

static char *path;
static ggld_error err;

typedef struct hashed {
    outcome o;
    ggld_manifest *manifest;
    uint64_t cancel_at; /* bytes done; 0: never */
} hashed;

static void take(ggld_job *job, ggld_manifest *manifest,
                 const ggld_error *result, void *user)
{
    hashed *h = user;
    outcome_done(job, result, &h->o);
    CHECK((manifest != NULL) == (result->code == GGLD_OK),
          "expected a manifest with success only");
    h->manifest = manifest;
}

static void follow(ggld_job *job, uint64_t done, uint64_t total, void *user)
{
    hashed *h = user;
    CHECK(done >= h->o.done_bytes && done <= total,
          "expected progress to go on: %llu, then %llu of %llu",
          (unsigned long long)h->o.done_bytes, (unsigned long long)done,
          (unsigned long long)total);
    outcome_progress(job, done, total, &h->o);
    if (h->cancel_at != 0 && done >= h->cancel_at)
        ggld_job_cancel(job);
}

static ggld_hash_options options_of(uint32_t scopes)
{
    ggld_hash_options options = hash_options(BIT_XXH3, scopes, "m");
    options.progress = follow;
    return options;
}

static const uint32_t scope_sets[] = {
    GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS,
    GGLD_SCOPE_FILE | GGLD_SCOPE_TENSORS | GGLD_SCOPE_TENSOR |
        GGLD_SCOPE_CHUNKS,
};

static void test_progress(uint32_t scopes)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_file *file;
    hashed h = { 0 };
    ggld_hash_options options = options_of(scopes);
    MUST(ggld_open_path(&file, path, NULL, &err), err);
    uv_loop_init(&loop);
    MUST(ggld_hash_start(&job, &loop, file, &options, take, &h, &err), err);
    ggld_close(file); /* the job holds it */
    loop_finish(&loop, "hash");
    outcome_check(&h.o, GGLD_OK, "hash");
    CHECK(h.o.done_bytes == h.o.total_bytes && h.o.total_bytes >= SIZE_BYTES,
          "expected all of the bytes, got %llu of %llu",
          (unsigned long long)h.o.done_bytes,
          (unsigned long long)h.o.total_bytes);
    ggld_manifest_free(h.manifest);
}

static void test_cancel(uint32_t scopes)
{
    for (uint64_t at = 1; at < SIZE_BYTES; at += SIZE_BYTES / 6) {
        uv_loop_t loop;
        ggld_job *job;
        ggld_file *file;
        hashed h = { .cancel_at = at };
        ggld_hash_options options = options_of(scopes);
        MUST(ggld_open_path(&file, path, NULL, &err), err);
        uv_loop_init(&loop);
        MUST(ggld_hash_start(&job, &loop, file, &options, take, &h, &err), err);
        ggld_close(file);
        loop_finish(&loop, "cancelled hash");
        /* It may have been done before it was asked. */
        CHECK(h.o.n_calls == 1 && (h.o.result.code == GGLD_E_CANCELLED ||
                                   h.o.result.code == GGLD_OK),
              "expected GGLD_E_CANCELLED, got %s",
              ggld_status_name(h.o.result.code));
        ggld_manifest_free(h.manifest);
    }
}

static void test_cancel_at_once(void)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_file *file;
    hashed h = { 0 };
    MUST(ggld_open_path(&file, path, NULL, &err), err);
    uv_loop_init(&loop);
    MUST(ggld_hash_start(&job, &loop, file, NULL, take, &h, &err), err);
    ggld_job_cancel(job);
    ggld_close(file);
    loop_finish(&loop, "hash cancelled at once");
    outcome_check(&h.o, GGLD_E_CANCELLED, "hash cancelled at once");
}

static void test_shrunk(uint32_t scopes)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_file *file;
    hashed h = { 0 };
    char *copy = model_path("shrunk.gguf");
    ggld_hash_options options = options_of(scopes);
    free(output_of("cp '%s' '%s'", path, copy));
    MUST(ggld_open_path(&file, copy, NULL, &err), err);
    CHECK(truncate(copy, SIZE_BYTES / 2) == 0, "truncate");
    uv_loop_init(&loop);
    MUST(ggld_hash_start(&job, &loop, file, &options, take, &h, &err), err);
    loop_finish(&loop, "hash of a file that shrank");
    outcome_check(&h.o, GGLD_E_TRUNCATED, "hash of a file that shrank");
    CHECK(strstr(h.o.result.message, "now") != NULL, "got: %s",
          h.o.result.message);
    ggld_close(file);
    unlink(copy);
    free(copy);
}

static void test_many_at_once(void)
{
    enum { N = 12 };
    uv_loop_t loop;
    ggld_job *jobs[N];
    ggld_file *file;
    hashed h[N];
    size_t size, first_size = 0;
    char *first = NULL;
    memset(h, 0, sizeof h);
    MUST(ggld_open_path(&file, path, NULL, &err), err);
    uv_loop_init(&loop);
    for (int i = 0; i < N; i++) {
        ggld_hash_options options = options_of(scope_sets[i % 2]);
        options.scopes = scope_sets[0] | (i % 2 != 0 ? scope_sets[1] : 0);
        MUST(
            ggld_hash_start(&jobs[i], &loop, file, &options, take, &h[i], &err),
            err);
    }
    ggld_close(file);
    loop_finish(&loop, "many hashes");
    for (int i = 0; i < N; i += 2) {
        outcome_check(&h[i].o, GGLD_OK, "one of many");
        outcome_check(&h[i + 1].o, GGLD_OK, "one of many");
        char *text = manifest_text(h[i].manifest, GGLD_MANIFEST_GGSUM, &size);
        if (first == NULL) {
            first = strdup(text);
            first_size = size;
        }
        CHECK(size == first_size && memcmp(text, first, size) == 0,
              "expected one manifest of all, got another of job %d", i);
        free(text);
        ggld_manifest_free(h[i].manifest);
        ggld_manifest_free(h[i + 1].manifest);
    }
    free(first);
}

/* ---- the page cache ---- */

/* Takes the file out of the cache but for 8 MiB in the middle, and what is
 * mapped. */
static void chill(void)
{
    static char buffer[8 << 20];
    memory_chill(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    CHECK(pread(fd, buffer, sizeof buffer, 32 << 20) == sizeof buffer, "pread");
    close(fd);
}

static void hash_so(ggld_file *file, uint32_t scopes, uint32_t flags)
{
    ggld_manifest *m;
    ggld_hash_options options = options_of(scopes);
    options.progress = NULL;
    options.flags = flags;
    MUST(hash_file(file, &options, &m, &err), err);
    ggld_manifest_free(m);
}

static void verify_so(ggld_file *file, const ggld_manifest *m, uint32_t flags)
{
    ggld_verify_report *report;
    ggld_verify_options options = ggld_verify_options_init();
    options.flags = flags;
    MUST(verify_file(file, m, &options, &report, &err), err);
    CHECK(ggld_verify_report_good(report), "expected good, got: %s",
          ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
}

typedef struct change {
    size_t before, gained, lost; /* pages */
} change;

/* Of the file's pages in the cache, by hashing it, or comparing it with m. */
static change change_by(ggld_file *file, const ggld_manifest *m,
                        uint32_t scopes, uint32_t flags)
{
    change c = { 0, 0, 0 };
    size_t n;
    chill();
    bool *before = memory_pages(path, &n);
    if (m == NULL)
        hash_so(file, scopes, flags);
    else
        verify_so(file, m, flags);
    bool *after = memory_pages(path, &n);
    for (size_t i = 0; i < n; i++) {
        c.before += before[i];
        c.gained += after[i] && !before[i];
        c.lost += before[i] && !after[i];
    }
    free(before);
    free(after);
    return c;
}

/* Others may empty the cache meanwhile, so that there are several tries. */
static void test_cache_is_left_as_it_was(uint32_t scopes, bool verify)
{
    ggld_file *file; /* before: opening brings in readahead of its own */
    ggld_manifest *m = NULL;
    const char *what = verify ? "verify" : "hash";
    size_t many = SIZE_BYTES / (size_t)sysconf(_SC_PAGESIZE) / 2;
    ggld_hash_options options = options_of(scopes);
    change c = { 0, 1, 1 };
    MUST(ggld_open_path(&file, path, NULL, &err), err);
    options.progress = NULL;
    if (verify)
        MUST(hash_file(file, &options, &m, &err), err);
    for (int i = 0; i < 5 && c.gained + c.lost != 0; i++)
        c = change_by(file, m, scopes, GGLD_HASH_KEEP_CACHE);
    if (c.before > many) {
        printf("this file system does not drop pages: not tested\n");
    } else {
        CHECK(c.gained == 0, "%s: expected no other pages than before, got %zu",
              what, c.gained);
        CHECK(c.lost == 0, "%s: expected all %zu pages to stay, %zu went", what,
              c.before, c.lost);
        for (int i = 0; i < 5 && c.gained <= many; i++)
            c = change_by(file, m, scopes, 0);
        CHECK(c.gained > many,
              "%s: expected pages to stay where nothing else was asked, got "
              "%zu more than %zu",
              what, c.gained, c.before);
    }
    ggld_manifest_free(m);
    ggld_close(file);
}

/* ---- starts that start nothing ---- */

static void test_bad_arguments(void)
{
    uv_loop_t loop;
    ggld_job *job = NULL;
    ggld_file *file;
    hashed h = { 0 };
    ggld_hash_options options = ggld_hash_options_init();
    MUST(ggld_open_path(&file, path, NULL, &err), err);
    uv_loop_init(&loop);
    options.struct_size--;
    CHECK(ggld_hash_start(&job, &loop, file, &options, take, &h, &err) ==
              GGLD_E_ABI,
          "expected GGLD_E_ABI of a size");
    options = ggld_hash_options_init();
    options.reserved[3] = 1;
    CHECK(ggld_hash_start(&job, &loop, file, &options, take, &h, &err) ==
              GGLD_E_ABI,
          "expected GGLD_E_ABI of what is reserved");
    options = ggld_hash_options_init();
    options.flags = 1u << 7;
    CHECK(ggld_hash_start(&job, &loop, file, &options, take, &h, &err) ==
              GGLD_E_ABI,
          "expected GGLD_E_ABI of a flag");
    CHECK(ggld_hash_start(&job, NULL, file, NULL, take, &h, &err) ==
              GGLD_E_INVALID,
          "expected GGLD_E_INVALID without a loop");
    CHECK(job == NULL && h.o.n_calls == 0, "expected nothing to be started");
    loop_finish(&loop, "no job");
    ggld_close(file);
}

/* ---- what does not open ---- */

typedef struct compared {
    outcome o;
    ggld_verify_report *report;
} compared;

static void take_report(ggld_job *job, ggld_verify_report *report,
                        const ggld_error *result, void *user)
{
    compared *c = user;
    outcome_done(job, result, &c->o);
    c->report = report;
}

static void cancel_it(ggld_job *job, uint64_t done, uint64_t total, void *user)
{
    outcome_progress(job, done, total, &((compared *)user)->o);
    ggld_job_cancel(job);
}

static void compare_whole(compared *c, int fd, const ggld_manifest *m,
                          ggld_job_progress progress)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_verify_options options = ggld_verify_options_init();
    options.progress = progress;
    uv_loop_init(&loop);
    MUST(ggld_verify_whole_start(&job, &loop, fd, m, &options, take_report, c,
                                 &err),
         err);
    loop_finish(&loop, "whole");
}

static void test_whole_file(void)
{
    static const struct {
        const char *what;
        ggld_job_progress progress;
        off_t cut_to; /* 0: it is whole */
        ggld_status status;
        bool good;
    } rows[] = {
        { "as it was", NULL, 0, GGLD_OK, true },
        { "cancelled", cancel_it, 0, GGLD_E_CANCELLED, false },
        { "cut", NULL, SIZE_BYTES / 2, GGLD_OK, false },
    };
    ggld_manifest *m;
    ggld_hash_options options =
        hash_options(BIT_XXH3, GGLD_SCOPE_FILE | GGLD_SCOPE_METADATA, "m");
    char *copy = model_path("whole.gguf");
    free(output_of("cp '%s' '%s'", path, copy));
    MUST(hash_path(copy, &options, &m, &err), err);
    int fd = open(copy, O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        compared c = { .report = NULL };
        if (rows[i].cut_to != 0 && ftruncate(fd, rows[i].cut_to) != 0)
            abort();
        compare_whole(&c, fd, m, rows[i].progress);
        outcome_check(&c.o, rows[i].status, rows[i].what);
        CHECK((c.report != NULL) == (rows[i].status == GGLD_OK),
              "%s: expected a report with success only", rows[i].what);
        if (c.report != NULL)
            CHECK(ggld_verify_report_good(c.report) == rows[i].good, "%s: %s",
                  rows[i].what, ggld_verify_report_summary(c.report));
        ggld_verify_report_free(c.report);
    }
    close(fd);
    ggld_manifest_free(m);
    unlink(copy);
    free(copy);
}

/* Memory does not grow with the file. */
static void test_memory(void)
{
    ggld_manifest *m;
    ggld_hash_options options = hash_options(
        BIT_XXH3 | BIT_SHA256, GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS, "m");
    uint64_t before = memory_anon();
    MUST(hash_path(path, &options, &m, &err), err);
    ggld_manifest_free(m);
    uint64_t after = memory_anon();
    CHECK(after < before + (64 << 20),
          "expected less than 64 MiB, got %llu bytes",
          (unsigned long long)(after - before));
}

int main(void)
{
    setenv("TMPDIR", "/var/tmp", 0); /* on a disk where /tmp may be memory */
    path = model_path("job.gguf");
    model_write_llama(path, SIZE_BYTES);
    loop_warm_up();
    int n_fds = count_fds();
    for (size_t i = 0; i < 2; i++) {
        test_progress(scope_sets[i]);
        test_cancel(scope_sets[i]);
        test_shrunk(scope_sets[i]);
        test_cache_is_left_as_it_was(scope_sets[i], false);
        test_cache_is_left_as_it_was(scope_sets[i], true);
    }
    test_cancel_at_once();
    test_many_at_once();
    test_bad_arguments();
    test_whole_file();
    test_memory();
    CHECK(count_fds() == n_fds, "expected %d descriptors, got %d", n_fds,
          count_fds());
    unlink(path);
    free(path);
    return n_failed == 0 ? 0 : 1;
}
