/* SPDX-License-Identifier: MIT */
/* The verifier of an open file: what it reads, what it lets through, and that
 * nothing wrong is handed out, by every way of opening and to many threads. A
 * plain main, for the thread sanitizer. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../jobs/check.h"
#include "support.h"

#define ROW_ELEMS 1024 /* of q8_0: 1088 bytes */
#define ROW_BYTES 1088
#define N_ROWS    2000
#define CHUNK     65536u
#define BAD_ROW   777 /* of "b" */

static const model_tensor tensors[] = {
    { .name = "a",
      .type = GGLD_TYPE_Q8_0,
      .n_dims = 2,
      .dims = { ROW_ELEMS, N_ROWS } },
    { .name = "b",
      .type = GGLD_TYPE_Q8_0,
      .n_dims = 2,
      .dims = { ROW_ELEMS, N_ROWS } },
    { .name = "c", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 100 } },
};

static char *path;
static ggld_error err;

static ggld_manifest *make_manifest(uint32_t format, uint32_t algos,
                                    uint32_t scopes, uint32_t chunk_algo)
{
    ggld_manifest *m = NULL, *read = NULL;
    size_t size;
    ggld_hash_options options = hash_options(algos, scopes, path);
    options.chunk_algo = chunk_algo;
    options.chunk_bytes = CHUNK;
    CHECK(hash_path(path, &options, &m, &err) == GGLD_OK, "%s", err.message);
    char *text = manifest_text(m, format, &size);
    CHECK(parse_text(&read, text, size, 0, &err) == GGLD_OK, "%s", err.message);
    free(text);
    ggld_manifest_free(m);
    return read;
}

static ggld_manifest *make_ggsum(uint32_t chunk_algo)
{
    return make_manifest(GGLD_MANIFEST_GGSUM, BIT_SHA256,
                         GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR |
                             GGLD_SCOPE_CHUNKS,
                         chunk_algo);
}

/* ---- ways of opening ---- */

enum { WAY_MAP, WAY_PREAD, WAY_COPY, WAY_MEMORY, N_WAYS };

static ggld_status open_way(int way, ggld_file **out, const char *data,
                            size_t size, const ggld_manifest *m, uint32_t mode)
{
    static const uint32_t flags[] = { 0, GGLD_OPEN_PREAD, GGLD_OPEN_COPY, 0 };
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier_options how = ggld_verifier_options_init();
    ggld_verifier verifier;
    how.mode = mode;
    how.path = path;
    ggld_status status = ggld_verifier_from_manifest(&verifier, m, &how, &err);
    if (status != GGLD_OK)
        return status;
    options.flags = flags[way];
    options.verifier = &verifier;
    if (way == WAY_MEMORY)
        status = ggld_open_memory(out, data, size, &options, &err);
    else
        status = ggld_open_path(out, path, &options, &err);
    if (status != GGLD_OK)
        verifier.release(verifier.ctx);
    return status;
}

static ggld_status read_row(const ggld_file *file, const char *name,
                            uint64_t row, float *dst, ggld_error *e)
{
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, name));
    ggld_status status = ggld_view_rows(&view, &view, row, 1, e);
    return status == GGLD_OK ? ggld_view_read_f32(&view, dst, ROW_ELEMS, e)
                             : status;
}

static uint64_t tensor_offset(const char *name)
{
    ggld_file *file;
    ggld_tensor_info info = { .struct_size = sizeof info };
    if (ggld_open_path(&file, path, NULL, &err) != GGLD_OK)
        exit(1);
    ggld_tensor_get_info(ggld_tensor_find(file, name), &info);
    ggld_close(file);
    return info.file_offset_bytes;
}

/* ---- nothing wrong is handed out ---- */

static void expect_bad(ggld_status status, const ggld_error *e, int way)
{
    uint64_t begin, size;
    uint64_t at = tensor_offset("b") + BAD_ROW * ROW_BYTES + 5;
    CHECK(status == GGLD_E_CHECKSUM, "way %d: expected GGLD_E_CHECKSUM, got %s",
          way, ggld_status_name(status));
    CHECK(e->section == GGLD_IN_TENSOR_DATA && e->index == 1,
          "way %d: expected tensor 1, got section %d index %llu", way,
          (int)e->section, (unsigned long long)e->index);
    int n =
        sscanf(e->message, "tensor 'b': bytes %llu + %llu differ: expected ",
               (unsigned long long *)&begin, (unsigned long long *)&size);
    CHECK(n == 2 && begin <= at && at < begin + size,
          "way %d: expected a range with %llu, got: %s", way,
          (unsigned long long)at, e->message);
    CHECK(strstr(e->message, ", it is ") != NULL, "got: %s", e->message);
}

static void test_wrong_bytes(uint32_t chunk_algo, uint32_t format)
{
    static float values[ROW_ELEMS], untouched[ROW_ELEMS];
    ggld_manifest *m =
        format == GGLD_MANIFEST_GGSUM
            ? make_ggsum(chunk_algo)
            : make_manifest(format, BIT_SHA1 | BIT_XXH64, GGLD_SCOPE_TENSOR, 0);
    uint64_t bad = tensor_offset("b") + BAD_ROW * ROW_BYTES + 5;
    size_t size;
    model_flip(path, bad);
    char *data = model_read(path, &size);
    for (int way = 0; way < N_WAYS; way++) {
        ggld_file *file;
        const void *map;
        size_t map_size;
        uint8_t bytes[8];
        MUST(open_way(way, &file, data, size, m, GGLD_VERIFY_ON_ACCESS), err);
        memset(values, 0xA5, sizeof values);
        memset(untouched, 0xA5, sizeof untouched);
        MUST(read_row(file, "a", 5, values, &err), err);
        memset(values, 0xA5, sizeof values);
        expect_bad(read_row(file, "b", BAD_ROW, values, &err), &err, way);
        CHECK(memcmp(values, untouched, sizeof values) == 0,
              "way %d: expected dst untouched", way);
        /* Its chunk is refused as a whole, and again. */
        expect_bad(read_row(file, "b", BAD_ROW, values, &err), &err, way);
        if (format == GGLD_MANIFEST_GGSUM)
            MUST(read_row(file, "b", 0, values, &err), err);
        const ggld_tensor *b = ggld_tensor_find(file, "b");
        ggld_status status = ggld_tensor_map(b, &map, &map_size, &err);
        if (status != GGLD_E_UNSUPPORTED)
            expect_bad(status, &err, way);
        expect_bad(
            ggld_tensor_read_bytes(b, BAD_ROW * ROW_BYTES + 5, bytes, 1, &err),
            &err, way);
        status =
            ggld_tensor_map(ggld_tensor_find(file, "a"), &map, &map_size, &err);
        CHECK(status == GGLD_OK || status == GGLD_E_UNSUPPORTED,
              "way %d: a good tensor: %s", way, err.message);
        ggld_close(file);
    }
    model_flip(path, bad);
    free(data);
    ggld_manifest_free(m);
}

/* ---- which tensor it is ---- */

static const struct {
    const char *asked; /* for byte 0 of it */
    const char *says;
    uint64_t index;
} named[] = {
    { "a", NULL, 0 },
    { "c", "tensor 'c': bytes ", 2 },
    { "c", ", which hold 'b' and 'c' (2 tensors), differ: expected xxh3 ", 2 },
};

/* A chunk that several tensors share tells no more than that one of them is
 * damaged: here the last bytes of "b". */
static void test_a_shared_chunk_names_all(void)
{
    ggld_manifest *m = make_ggsum(GGLD_ALGO_XXH3);
    uint64_t bad = tensor_offset("c") - 1;
    model_flip(path, bad);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        ggld_file *file;
        uint8_t byte;
        err.message[0] = '\0';
        MUST(open_way(WAY_MAP, &file, NULL, 0, m, GGLD_VERIFY_ON_ACCESS), err);
        ggld_status status = ggld_tensor_read_bytes(
            ggld_tensor_find(file, named[i].asked), 0, &byte, 1, &err);
        ggld_status wanted = named[i].says != NULL ? GGLD_E_CHECKSUM : GGLD_OK;
        CHECK(status == wanted, "%s: expected %s, got %s", named[i].asked,
              ggld_status_name(wanted), ggld_status_name(status));
        if (named[i].says != NULL)
            CHECK(strstr(err.message, named[i].says) != NULL &&
                      err.index == named[i].index,
                  "%s: expected \"%s\", got %s", named[i].asked, named[i].says,
                  err.message);
        ggld_close(file);
    }
    model_flip(path, bad);
    ggld_manifest_free(m);
}

/* ---- no more is read than what is touched ---- */

typedef struct counted {
    const char *data;
    uint64_t n_bytes;
    int n_released;
} counted;

static int64_t counted_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    counted *c = ctx;
    memcpy(dst, c->data + offset, n);
    c->n_bytes += n;
    return (int64_t)n;
}

static void counted_release(void *ctx)
{
    counted *c = ctx;
    c->n_released++;
}

static void test_reads_only_chunks_touched(void)
{
    static float values[3 * ROW_ELEMS];
    size_t size;
    ggld_file *file;
    ggld_verifier verifier;
    ggld_manifest *m = make_ggsum(GGLD_ALGO_XXH3);
    counted c = { model_read(path, &size), 0, 0 };
    ggld_source source = { sizeof source,   size, counted_pread, NULL,
                           counted_release, &c };
    ggld_open_options options = ggld_open_options_init();
    MUST(ggld_verifier_from_manifest(&verifier, m, NULL, &err), err);
    ggld_manifest_free(m); /* the verifier has what it needs */
    options.verifier = &verifier;
    MUST(ggld_open_source(&file, &source, &options, &err), err);
    CHECK(c.n_bytes <= 65536, "expected open to read metadata, got %llu bytes",
          (unsigned long long)c.n_bytes);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "a"));
    /* A chunk has some 60 rows: these are in three chunks, or four. */
    const uint64_t rows[] = { 300, 900, 1500 };
    c.n_bytes = 0;
    MUST(ggld_view_gather_f32(&view, rows, 3, values, 3 * ROW_ELEMS, &err),
         err);
    CHECK(c.n_bytes >= 3 * CHUNK && c.n_bytes <= 6 * CHUNK + 3 * ROW_BYTES,
          "expected the chunks of three rows, got %llu bytes",
          (unsigned long long)c.n_bytes);
    c.n_bytes = 0;
    MUST(ggld_view_gather_f32(&view, rows, 3, values, 3 * ROW_ELEMS, &err),
         err);
    CHECK(c.n_bytes <= 3 * ROW_BYTES,
          "expected no second verification, got %llu bytes",
          (unsigned long long)c.n_bytes);
    ggld_close(file);
    CHECK(c.n_released == 1, "expected one release");
    free((char *)(uintptr_t)c.data);
}

/* ---- modes ---- */

static void test_metadata_mode(void)
{
    ggld_file *file;
    ggld_manifest *m = make_ggsum(GGLD_ALGO_XXH3);
    static float values[ROW_ELEMS];
    uint64_t bad = tensor_offset("b") + 7;
    model_flip(path, bad);
    MUST(open_way(WAY_MAP, &file, NULL, 0, m, GGLD_VERIFY_METADATA), err);
    MUST(read_row(file, "b", 0, values, &err), err);
    ggld_close(file);
    model_flip(path, bad);
    model_flip(path, 65); /* in the value "llama" */
    for (uint32_t mode = 0; mode <= GGLD_VERIFY_FULL; mode++) {
        ggld_status status = open_way(WAY_MAP, &file, NULL, 0, m, mode);
        CHECK(status == GGLD_E_CHECKSUM &&
                  strstr(err.message, "metadata: expected sha256 ") != NULL,
              "mode %u: expected GGLD_E_CHECKSUM, got %s: %s", mode,
              ggld_status_name(status), err.message);
    }
    model_flip(path, 65);
    ggld_manifest_free(m);
}

static void test_full_mode(void)
{
    ggld_file *file;
    static float values[ROW_ELEMS];
    ggld_manifest *m = make_ggsum(GGLD_ALGO_XXH3);
    ggld_manifest *whole =
        make_manifest(GGLD_MANIFEST_SHA256SUM, BIT_SHA256, GGLD_SCOPE_FILE, 0);
    const ggld_manifest *const both[] = { m, whole };
    uint64_t bad = tensor_offset("b") + BAD_ROW * ROW_BYTES;
    for (int i = 0; i < 2; i++) {
        MUST(open_way(WAY_MAP, &file, NULL, 0, both[i], GGLD_VERIFY_FULL), err);
        MUST(read_row(file, "a", 0, values, &err), err);
        ggld_close(file);
        model_flip(path, bad);
        MUST(open_way(WAY_MAP, &file, NULL, 0, both[i], GGLD_VERIFY_FULL), err);
        ggld_status status = read_row(file, "a", 0, values, &err);
        CHECK(status == GGLD_E_CHECKSUM, "expected GGLD_E_CHECKSUM, got %s",
              ggld_status_name(status));
        model_flip(path, bad);
        /* Mended: asked again, it is verified again. */
        MUST(read_row(file, "a", 0, values, &err), err);
        ggld_close(file);
    }
    ggld_manifest_free(whole);
    ggld_manifest_free(m);
}

static void test_pinned_root(void)
{
    ggld_verifier verifier;
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_verifier_options how = ggld_verifier_options_init();
    ggld_manifest *m = make_ggsum(GGLD_ALGO_SHA256);
    ggld_manifest *whole =
        make_manifest(GGLD_MANIFEST_SHA256SUM, BIT_SHA256, GGLD_SCOPE_FILE, 0);
    ggld_manifest_get_info(m, &info);
    CHECK(info.root.algo == GGLD_ALGO_SHA256, "expected a sha256 root");
    how.root = &info.root;
    MUST(ggld_verifier_from_manifest(&verifier, m, &how, &err), err);
    verifier.release(verifier.ctx);
    ggld_status status =
        ggld_verifier_from_manifest(&verifier, whole, &how, &err);
    CHECK(status == GGLD_E_INVALID, "no chunks: got %s",
          ggld_status_name(status));
    info.root.bytes[31] ^= 1;
    status = ggld_verifier_from_manifest(&verifier, m, &how, &err);
    CHECK(status == GGLD_E_CHECKSUM &&
              strstr(err.message, "pinned root") != NULL,
          "another root: got %s: %s", ggld_status_name(status), err.message);
    ggld_manifest_free(whole);
    ggld_manifest_free(m);
}

/* ---- what a forger could match ---- */

static const struct {
    const char *what;
    uint32_t algos, scopes, chunk_algo;
    uint32_t forgeable; /* scopes */
    uint32_t modes;     /* bits of those that it will do for */
} strengths[] = {
    { "the default", BIT_SHA256, 0, 0, GGLD_SCOPE_CHUNKS,
      1u << GGLD_VERIFY_METADATA | 1u << GGLD_VERIFY_FULL },
    { "sha256 chunks", BIT_SHA256, 0, GGLD_ALGO_SHA256, 0,
      1u << GGLD_VERIFY_ON_ACCESS | 1u << GGLD_VERIFY_METADATA |
          1u << GGLD_VERIFY_FULL },
    { "sha256 tensors", BIT_SHA256, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, 0,
      0,
      1u << GGLD_VERIFY_ON_ACCESS | 1u << GGLD_VERIFY_METADATA |
          1u << GGLD_VERIFY_FULL },
    { "xxh3 only", BIT_XXH3, 0, 0,
      GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS, 0 },
    { "sha1 under sha256 chunks", BIT_SHA1, 0, GGLD_ALGO_SHA256,
      GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, 0 },
};

/* The flag refuses these; without it they do. */
static void test_unforgeable(void)
{
    for (size_t i = 0; i < sizeof strengths / sizeof strengths[0]; i++) {
        ggld_manifest_info info = { .struct_size = sizeof info };
        ggld_manifest *m;
        ggld_hash_options options =
            hash_options(strengths[i].algos, strengths[i].scopes, path);
        options.chunk_algo = strengths[i].chunk_algo;
        MUST(hash_path(path, &options, &m, &err), err);
        ggld_manifest_get_info(m, &info);
        CHECK(info.forgeable == strengths[i].forgeable,
              "%s: expected %#x forgeable, got %#x", strengths[i].what,
              strengths[i].forgeable, info.forgeable);
        for (uint32_t mode = 0; mode <= GGLD_VERIFY_FULL; mode++) {
            ggld_verifier verifier;
            ggld_verifier_options how = ggld_verifier_options_init();
            how.mode = mode;
            how.flags = GGLD_VERIFIER_UNFORGEABLE;
            ggld_status status =
                ggld_verifier_from_manifest(&verifier, m, &how, &err);
            ggld_status wanted = (strengths[i].modes >> mode & 1) != 0
                                     ? GGLD_OK
                                     : GGLD_E_UNSUPPORTED;
            CHECK(status == wanted, "%s, mode %u: expected %s, got %s: %s",
                  strengths[i].what, mode, ggld_status_name(wanted),
                  ggld_status_name(status),
                  status == GGLD_OK ? "" : err.message);
            if (status == GGLD_OK)
                verifier.release(verifier.ctx);
        }
        ggld_manifest_free(m);
    }
}

static void expect_refused(const ggld_manifest *m, uint32_t mode,
                           const char *file, ggld_status code)
{
    ggld_verifier verifier;
    ggld_verifier_options how = ggld_verifier_options_init();
    how.mode = mode;
    how.path = file;
    ggld_status status = ggld_verifier_from_manifest(&verifier, m, &how, &err);
    CHECK(status == code, "mode %u of %s: expected %s, got %s", mode, file,
          ggld_status_name(code), ggld_status_name(status));
    if (status == GGLD_OK)
        verifier.release(verifier.ctx);
}

static void test_manifests_that_do_not_do(void)
{
    ggld_manifest *whole =
        make_manifest(GGLD_MANIFEST_SHA256SUM, BIT_SHA256, GGLD_SCOPE_FILE, 0);
    ggld_manifest *llama =
        make_manifest(GGLD_MANIFEST_LLAMA, BIT_XXH64, GGLD_SCOPE_TENSOR, 0);
    expect_refused(whole, GGLD_VERIFY_ON_ACCESS, path, GGLD_E_UNSUPPORTED);
    expect_refused(whole, GGLD_VERIFY_METADATA, path, GGLD_E_INVALID);
    expect_refused(whole, GGLD_VERIFY_FULL, "other.gguf", GGLD_E_INVALID);
    expect_refused(whole, 9, path, GGLD_E_INVALID);
    expect_refused(llama, GGLD_VERIFY_METADATA, path, GGLD_E_INVALID);
    expect_refused(llama, GGLD_VERIFY_ON_ACCESS, "other.gguf", GGLD_E_INVALID);
    ggld_manifest_free(llama);
    ggld_manifest_free(whole);
}

/* A tensor that the manifest does not have is not handed out. */
static void test_tensor_without_digest(void)
{
    ggld_file *file;
    ggld_manifest *m, *read = NULL;
    size_t size;
    float values[100];
    ggld_hash_options options = hash_options(BIT_XXH3, GGLD_SCOPE_TENSOR, path);
    MUST(hash_path(path, &options, &m, &err), err);
    char *text = manifest_text(m, GGLD_MANIFEST_LLAMA, &size);
    char *last = memrchr(text, '\n', size - 1); /* of "c" */
    MUST(parse_text(&read, text, (size_t)(last + 1 - text), 0, &err), err);
    MUST(open_way(WAY_MAP, &file, NULL, 0, read, GGLD_VERIFY_ON_ACCESS), err);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "c"));
    ggld_status status = ggld_view_read_f32(&view, values, 100, &err);
    CHECK(status == GGLD_E_CHECKSUM &&
              strstr(err.message, "tensor 'c': the manifest has no digest") !=
                  NULL,
          "got %s: %s", ggld_status_name(status), err.message);
    ggld_close(file);
    ggld_manifest_free(read);
    ggld_manifest_free(m);
    free(text);
}

/* A file that has grown since is not the one. */
static void test_another_size(void)
{
    ggld_file *file;
    static float values[ROW_ELEMS];
    ggld_manifest *m = make_ggsum(GGLD_ALGO_XXH3);
    FILE *f = fopen(path, "ab");
    fputc('x', f);
    fclose(f);
    MUST(open_way(WAY_MAP, &file, NULL, 0, m, GGLD_VERIFY_ON_ACCESS), err);
    ggld_status status = read_row(file, "a", 0, values, &err);
    CHECK(status == GGLD_E_CHECKSUM && strstr(err.message, "behind") != NULL,
          "got %s: %s", ggld_status_name(status), err.message);
    ggld_close(file);
    ggld_manifest_free(m);
}

/* ---- threads ---- */

typedef struct reader {
    const ggld_file *file;
    const ggld_file *reference; /* unverified, of good bytes */
    unsigned seed;
    uint64_t bad_begin, bad_end; /* rows of "b" that touch the bad chunk */
    int n_wrong;
    uint64_t n_refused;
} reader;

static void *read_at_random(void *arg)
{
    reader *r = arg;
    static _Thread_local float got[ROW_ELEMS], expected[ROW_ELEMS];
    ggld_error e;
    for (int i = 0; i < 1500; i++) {
        uint64_t row = (uint64_t)rand_r(&r->seed) % N_ROWS;
        const char *name = rand_r(&r->seed) % 2 == 0 ? "a" : "b";
        bool bad = name[0] == 'b' && row >= r->bad_begin && row < r->bad_end;
        ggld_status status = read_row(r->file, name, row, got, &e);
        if (status != (bad ? GGLD_E_CHECKSUM : GGLD_OK)) {
            r->n_wrong++;
            continue;
        }
        r->n_refused += bad;
        if (bad)
            continue;
        if (read_row(r->reference, name, row, expected, &e) != GGLD_OK ||
            memcmp(got, expected, sizeof got) != 0)
            r->n_wrong++;
    }
    return NULL;
}

static void test_threads(void)
{
    enum { N = 6 };
    pthread_t threads[N];
    reader readers[N];
    size_t size;
    ggld_file *file, *reference;
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_manifest *m = make_ggsum(GGLD_ALGO_XXH3);
    char *good = model_read(path, &size);
    uint64_t b = tensor_offset("b");
    uint64_t bad = b + BAD_ROW * ROW_BYTES;
    model_flip(path, bad);
    MUST(open_way(WAY_MAP, &file, NULL, 0, m, GGLD_VERIFY_ON_ACCESS), err);
    MUST(ggld_open_memory(&reference, good, size, NULL, &err), err);
    ggld_file_get_info(file, &info);
    uint64_t begin = bad - (bad - info.metadata_bytes) % CHUNK;
    for (unsigned i = 0; i < N; i++) {
        reader r = { file,
                     reference,
                     i + 1,
                     (begin - b) / ROW_BYTES,
                     (begin + CHUNK - b + ROW_BYTES - 1) / ROW_BYTES,
                     0,
                     0 };
        readers[i] = r;
        CHECK(pthread_create(&threads[i], NULL, read_at_random, &readers[i]) ==
                  0,
              "expected a thread");
    }
    uint64_t n_refused = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        CHECK(readers[i].n_wrong == 0, "thread %d: %d wrong answers", i,
              readers[i].n_wrong);
        n_refused += readers[i].n_refused;
    }
    CHECK(n_refused != 0, "expected some reads of the bad chunk");
    ggld_close(reference);
    ggld_close(file);
    model_flip(path, bad);
    free(good);
    ggld_manifest_free(m);
}

int main(void)
{
    path = model_path("verifier.gguf");
    model_write(path, tensors, sizeof tensors / sizeof tensors[0], 0);
    loop_warm_up();
    ggld_manifest_free(make_ggsum(GGLD_ALGO_XXH3)); /* starts libuv's pool */
    int n_fds = count_fds(), n_threads = count_threads();
    test_wrong_bytes(GGLD_ALGO_XXH3, GGLD_MANIFEST_GGSUM);
    test_wrong_bytes(GGLD_ALGO_SHA256, GGLD_MANIFEST_GGSUM);
    test_wrong_bytes(0, GGLD_MANIFEST_LLAMA);
    test_a_shared_chunk_names_all();
    test_reads_only_chunks_touched();
    test_metadata_mode();
    test_full_mode();
    test_pinned_root();
    test_unforgeable();
    test_manifests_that_do_not_do();
    test_tensor_without_digest();
    test_threads();
    test_another_size();
    CHECK(count_fds() == n_fds, "expected %d descriptors, got %d", n_fds,
          count_fds());
    CHECK(count_threads() == n_threads, "expected %d threads, got %d",
          n_threads, count_threads());
    unlink(path);
    free(path);
    return n_failed == 0 ? 0 : 1;
}
