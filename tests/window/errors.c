/* SPDX-License-Identifier: MIT */
/* Chunks that can't be read, or are not what a manifest says: never wrong numbers,
 * one first error that is told before anything is seen, and a second try where
 * the app asks for one. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/window.h>

#include "../integrity/support.h"
#include "../jobs/check.h"
#include "child.h"

#define ROW_ELEMS   1024u /* of q8_0: 1088 bytes */
#define ROW_BYTES   1088u
#define N_ROWS      512u
#define N_ELEMS     (ROW_ELEMS * N_ROWS)
#define CHUNK       65536u
#define CHUNK_ELEMS (CHUNK / 4)
#define N_CHUNKS    (N_ELEMS / CHUNK_ELEMS)
#define BAD_ROW     100u
#define BAD_CHUNK   (BAD_ROW * ROW_ELEMS / CHUNK_ELEMS)

static const model_tensor tensors[] = {
    { .name = "a", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 100 } },
    { .name = "b",
      .type = GGLD_TYPE_Q8_0,
      .n_dims = 2,
      .dims = { ROW_ELEMS, N_ROWS } },
};

static char *path;
static uint64_t data_offset; /* of "b" */
static float *expected;
static ggld_error err;

/* ---- what the callback is told ---- */

typedef struct told {
    _Atomic int n_calls;
    ggld_error error;
    uint64_t n_touched; /* elements that the toucher had seen by then */
    _Atomic uint64_t n_seen;
} told;

static void on_failed(ggld_window *w, const ggld_error *error, void *user)
{
    told *t = user;
    (void)w;
    t->error = *error;
    t->n_touched = t->n_seen;
    t->n_calls++; /* last: who has seen it may look at the others */
}

static bool is_nan(const float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits == 0x7FC00000;
}

/* Goes through the window; chunk bad (N_CHUNKS: none) has to be NaNs, all
 * others their values. */
static void check_values(const float *data, uint32_t bad, told *t,
                         const char *what)
{
    uint64_t n_wrong = 0, n_nan = 0;
    for (uint64_t i = 0; i < N_ELEMS; i++) {
        if (i / CHUNK_ELEMS == bad)
            n_nan += is_nan(&data[i]);
        else
            n_wrong += memcmp(&data[i], &expected[i], sizeof *data) != 0;
        if (t != NULL)
            t->n_seen = i + 1;
    }
    CHECK(n_wrong == 0, "%s: %llu values wrong", what,
          (unsigned long long)n_wrong);
    CHECK(bad == N_CHUNKS || n_nan == CHUNK_ELEMS,
          "%s: expected all of chunk %u NaN, got %llu of %u", what, bad,
          (unsigned long long)n_nan, CHUNK_ELEMS);
}

static void check_told(told *t, ggld_window *w, ggld_status code,
                       const char *text, const char *what)
{
    ggld_window_counts c = { sizeof c };
    CHECK(t->n_calls == 1, "%s: expected 1 call, got %d", what, t->n_calls);
    CHECK(t->error.code == code && strstr(t->error.message, text) != NULL,
          "%s: expected %s with \"%s\", got %s: %s", what,
          ggld_status_name(code), text, ggld_status_name(t->error.code),
          t->error.message);
    CHECK(t->n_touched <= (uint64_t)BAD_CHUNK * CHUNK_ELEMS,
          "%s: expected to be told before it is seen", what);
    ggld_status status = ggld_window_status(w, &err);
    CHECK(status == code && strcmp(err.message, t->error.message) == 0,
          "%s: expected the same of ggld_window_status, got %s: %s", what,
          ggld_status_name(status), err.message);
    ggld_window_stats(w, &c);
    CHECK(c.n_failed >= 1, "%s: expected a chunk counted", what);
}

static ggld_status open_window(ggld_window **w, ggld_file *file, uint32_t flags,
                               told *t)
{
    ggld_window_options o = ggld_window_options_init();
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "b"));
    o.flags = flags;
    o.chunk_bytes = CHUNK;
    o.failed = t != NULL ? on_failed : NULL;
    o.user = t;
    return ggld_window_open(w, &view, &o, &err);
}

/* ---- a manifest that says otherwise ---- */

static ggld_file *open_verified(void)
{
    ggld_hash_options how = hash_options(
        BIT_SHA256, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS,
        path);
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier_options verify = ggld_verifier_options_init();
    ggld_manifest *manifest;
    ggld_verifier verifier;
    ggld_file *file = NULL;
    how.chunk_algo = GGLD_ALGO_XXH3;
    how.chunk_bytes = CHUNK;
    verify.path = path;
    if (hash_path(path, &how, &manifest, &err) != GGLD_OK ||
        ggld_verifier_from_manifest(&verifier, manifest, &verify, &err) !=
            GGLD_OK)
        exit(99);
    ggld_manifest_free(manifest);
    options.verifier = &verifier;
    /* Behind the manifest's back. */
    model_flip(path, data_offset + (uint64_t)BAD_ROW * ROW_BYTES + 77);
    if (ggld_open_path(&file, path, &options, &err) != GGLD_OK)
        exit(99);
    return file;
}

/* A chunk of the manifest is less than one of the window and lies in two of
 * them at most: which of its neighbours fails, too, is for the test to see. */
static void test_not_verified(void)
{
    ggld_file *file = open_verified();
    ggld_window *w;
    told t = { 0 };
    uint64_t n_wrong = 0, n_nan = 0;
    MUST(open_window(&w, file, 0, &t), err);
    const float *data = ggld_window_data(w);
    for (uint64_t i = 0; i < N_ELEMS; i++) {
        if (is_nan(&data[i]))
            n_nan++;
        else
            n_wrong += memcmp(&data[i], &expected[i], sizeof *data) != 0;
        t.n_seen = i + 1;
    }
    CHECK(n_wrong == 0, "verified: %llu values wrong",
          (unsigned long long)n_wrong);
    CHECK(is_nan(&data[BAD_ROW * ROW_ELEMS + 70]) && n_nan % CHUNK_ELEMS == 0 &&
              n_nan <= 8 * CHUNK_ELEMS,
          "verified: expected some whole chunks NaN, got %llu elements",
          (unsigned long long)n_nan);
    CHECK(t.n_calls == 1, "verified: expected 1 call, got %d", t.n_calls);
    CHECK(t.error.code == GGLD_E_CHECKSUM &&
              strstr(t.error.message, "differ: expected") != NULL,
          "verified: expected what differs, got: %s", t.error.message);
    CHECK(ggld_window_status(w, &err) == GGLD_E_CHECKSUM,
          "verified: expected GGLD_E_CHECKSUM");
    ggld_window_close(w);
    ggld_close(file);
    model_flip(path, data_offset + (uint64_t)BAD_ROW * ROW_BYTES + 77);
}

/* ---- a source that fails for a while ---- */

typedef struct flaky {
    char *bytes;
    size_t size;
    uint64_t bad_offset;
    _Atomic bool fails;
} flaky;

static int64_t flaky_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    flaky *f = ctx;
    if (f->fails && offset <= f->bad_offset && f->bad_offset - offset < n)
        return -5; /* EIO */
    n = n < f->size - offset ? n : f->size - offset;
    memcpy(dst, f->bytes + offset, n);
    return (int64_t)n;
}

static ggld_file *open_flaky(flaky *f)
{
    ggld_source source = { .struct_size = sizeof source };
    ggld_file *file;
    memset(f, 0, sizeof *f);
    f->bytes = model_read(path, &f->size);
    f->bad_offset = data_offset + (uint64_t)BAD_ROW * ROW_BYTES;
    source.size_bytes = f->size;
    source.pread = flaky_pread;
    source.ctx = f;
    if (ggld_open_source(&file, &source, NULL, &err) != GGLD_OK)
        exit(99);
    f->fails = true;
    return file;
}

static void test_source_fails(void)
{
    flaky f;
    ggld_file *file = open_flaky(&f);
    ggld_window *w;
    told t = { 0 };
    MUST(open_window(&w, file, 0, &t), err);
    const float *data = ggld_window_data(w);
    check_values(data, BAD_CHUNK, &t, "source fails");
    check_told(&t, w, GGLD_E_IO, "tensor 1 'b' (q8_0)", "source fails");

    /* It stays what it is until it is tried again. */
    f.fails = false;
    check_values(data, BAD_CHUNK, NULL, "source is good again");
    MUST(ggld_window_drop(w, BAD_CHUNK * CHUNK_ELEMS, 1, &err), err);
    check_values(data, N_CHUNKS, NULL, "dropped and touched");
    CHECK(ggld_window_status(w, &err) == GGLD_E_IO,
          "expected the first error kept");
    ggld_window_close(w);
    ggld_close(file);
    free(f.bytes);
}

static void test_fill_fails(void)
{
    flaky f;
    ggld_file *file = open_flaky(&f);
    ggld_window *w;
    told t = { 0 };
    MUST(open_window(&w, file, 0, &t), err);
    ggld_status status = ggld_window_fill(w, 0, N_ELEMS, &err);
    CHECK(status == GGLD_E_IO, "fill: expected GGLD_E_IO, got %s",
          ggld_status_name(status));
    check_told(&t, w, GGLD_E_IO, "tensor 1 'b' (q8_0)", "fill");
    CHECK(is_nan(&ggld_window_data(w)[BAD_CHUNK * CHUNK_ELEMS]),
          "fill: expected NaN in place");
    status = ggld_window_fill(w, BAD_CHUNK * CHUNK_ELEMS, 1, NULL);
    CHECK(status == GGLD_E_IO && t.n_calls == 1,
          "fill again: expected GGLD_E_IO and no other call, got %s, %d calls",
          ggld_status_name(status), t.n_calls);
    f.fails = false;
    MUST(ggld_window_fill(w, 0, N_ELEMS, &err), err);
    check_values(ggld_window_data(w), N_CHUNKS, NULL, "filled again");
    ggld_window_close(w);

    f.fails = true;
    w = NULL;
    status = open_window(&w, file, GGLD_WINDOW_AT_ONCE, &t);
    CHECK(status == GGLD_E_IO && w == NULL,
          "at once: expected open to fail with GGLD_E_IO, got %s",
          ggld_status_name(status));
    ggld_close(file);
    free(f.bytes);
}

/* ---- poison ---- */

static int touch_poison(void *arg)
{
    ggld_file *file = arg;
    ggld_window *w;
    if (open_window(&w, file, GGLD_WINDOW_POISON, NULL) != GGLD_OK)
        return strstr(err.message, "can't poison") != NULL ? 77 : 1;
    const float *data = ggld_window_data(w);
    if (memcmp(data, expected, BAD_CHUNK * CHUNK) != 0)
        return CHILD_WRONG;
    volatile float value = data[BAD_CHUNK * CHUNK_ELEMS + 9];
    (void)value;
    return 2;
}

/* What is poisoned can be given back and filled. */
static void test_poison(void)
{
    flaky f;
    ggld_file *file = open_flaky(&f);
    ggld_window *w;
    told t = { 0 };
    int code = child_run(touch_poison, file);
    if (code == 77) {
        printf("skipped: this kernel can't poison pages\n");
        ggld_close(file);
        free(f.bytes);
        return;
    }
    CHECK(code == CHILD_BUS, "poison: expected SIGBUS, got %s",
          child_text(code));
    MUST(open_window(&w, file, GGLD_WINDOW_POISON, &t), err);
    CHECK(ggld_window_fill(w, BAD_CHUNK * CHUNK_ELEMS, 1, NULL) == GGLD_E_IO,
          "poison: expected GGLD_E_IO of fill");
    CHECK(t.n_calls == 1, "poison: expected 1 call, got %d", t.n_calls);
    f.fails = false;
    MUST(ggld_window_drop(w, 0, N_ELEMS, &err), err);
    check_values(ggld_window_data(w), N_CHUNKS, NULL, "poison given back");
    ggld_window_close(w);
    ggld_close(file);
    free(f.bytes);
}

static bool set_up(void)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_window_counts c = { sizeof c };
    ggld_file *file;
    ggld_window *w;
    path = model_path("window-errors");
    model_write(path, tensors, 2, 0);
    expected = malloc(sizeof *expected * N_ELEMS);
    if (expected == NULL || ggld_open_path(&file, path, NULL, &err) != GGLD_OK)
        exit(99);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "b"));
    ggld_tensor_get_info(view.tensor, &info);
    data_offset = info.file_offset_bytes;
    if (ggld_view_read_f32(&view, expected, N_ELEMS, &err) != GGLD_OK ||
        open_window(&w, file, 0, NULL) != GGLD_OK)
        exit(99);
    ggld_window_stats(w, &c);
    ggld_window_close(w);
    ggld_close(file);
    return c.lazy != 0;
}

int main(void)
{
    static void (*const tests[])(void) = {
        /* First, as its child has threads: while there are others, a loop's,
         * the thread sanitizer allows none in children. */
        test_poison,
        test_not_verified,
        test_source_fails,
        test_fill_fails,
    };
    const unsigned n = sizeof tests / sizeof tests[0];
    unsigned n_passed = 0;
    bool lazy = set_up();
    for (unsigned i = 0; i < n && lazy; i++) {
        int before = n_failed;
        tests[i]();
        n_passed += n_failed == before;
    }
    if (!lazy)
        printf("skipped: this system offers no userfaultfd\n");
    unlink(path);
    free(path);
    free(expected);
    printf("%u passed, %d failed, %u skipped\n", n_passed, n_failed,
           lazy ? 0 : n);
    return n_failed != 0;
}
