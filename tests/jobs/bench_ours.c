/* SPDX-License-Identifier: MIT */
/* The ways of ggld, from open to close, through the public interface. */
#include "bench_io.h"
#include "figures.h"
#include "model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <uv.h>

#include <ggld/async.h>
#include <ggld/ggld.h>

typedef struct run {
    ggld_error result;
    _Atomic uint64_t sum; /* of what chunks hold, so that it is looked at */
} run;

static ggld_file *open_file(const bench_file *file)
{
    ggld_file *opened = NULL;
    ggld_error err;
    if (ggld_open_path(&opened, file->path, NULL, &err) != GGLD_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    return opened;
}

static void on_done(ggld_job *job, const ggld_error *result, void *user)
{
    (void)job;
    ((run *)user)->result = *result;
}

static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    const uint8_t *data = chunk->data;
    (void)job;
    ((run *)user)->sum += data[0];
    return 0;
}

static double finish(run *r, uv_loop_t *loop, double started)
{
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    if (r->result.code == GGLD_OK)
        return series_clock() - started;
    if (r->result.code != GGLD_E_UNSUPPORTED)
        fprintf(stderr, "%s\n", r->result.message);
    return -1;
}

/* ---- prefetch ---- */

static double prefetch(const bench_file *file, uint32_t io)
{
    ggld_prefetch_options options = ggld_prefetch_options_init();
    run r = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    double started = series_clock();
    ggld_file *opened = open_file(file);
    size_t n = (size_t)ggld_tensor_count(opened);
    ggld_view *views = calloc(n + 1, sizeof *views);
    for (size_t i = 0; i < n && views != NULL; i++)
        views[i] = ggld_tensor_view(ggld_tensor_at(opened, i));
    options.io = io;
    uv_loop_init(&loop);
    if (ggld_prefetch_start(&job, &loop, views, n, &options, on_done, &r,
                            &r.result) != GGLD_OK)
        abort();
    ggld_close(opened);
    free(views);
    return finish(&r, &loop, started);
}

double way_prefetch(const bench_file *file)
{
    return prefetch(file, GGLD_IO_AUTO);
}

double way_prefetch_map(const bench_file *file)
{
    return prefetch(file, GGLD_IO_MAP);
}

double way_prefetch_uring(const bench_file *file)
{
    return prefetch(file, GGLD_IO_URING);
}

/* ---- stream ---- */

static double stream(const bench_file *file, const ggld_stream_options *options)
{
    run r = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    double started = series_clock();
    ggld_file *opened = open_file(file);
    uv_loop_init(&loop);
    if (ggld_stream_start(&job, &loop, opened, NULL, 0, options, on_chunk,
                          on_done, &r, &r.result) != GGLD_OK)
        abort();
    ggld_close(opened);
    return finish(&r, &loop, started);
}

static double stream_bytes(const bench_file *file, uint32_t io)
{
    ggld_stream_options options = ggld_stream_options_init();
    options.io = io;
    options.max_resident_bytes = file->budget_bytes;
    return stream(file, &options);
}

double way_stream(const bench_file *file)
{
    return stream_bytes(file, GGLD_IO_AUTO);
}

double way_stream_pread(const bench_file *file)
{
    return stream_bytes(file, GGLD_IO_PREAD);
}

double way_stream_map(const bench_file *file)
{
    return stream_bytes(file, GGLD_IO_MAP);
}

double way_stream_uring(const bench_file *file)
{
    return stream_bytes(file, GGLD_IO_URING);
}

static double stream_values(const bench_file *file, uint32_t n_workers)
{
    ggld_stream_options options = ggld_stream_options_init();
    options.format = GGLD_STREAM_F32;
    options.flags = GGLD_STREAM_ON_WORKERS;
    options.n_parallel = n_workers;
    return stream(file, &options);
}

double way_values_1(const bench_file *file)
{
    return stream_values(file, 1);
}

double way_values_2(const bench_file *file)
{
    return stream_values(file, 2);
}

/* ---- the first row ---- */

static const ggld_tensor *last_tensor(const ggld_file *opened)
{
    return ggld_tensor_at(opened, ggld_tensor_count(opened) - 1);
}

static void look_at(bench_file *file, ggld_file *opened)
{
    ggld_file_info info = { sizeof info };
    ggld_tensor_info tensor = { sizeof tensor };
    ggld_file_get_info(opened, &info);
    ggld_tensor_get_info(last_tensor(opened), &tensor);
    file->size_bytes = info.file_bytes;
    file->metadata_bytes = info.metadata_bytes;
    file->row_offset = tensor.file_offset_bytes;
    file->row_bytes = tensor.size_bytes / tensor.dims[1];
}

void bench_file_look(bench_file *file)
{
    ggld_file *opened = open_file(file);
    look_at(file, opened);
    ggld_close(opened);
}

static double first_row(const bench_file *file)
{
    static float row[1 << 16];
    ggld_view view;
    ggld_error err;
    double started = series_clock();
    ggld_file *opened = open_file(file);
    view = ggld_tensor_view(last_tensor(opened));
    if (ggld_view_index(&view, &view, 0, &err) != GGLD_OK ||
        ggld_view_read_f32(&view, row, 1 << 16, &err) != GGLD_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    double took = series_clock() - started;
    ggld_close(opened);
    return took;
}

static double first_row_pread(const bench_file *file)
{
    static uint8_t buffer[1 << 20];
    uint64_t metadata_bytes = file->metadata_bytes;
    uint64_t row_offset = file->row_offset, row_bytes = file->row_bytes;
    double started = series_clock();
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (uint64_t at = 0; at < metadata_bytes; at += sizeof buffer) {
        uint64_t n = metadata_bytes - at < sizeof buffer ? metadata_bytes - at
                                                         : sizeof buffer;
        if (pread(fd, buffer, (size_t)n, (off_t)at) != (ssize_t)n)
            return -1;
    }
    if (pread(fd, buffer, (size_t)row_bytes, (off_t)row_offset) !=
        (ssize_t)row_bytes)
        return -1;
    double took = series_clock() - started;
    close(fd);
    return took;
}

/* Code and buffers into memory, as they are in an app that runs. */
static double warmed_up(const bench_file *file,
                        double (*way)(const bench_file *file))
{
    char *path = model_write_layers(2, 1 << 20);
    bench_file small = { .path = path };
    bench_file_look(&small);
    (void)way(&small);
    model_remove(path);
    return way(file);
}

double way_first_row(const bench_file *file)
{
    return warmed_up(file, first_row);
}

double way_first_row_pread(const bench_file *file)
{
    return warmed_up(file, first_row_pread);
}
