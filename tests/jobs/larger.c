/* SPDX-License-Identifier: MIT */
/* A model four times as large as the memory that the process may use: streamed
 * in each way, rows gathered at random, dequantised to its end, without being
 * killed. Its data is not zeros, and is checked. */
#include "check.h"
#include "limited.h"
#include "memory.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_BYTES  (64u << 20)
#define BUDGET_BYTES (24u << 20)
/* Of the process itself, and a worker that is behind. With the budget it is less
 * than the group's limit, which the kernel keeps by itself. */
#define SLACK_BYTES (16u << 20)
#define N_TENSORS   8u

typedef struct passed {
    outcome end; /* first: done's user */
    const char *path;
    uint64_t data_offset;
    _Atomic uint64_t n_bytes;
    _Atomic unsigned n_chunks;
    uint64_t peak_bytes; /* of the file in the page cache, and RssAnon */
} passed;

static void look(passed *p)
{
    uint64_t now = memory_cached(p->path) + memory_anon();
    p->peak_bytes = now > p->peak_bytes ? now : p->peak_bytes;
}

static bool is_stored(const passed *p, const ggld_chunk *chunk)
{
    ggld_tensor_info info = { sizeof info };
    const uint8_t *data = chunk->data;
    ggld_tensor_get_info(chunk->tensor, &info);
    uint64_t at = info.file_offset_bytes + chunk->first_byte - p->data_offset;
    for (uint64_t i = 0; i < chunk->size_bytes; i += 509)
        if (data[i] != model_byte(at + i)) {
            CHECK(0, "expected the file's bytes at %llu",
                  (unsigned long long)(at + i));
            return false;
        }
    return true;
}

/* The reference is the buffer kernel, over bytes that are not the file's. */
static bool is_dequantised(const passed *p, const ggld_chunk *chunk)
{
    uint8_t blocks[18];
    float expected[32];
    ggld_tensor_info info = { sizeof info };
    ggld_tensor_get_info(chunk->tensor, &info);
    if (info.type != GGLD_TYPE_Q4_0)
        return true;
    uint64_t at = info.file_offset_bytes + chunk->first_byte - p->data_offset;
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = model_byte(at + i);
    bool good = ggld_dequantize_f32(GGLD_TYPE_Q4_0, blocks, sizeof blocks,
                                    expected, 32, NULL) == GGLD_OK &&
                memcmp(chunk->data, expected, sizeof expected) == 0;
    CHECK(good, "expected the values of the block at %llu",
          (unsigned long long)at);
    return good;
}

/* Also on workers. */
static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    passed *p = user;
    (void)job;
    p->n_bytes += chunk->size_bytes;
    if (chunk->worker == 0 && p->n_chunks++ % 8 == 0)
        look(p);
    return is_stored(p, chunk) ? 0 : 1;
}

static int on_values(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    passed *p = user;
    (void)job;
    p->n_bytes += chunk->size_bytes;
    if (chunk->worker == 0 && p->n_chunks++ % 8 == 0)
        look(p);
    return is_dequantised(p, chunk) ? 0 : 1;
}

static void stream_all(ggld_file *file, uint32_t io, uint32_t format,
                       uint32_t flags)
{
    ggld_file_info info = { sizeof info };
    ggld_stream_options options = ggld_stream_options_init();
    passed p = { .path = ggld_file_path(file) };
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    char what[80];
    snprintf(what, sizeof what, "stream, io %u, format %u%s", io, format,
             flags != 0 ? ", on workers" : "");
    ggld_file_get_info(file, &info);
    p.data_offset = info.metadata_bytes;
    options.io = io;
    options.format = format;
    options.flags = flags;
    options.max_resident_bytes = BUDGET_BYTES;
    uv_loop_init(&loop);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options,
                           format == GGLD_STREAM_BYTES ? on_chunk : on_values,
                           outcome_done, &p, &err),
         err);
    loop_finish(&loop, what);
    if (p.end.result.code == GGLD_E_UNSUPPORTED) {
        printf("left out: %s: %s\n", what, p.end.result.message);
        return;
    }
    outcome_check(&p.end, GGLD_OK, what);
    CHECK(p.n_bytes > 3 * (uint64_t)LIMIT_BYTES,
          "%s: expected all bytes, got %llu", what,
          (unsigned long long)p.n_bytes);
    CHECK(p.peak_bytes > 0 && p.peak_bytes <= BUDGET_BYTES + SLACK_BYTES,
          "%s: expected at most %u bytes of the file and of our own in memory, "
          "got %llu",
          what, BUDGET_BYTES + SLACK_BYTES, (unsigned long long)p.peak_bytes);
}

/* The reference is the buffer kernel, over bytes that are not the file's. */
static void check_row(const ggld_tensor *tensor, uint64_t row, const float *got,
                      uint64_t data_offset)
{
    uint8_t blocks[512 / 32 * 18];
    float expected[512];
    ggld_tensor_info info = { sizeof info };
    ggld_error err;
    ggld_tensor_get_info(tensor, &info);
    uint64_t at = info.file_offset_bytes - data_offset + row * sizeof blocks;
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = model_byte(at + i);
    MUST(ggld_dequantize_f32(GGLD_TYPE_Q4_0, blocks, sizeof blocks, expected,
                             512, &err),
         err);
    CHECK(memcmp(got, expected, sizeof expected) == 0,
          "row %llu: expected its values", (unsigned long long)row);
}

static void gather_rows(ggld_file *file)
{
    ggld_file_info info = { sizeof info };
    uint32_t random = 1;
    float values[4 * 512];
    ggld_error err;
    ggld_file_get_info(file, &info);
    /* Without it each row may bring in megabytes that nobody reads. */
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, i));
        MUST(ggld_view_advise(&view, GGLD_ADVISE_RANDOM, &err), err);
    }
    for (int i = 0; i < 1000; i++) {
        ggld_tensor_info t = { sizeof t };
        uint64_t rows[4];
        random = random * 1664525 + 1013904223;
        const ggld_tensor *tensor =
            ggld_tensor_at(file, 2 * (random >> 8 & (N_TENSORS - 1)) + 1);
        ggld_view view = ggld_tensor_view(tensor);
        ggld_tensor_get_info(tensor, &t);
        for (int k = 0; k < 4; k++) {
            random = random * 1664525 + 1013904223;
            rows[k] = (random >> 4) % t.dims[1];
        }
        MUST(ggld_view_gather_f32(&view, rows, 4, values, 4 * 512, &err), err);
        check_row(tensor, rows[3], values + (size_t)3 * 512,
                  info.metadata_bytes);
    }
}

static void dequantise_all(ggld_file *file)
{
    enum { N = 1 << 16 };
    float *values = malloc(N * sizeof *values);
    ggld_error err;
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_view whole = ggld_tensor_view(ggld_tensor_at(file, i));
        MUST(ggld_view_advise(&whole, GGLD_ADVISE_SEQUENTIAL, &err), err);
        for (uint64_t at = 0; at < whole.n_elems; at += N) {
            uint64_t n = whole.n_elems - at < N ? whole.n_elems - at : N;
            ggld_view part;
            MUST(ggld_view_elems(&part, &whole, at, n, &err), err);
            MUST(ggld_view_read_f32(&part, values, N, &err), err);
        }
    }
    free(values);
}

static int go_through(const void *path)
{
    ggld_file *file = model_open(path, 0);
    for (uint32_t io = GGLD_IO_AUTO; io <= GGLD_IO_URING; io++)
        for (uint32_t format = 0; format <= GGLD_STREAM_F32; format++) {
            stream_all(file, io, format, 0);
            stream_all(file, io, format, GGLD_STREAM_ON_WORKERS);
        }
    gather_rows(file);
    dequantise_all(file);
    ggld_close(file);
    return n_failed != 0;
}

int main(void)
{
    cgroup group;
    uint64_t peak;
    if (!limited_make(&group, LIMIT_BYTES))
        return 77;
    char *path = model_write_layers(N_TENSORS, 4 * LIMIT_BYTES / N_TENSORS);
    memory_chill(path);
    limited_run(&group, go_through, path, &peak);
    CHECK(peak == 0 || peak > BUDGET_BYTES / 2,
          "expected the child's memory to be counted, got %llu bytes",
          (unsigned long long)peak);
    model_remove(path);
    return n_failed != 0;
}
