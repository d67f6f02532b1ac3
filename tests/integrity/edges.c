/* SPDX-License-Identifier: MIT */
/* Damage at the edges of chunks and tensors: whatever touches the byte is
 * refused, whatever does not is not, by many threads at once, however the file
 * was opened and whatever pieces are verified. A plain main, for the thread
 * sanitizer. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../jobs/check.h"
#include "support.h"

#define N_THREADS 8
#define N_READS   40
#define READ_MAX  300

static const model_tensor tensors[] = {
    { .name = "a", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 70001 } },
    { .name = "b", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 5 } },
    { .name = "c", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 20000 } },
};

#define N_TENSORS (sizeof tensors / sizeof tensors[0])

static char *path;
static ggld_error err;

static const struct {
    const char *name;
    uint32_t scope;
    uint64_t chunk_bytes; /* 0: tensors */
} pieces[] = {
    { "chunks of 4 KiB", GGLD_SCOPE_CHUNKS, 4096 },
    { "chunks of 64 KiB", GGLD_SCOPE_CHUNKS, 65536 },
    { "tensors", GGLD_SCOPE_TENSOR, 0 },
};

static const struct {
    const char *name;
    uint32_t flags;
} ways[] = {
    { "map", 0 },
    { "pread", GGLD_OPEN_PREAD },
    { "copy", GGLD_OPEN_COPY },
};

/* ---- what a read is to give ---- */

typedef struct extent {
    uint64_t begin, end;
} extent;

static bool overlap(extent a, extent b)
{
    return a.begin < b.end && b.begin < a.end;
}

/* The piece that the damaged byte is in; empty where that is padding, which
 * tensors leave out. */
static extent piece_with(const ggld_file *file, size_t kind, uint64_t bad)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_tensor_info t = { .struct_size = sizeof t };
    extent e = { bad, bad };
    ggld_file_get_info(file, &info);
    if (pieces[kind].chunk_bytes != 0) {
        uint64_t chunk = pieces[kind].chunk_bytes;
        e.begin = bad - (bad - info.metadata_bytes) % chunk;
        e.end = e.begin + chunk;
        return e;
    }
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_tensor_get_info(ggld_tensor_at(file, i), &t);
        extent of = { t.file_offset_bytes, t.file_offset_bytes + t.size_bytes };
        if (bad >= of.begin && bad < of.end)
            e = of;
    }
    return e;
}

typedef struct reader {
    const ggld_file *file;
    extent bad; /* nothing that touches it may be read */
    unsigned seed;
    int n_wrong;
} reader;

static void *read_some(void *arg)
{
    reader *r = arg;
    for (int i = 0; i < N_READS; i++) {
        const ggld_tensor *t =
            ggld_tensor_at(r->file, (uint64_t)rand_r(&r->seed) % N_TENSORS);
        ggld_tensor_info info = { .struct_size = sizeof info };
        uint8_t bytes[READ_MAX];
        ggld_tensor_get_info(t, &info);
        uint64_t at = (uint64_t)rand_r(&r->seed) % info.size_bytes;
        uint64_t n = 1 + (uint64_t)rand_r(&r->seed) % READ_MAX;
        n = n < info.size_bytes - at ? n : info.size_bytes - at;
        extent of = { info.file_offset_bytes + at,
                      info.file_offset_bytes + at + n };
        ggld_status got = ggld_tensor_read_bytes(t, at, bytes, (size_t)n, NULL);
        r->n_wrong += got != (overlap(of, r->bad) ? GGLD_E_CHECKSUM : GGLD_OK);
    }
    return NULL;
}

/* ---- all of them ---- */

static void try_one(size_t kind, size_t way, const ggld_manifest *m,
                    uint64_t bad)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier verifier;
    ggld_file *file;
    pthread_t threads[N_THREADS];
    reader readers[N_THREADS];
    int n_wrong = 0;
    MUST(ggld_verifier_from_manifest(&verifier, m, NULL, &err), err);
    options.flags = ways[way].flags;
    options.verifier = &verifier;
    MUST(ggld_open_path(&file, path, &options, &err), err);
    for (unsigned i = 0; i < N_THREADS; i++) {
        reader r = { file, piece_with(file, kind, bad), i + 1, 0 };
        readers[i] = r;
        CHECK(pthread_create(&threads[i], NULL, read_some, &readers[i]) == 0,
              "expected a thread");
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        n_wrong += readers[i].n_wrong;
    }
    CHECK(n_wrong == 0, "%s, %s, byte %llu: expected 0 wrong reads, got %d",
          pieces[kind].name, ways[way].name, (unsigned long long)bad, n_wrong);
    ggld_close(file);
}

static void sweep(size_t kind, uint64_t metadata_bytes, uint64_t file_bytes,
                  uint64_t step)
{
    ggld_manifest *m;
    ggld_hash_options options =
        hash_options(BIT_XXH3, GGLD_SCOPE_METADATA | pieces[kind].scope, path);
    options.chunk_bytes = pieces[kind].chunk_bytes;
    MUST(hash_path(path, &options, &m, &err), err);
    for (uint64_t edge = metadata_bytes; edge < file_bytes; edge += step)
        for (int d = -1; d <= 1; d++) {
            uint64_t bad = edge + (uint64_t)(int64_t)d;
            if (bad < metadata_bytes || bad >= file_bytes)
                continue;
            model_flip(path, bad);
            for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
                try_one(kind, way, m, bad);
            model_flip(path, bad);
        }
    ggld_manifest_free(m);
}

int main(void)
{
    ggld_file *file;
    ggld_file_info info = { .struct_size = sizeof info };
    path = model_path("edges.gguf");
    model_write(path, tensors, N_TENSORS, 0);
    if (ggld_open_path(&file, path, NULL, &err) != GGLD_OK)
        return 1;
    ggld_file_get_info(file, &info);
    ggld_close(file);
    for (size_t kind = 0; kind < sizeof pieces / sizeof pieces[0]; kind++)
        sweep(kind, info.metadata_bytes, info.file_bytes, 32768);
    unlink(path);
    free(path);
    return n_failed == 0 ? 0 : 1;
}
