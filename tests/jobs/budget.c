/* SPDX-License-Identifier: MIT */
/* A stream's budget is kept, whatever the file's byte order, what is asked for,
 * how it is read and who verifies it: of the file's pages in the page cache, and
 * of those in this process, no more than the budget; but a verifier's own reads,
 * and the readahead that the kernel does for them. */
#include "check.h"
#include "memory.h"
#include "model.h"

#include <string.h>

#define BUDGET_BYTES (6u << 20)
/* A worker that is behind the others. */
#define SLACK_BYTES (4u << 20)
#define CELL_BYTES  (1u << 20)

/* ---- verifiers ---- */

/* As one that has digests of cells: reads a whole cell, in the map where there
 * is one, when the first byte of it is wanted. */
typedef struct cells {
    uint64_t file_bytes;
    _Atomic unsigned sum; /* so that reads are not left out */
    _Atomic uint8_t seen[256];
} cells;

static ggld_status look_at(const ggld_file *file, uint64_t at, uint64_t end,
                           cells *c, ggld_error *err)
{
    ggld_backing backing = { sizeof backing };
    uint8_t buffer[4096];
    ggld_file_get_backing(file, &backing);
    for (; at < end; at += sizeof buffer) {
        uint64_t n = end - at < sizeof buffer ? end - at : sizeof buffer;
        if (backing.map != NULL) {
            c->sum += ((const uint8_t *)backing.map)[at];
            continue;
        }
        ggld_status status =
            ggld_file_read_bytes(file, at, buffer, (size_t)n, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

static ggld_status check_cells(void *ctx, const ggld_file *file,
                               uint64_t offset, uint64_t size, ggld_error *err)
{
    cells *c = ctx;
    ggld_status status = GGLD_OK;
    for (uint64_t i = offset / CELL_BYTES;
         i * CELL_BYTES < offset + size && status == GGLD_OK; i++) {
        uint64_t end = (i + 1) * CELL_BYTES;
        if (c->seen[i])
            continue;
        status = look_at(file, i * CELL_BYTES,
                         end < c->file_bytes ? end : c->file_bytes, c, err);
        c->seen[i] = 1;
    }
    return status;
}

/* ---- streams ---- */

typedef struct run {
    outcome end; /* first: done's user */
    const char *path;
    _Atomic uint64_t n_bytes;
    _Atomic unsigned n_chunks;
    uint64_t peak_cache, peak_mapped;
} run;

/* Any worker: in a way that need not be exact. */
static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    run *r = user;
    (void)job;
    r->n_bytes += chunk->size_bytes;
    if (chunk->worker != 0 || r->n_chunks++ % 4 != 0)
        return 0;
    uint64_t cache = memory_cached(r->path);
    uint64_t mapped = memory_mapped(r->path);
    r->peak_cache = cache > r->peak_cache ? cache : r->peak_cache;
    r->peak_mapped = mapped > r->peak_mapped ? mapped : r->peak_mapped;
    return 0;
}

typedef struct variant {
    bool big, verified;
    uint32_t open_flags, io, format, flags;
} variant;

/* What serves: a verifier looks at the map, or what comes by pread. */
static ggld_status expected_of(const variant *v)
{
    uint32_t own = v->open_flags == 0 ? GGLD_IO_MAP : GGLD_IO_PREAD;
    if (v->open_flags != 0 && v->io == GGLD_IO_MAP)
        return GGLD_E_UNSUPPORTED;
    return v->verified && v->io != GGLD_IO_AUTO && v->io != own
               ? GGLD_E_UNSUPPORTED
               : GGLD_OK;
}

static void check_run(const variant *v, const run *r, uint64_t data_bytes,
                      const char *what)
{
    ggld_status expected = expected_of(v);
    uint64_t left = memory_cached(r->path);
    uint64_t slack = SLACK_BYTES;
    if (v->verified)
        slack += 2 * memory_readahead(r->path) + 4 * CELL_BYTES;
    uint64_t most = BUDGET_BYTES + slack;
    if (expected == GGLD_OK && r->end.result.code == GGLD_E_UNSUPPORTED &&
        v->io >= GGLD_IO_DIRECT) {
        printf("left out: %s: %s\n", what, r->end.result.message);
        return;
    }
    outcome_check(&r->end, expected, what);
    if (expected != GGLD_OK) {
        CHECK(!v->verified || v->open_flags != 0 ||
                  strstr(r->end.result.message, "verifier") != NULL,
              "%s: expected the verifier to be named, got: %s", what,
              r->end.result.message);
        return;
    }
    CHECK(r->n_bytes >= data_bytes * 99 / 100,
          "%s: expected %llu bytes, got %llu", what,
          (unsigned long long)data_bytes, (unsigned long long)r->n_bytes);
    CHECK(r->peak_cache <= most,
          "%s: expected at most %llu bytes in the page cache, got %llu", what,
          (unsigned long long)most, (unsigned long long)r->peak_cache);
    CHECK(r->peak_mapped <= most,
          "%s: expected at most %llu bytes mapped, got %llu", what,
          (unsigned long long)most, (unsigned long long)r->peak_mapped);
    CHECK(left <= slack, "%s: expected at most %llu bytes to be left, got %llu",
          what, (unsigned long long)slack, (unsigned long long)left);
}

static void stream(const variant *v, const char *path)
{
    cells c = { .file_bytes = 0 };
    ggld_verifier verifier = {
        sizeof verifier, NULL, check_cells, NULL, &c, NULL
    };
    ggld_open_options open = ggld_open_options_init();
    ggld_stream_options options = ggld_stream_options_init();
    ggld_file_info info = { sizeof info };
    run r = { .path = path };
    ggld_file *file;
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    char what[120];
    snprintf(what, sizeof what, "%s-endian%s, opened %u, io %u, format %u%s",
             v->big ? "big" : "little", v->verified ? ", verified" : "",
             v->open_flags, v->io, v->format, v->flags ? ", on workers" : "");
    open.flags = v->open_flags;
    open.verifier = v->verified ? &verifier : NULL;
    MUST(ggld_open_path(&file, path, &open, &err), err);
    ggld_file_get_info(file, &info);
    CHECK(info.big_endian == v->big && info.verifies_data == v->verified,
          "%s: expected a file that is so", what);
    c.file_bytes = info.file_bytes;
    options.io = v->io;
    options.format = v->format;
    options.flags = v->flags;
    options.max_resident_bytes = BUDGET_BYTES;
    memory_chill(path);
    uv_loop_init(&loop);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options, on_chunk,
                           outcome_done, &r, &err),
         err);
    loop_finish(&loop, what);
    check_run(v, &r, info.data_bytes, what);
    ggld_close(file);
}

static void stream_each(const char *path, bool big)
{
    variant v = { .big = big };
    for (int verified = 0; verified < 2; verified++)
        for (v.io = GGLD_IO_AUTO; v.io <= GGLD_IO_URING; v.io++)
            for (v.format = 0; v.format <= GGLD_STREAM_F16; v.format++)
                for (int way = 0; way < 4; way++) {
                    /* Not mapped, in few ways: nothing else is different. */
                    if (way >= 2 && v.io != GGLD_IO_PREAD)
                        continue;
                    v.verified = verified != 0;
                    v.flags = way % 2 != 0 ? GGLD_STREAM_ON_WORKERS : 0;
                    v.open_flags = way >= 2 ? GGLD_OPEN_PREAD : 0;
                    stream(&v, path);
                }
}

int main(void)
{
    loop_warm_up();
    for (int big = 0; big < 2; big++) {
        char *path = model_write_layers_in(big != 0, 4, 6u << 20);
        stream_each(path, big != 0);
        model_remove(path);
    }
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
