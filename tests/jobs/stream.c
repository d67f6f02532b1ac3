/* SPDX-License-Identifier: MIT */
/* What streams hand out is what is stored, or what views read: with every
 * engine, on the loop and on workers, in every size, whole and in parts. */
#include "check.h"
#include "model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct seen {
    outcome end; /* first: done's user */
    pthread_mutex_t lock;
    ggld_file *file;
    const ggld_view *views; /* NULL: all tensors */
    uint64_t data_offset;   /* in the file */
    uint64_t last_offset;   /* of the chunk before */
    uint64_t n_bytes, n_elems;
    uint64_t max_bytes;
    bool in_order;
    int busy[16];
    ggld_stream_options options;
} seen;

static void check_bytes(const ggld_chunk *chunk, uint64_t at)
{
    const uint8_t *data = chunk->data;
    for (uint64_t i = 0; i < chunk->size_bytes; i++)
        if (data[i] != model_byte(at + i)) {
            CHECK(0, "byte %llu of the data: expected %02x, got %02x",
                  (unsigned long long)(at + i), model_byte(at + i), data[i]);
            return;
        }
}

static void check_values(const seen *s, const ggld_chunk *chunk)
{
    bool half = s->options.format == GGLD_STREAM_F16;
    size_t size = (size_t)chunk->n_elems * (half ? 2 : 4);
    void *expected = malloc(size + 1);
    ggld_view view = ggld_tensor_view(chunk->tensor);
    ggld_error err = { 0 };
    ggld_status status =
        ggld_view_elems(&view, &view, chunk->first_elem, chunk->n_elems, &err);
    if (status == GGLD_OK)
        status =
            half ? ggld_view_read_f16(&view, expected, chunk->n_elems, &err)
                 : ggld_view_read_f32(&view, expected, chunk->n_elems, &err);
    CHECK(status == GGLD_OK, "view: expected GGLD_OK, got %s", err.message);
    CHECK(memcmp(chunk->data, expected, size) == 0,
          "elements %llu + %llu: expected what the view reads",
          (unsigned long long)chunk->first_elem,
          (unsigned long long)chunk->n_elems);
    free(expected);
}

static void note(seen *s, const ggld_chunk *chunk, uint64_t at)
{
    CHECK(!s->in_order || at >= s->last_offset,
          "expected chunks in order, got %llu after %llu",
          (unsigned long long)at, (unsigned long long)s->last_offset);
    s->last_offset = at;
    s->n_bytes += chunk->size_bytes;
    s->n_elems += chunk->n_elems;
}

static int see(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    seen *s = user;
    ggld_tensor_info info = { sizeof info };
    (void)job;
    ggld_tensor_get_info(chunk->tensor, &info);
    uint64_t at = info.file_offset_bytes + chunk->first_byte - s->data_offset;
    uint64_t size = s->options.format == GGLD_STREAM_BYTES ? chunk->size_bytes
                                                           : chunk->n_elems * 2;
    if (s->max_bytes != 0)
        CHECK(size <= s->max_bytes, "expected at most %llu bytes, got %llu",
              (unsigned long long)s->max_bytes, (unsigned long long)size);
    if (s->views != NULL)
        CHECK(s->views[chunk->view].tensor == chunk->tensor,
              "view %zu: expected its own tensor", chunk->view);
    pthread_mutex_lock(&s->lock);
    CHECK(s->busy[chunk->worker]++ == 0,
          "worker %u: expected one chunk at a time", chunk->worker);
    note(s, chunk, at);
    pthread_mutex_unlock(&s->lock);
    if (s->options.format == GGLD_STREAM_BYTES)
        check_bytes(chunk, at);
    else
        check_values(s, chunk);
    pthread_mutex_lock(&s->lock);
    s->busy[chunk->worker]--;
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static void seen_init(seen *s, ggld_file *file,
                      const ggld_stream_options *options)
{
    ggld_file_info info = { sizeof info };
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    ggld_file_get_info(file, &info);
    s->file = file;
    s->data_offset = info.metadata_bytes;
    s->options = *options;
    s->options.progress = outcome_progress;
    s->in_order = (options->flags & GGLD_STREAM_ON_WORKERS) == 0;
    s->max_bytes = options->chunk_bytes;
}

static void run(seen *s, const ggld_view *views, size_t n_views)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    uv_loop_init(&loop);
    s->views = views;
    MUST(ggld_stream_start(&job, &loop, s->file, views, n_views, &s->options,
                           see, outcome_done, s, &err),
         err);
    loop_finish(&loop, "stream");
}

typedef struct way {
    const char *name;
    uint32_t open_flags;
    uint32_t io;
    bool optional; /* not every system has it */
} way;

static const way ways[] = {
    { "auto", 0, GGLD_IO_AUTO, false },
    { "map", 0, GGLD_IO_MAP, false },
    { "pread", 0, GGLD_IO_PREAD, false },
    { "direct", 0, GGLD_IO_DIRECT, true },
    { "uring", 0, GGLD_IO_URING, true },
    { "auto, file not mapped", GGLD_OPEN_PREAD, GGLD_IO_AUTO, false },
    { "auto, private copy", GGLD_OPEN_COPY, GGLD_IO_AUTO, false },
};

static const struct size {
    uint64_t budget, chunk;
    uint32_t n_parallel;
} sizes[] = {
    { 0, 0, 0 },       { 0, 4096, 3 },   { 0, 100000, 16 },
    { 1 << 20, 0, 0 }, { 200000, 0, 1 }, { 1 << 20, 65536, 2 },
};

static void check_all(ggld_file *file, const way *w, uint32_t format,
                      uint32_t flags, const struct size *size)
{
    ggld_stream_options options = ggld_stream_options_init();
    uint64_t expected = 0;
    char what[160];
    seen s;
    options.io = w->io;
    options.format = format;
    options.flags = flags;
    options.max_resident_bytes = size->budget;
    options.chunk_bytes = size->chunk;
    options.n_parallel = size->n_parallel;
    snprintf(what, sizeof what,
             "%s, format %u, flags %u, budget %llu, chunk "
             "%llu",
             w->name, format, flags, (unsigned long long)size->budget,
             (unsigned long long)size->chunk);
    seen_init(&s, file, &options);
    run(&s, NULL, 0);
    if (w->optional && s.end.result.code == GGLD_E_UNSUPPORTED) {
        printf("left out: %s: %s\n", what, s.end.result.message);
        return;
    }
    outcome_check(&s.end, GGLD_OK, what);
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_tensor_info info = { sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(file, i), &info);
        expected += info.size_bytes;
    }
    CHECK(s.n_bytes == expected, "%s: expected %llu bytes, got %llu", what,
          (unsigned long long)expected, (unsigned long long)s.n_bytes);
    CHECK(s.end.done_bytes == expected && s.end.total_bytes == expected,
          "%s: expected progress to end at %llu, got %llu of %llu", what,
          (unsigned long long)expected, (unsigned long long)s.end.done_bytes,
          (unsigned long long)s.end.total_bytes);
}

static void test_all_tensors(const char *path)
{
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        ggld_file *file = model_open(path, ways[w].open_flags);
        for (uint32_t format = 0; format <= GGLD_STREAM_F16; format++)
            for (uint32_t flags = 0; flags <= GGLD_STREAM_ON_WORKERS; flags++)
                for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
                    check_all(file, &ways[w], format, flags, &sizes[i]);
        ggld_close(file);
    }
}

/* Parts of tensors, out of order, overlapping, and one twice. */
static void test_views(const char *path)
{
    ggld_file *file = model_open(path, 0);
    ggld_view t3 = ggld_tensor_view(ggld_tensor_at(file, 3));
    ggld_view t1 = ggld_tensor_view(ggld_tensor_at(file, 1));
    ggld_view t0 = ggld_tensor_view(ggld_tensor_at(file, 0));
    ggld_view views[6] = { t3, t1, t0, t1, t3, t0 };
    ggld_error err;
    MUST(ggld_view_elems(&views[0], &t3, 5, 1001, &err), err);
    MUST(ggld_view_elems(&views[1], &t1, 31, 2, &err), err);
    MUST(ggld_view_rows(&views[3], &t1, 1, 3, &err), err);
    MUST(ggld_view_elems(&views[5], &t0, 7, 0, &err), err);
    uint64_t expected = 0;
    for (size_t i = 0; i < 6; i++)
        expected += views[i].n_elems;

    for (uint32_t format = GGLD_STREAM_F32; format <= GGLD_STREAM_F16; format++)
        for (uint32_t flags = 0; flags <= GGLD_STREAM_ON_WORKERS; flags++) {
            ggld_stream_options options = ggld_stream_options_init();
            seen s;
            options.format = format;
            options.flags = flags;
            options.chunk_bytes = 8192;
            seen_init(&s, file, &options);
            run(&s, views, 6);
            outcome_check(&s.end, GGLD_OK, "views");
            CHECK(s.n_elems == expected,
                  "views: expected %llu values, got "
                  "%llu",
                  (unsigned long long)expected, (unsigned long long)s.n_elems);
        }
    ggld_close(file);
}

int main(void)
{
    model_tensor tensors[] = {
        { GGLD_TYPE_F32, 1, 300 },    { GGLD_TYPE_Q4_0, 700, 1024 },
        { GGLD_TYPE_Q6_K, 31, 256 },  { GGLD_TYPE_Q8_0, 333, 32 },
        { GGLD_TYPE_F16, 0, 64 },     { GGLD_TYPE_BF16, 100, 33 },
        { GGLD_TYPE_F64, 4100, 1 },   { GGLD_TYPE_I8, 1, 1 },
        { GGLD_TYPE_IQ2_S, 77, 512 },
    };
    loop_warm_up();
    int fds = count_fds();
    for (int big = 0; big < 2; big++) {
        char *path = model_write_in(big != 0, tensors,
                                    sizeof tensors / sizeof tensors[0]);
        test_all_tensors(path);
        test_views(path);
        model_remove(path);
    }
    CHECK(count_fds() == fds, "descriptors: expected %d, got %d", fds,
          count_fds());
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
