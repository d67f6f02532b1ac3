/* SPDX-License-Identifier: MIT */
/* A file that becomes shorter while a job goes through it: the same error with
 * every engine, format and byte order, wherever the cut is; never zeros. */
#include "check.h"
#include "model.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct cutter {
    outcome end;
    const char *path;
    uint64_t cut_at;
    int n_chunks;
} cutter;

static int cut_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    cutter *c = user;
    (void)job, (void)chunk;
    if (c->n_chunks++ == 0)
        CHECK(truncate(c->path, (off_t)c->cut_at) == 0, "truncate: %s",
              strerror(errno));
    return 0;
}

static void check_cut(const cutter *c, uint64_t had, const char *what)
{
    char numbers[80];
    outcome_check(&c->end, GGLD_E_TRUNCATED, what);
    snprintf(numbers, sizeof numbers, "it has %llu bytes now, and had %llu",
             (unsigned long long)c->cut_at, (unsigned long long)had);
    CHECK(strstr(c->end.result.message, numbers) != NULL,
          "%s: expected '%s', got: %s", what, numbers, c->end.result.message);
    CHECK(c->end.result.section == GGLD_IN_TENSOR_DATA &&
              c->end.result.offset == c->cut_at,
          "%s: expected the offset of the cut, got %llu", what,
          (unsigned long long)c->end.result.offset);
}

typedef struct cut {
    bool big;
    uint32_t io, format, flags;
    bool in_last_page;
} cut;

static void cut_name(const cut *way, const char *what, char *out, size_t size)
{
    snprintf(out, size, "cut %s%s, io %u, format %u%s%s", what,
             way->in_last_page ? " in its last page" : "", way->io, way->format,
             way->big ? ", big-endian" : "", way->flags ? ", on workers" : "");
}

static uint64_t cut_place(const cut *way, const ggld_file *file)
{
    ggld_file_info info = { sizeof info };
    ggld_file_get_info(file, &info);
    /* Behind what slots have read when the first chunk comes. */
    return way->in_last_page ? info.file_bytes - 65 : info.file_bytes / 2 + 1;
}

static void check_cut_end(const cutter *c, const ggld_file *file,
                          const char *what)
{
    ggld_file_info info = { sizeof info };
    ggld_file_get_info(file, &info);
    if (c->end.result.code == GGLD_E_UNSUPPORTED)
        printf("left out: %s: %s\n", what, c->end.result.message);
    else
        check_cut(c, info.file_bytes, what);
}

static void cut_stream(const cut *way)
{
    char *made = model_write_layers_in(way->big, 3, 3000000);
    ggld_file *file = model_open(made, 0);
    ggld_stream_options options = ggld_stream_options_init();
    cutter c = { .path = made, .cut_at = cut_place(way, file) };
    char what[120];
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    options.io = way->io;
    options.format = way->format;
    options.flags = way->flags;
    options.chunk_bytes = 300000;
    options.n_parallel = way->flags != 0 ? 1 : 2;
    uv_loop_init(&loop);
    cut_name(way, "while streaming", what, sizeof what);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, &options, cut_chunk,
                           outcome_done, &c, &err),
         err);
    loop_finish(&loop, what);
    check_cut_end(&c, file, what);
    ggld_close(file);
    model_remove(made);
}

/* One chunk at a time: the first one's report comes before the second. */
static void cut_progress(ggld_job *job, uint64_t done_bytes,
                         uint64_t total_bytes, void *user)
{
    (void)done_bytes, (void)total_bytes;
    cut_chunk(job, NULL, user);
}

static void cut_prefetch(const cut *way, bool midway)
{
    char *made = model_write_layers(2, 3000000);
    ggld_file *file = model_open(made, 0);
    ggld_prefetch_options options = ggld_prefetch_options_init();
    cutter c = { .path = made, .cut_at = cut_place(way, file) };
    ggld_view views[4];
    char what[120];
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    options.io = way->io;
    options.chunk_bytes = 300000;
    options.n_parallel = 1;
    options.progress = midway ? cut_progress : NULL;
    uv_loop_init(&loop);
    cut_name(way, midway ? "while warming" : "before warming", what,
             sizeof what);
    for (size_t i = 0; i < 4; i++)
        views[i] = ggld_tensor_view(ggld_tensor_at(file, i));
    if (!midway)
        cut_chunk(NULL, NULL, &c);
    MUST(ggld_prefetch_start(&job, &loop, views, 4, &options, outcome_done, &c,
                             &err),
         err);
    loop_finish(&loop, what);
    check_cut_end(&c, file, what);
    ggld_close(file);
    model_remove(made);
}

static void test_streams(void)
{
    cut way = { .io = 0 };
    for (int i = 0; i < 8; i++) {
        way.big = (i & 1) != 0;
        way.in_last_page = (i & 2) != 0;
        way.flags = (i & 4) != 0 ? GGLD_STREAM_ON_WORKERS : 0;
        for (way.io = GGLD_IO_AUTO; way.io <= GGLD_IO_URING; way.io++)
            for (way.format = 0; way.format <= GGLD_STREAM_F16; way.format++)
                cut_stream(&way);
    }
}

static void test_prefetches(void)
{
    cut way = { .io = 0 };
    for (int i = 0; i < 4; i++)
        for (way.io = GGLD_IO_AUTO; way.io <= GGLD_IO_URING; way.io++) {
            way.in_last_page = (i & 1) != 0;
            if (way.io != GGLD_IO_DIRECT)
                cut_prefetch(&way, (i & 2) != 0);
        }
}

int main(void)
{
    loop_warm_up();
    int fds = count_fds();
    test_streams();
    test_prefetches();
    CHECK(count_fds() == fds, "descriptors: expected %d, got %d", fds,
          count_fds());
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
