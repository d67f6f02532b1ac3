/* SPDX-License-Identifier: MIT */
/* Time and heap of opening one file: ggld, ggml, and a bare walk that follows
 * the lengths through the same map and checks nothing, as the floor. Then ggld
 * alone on files with the same metadata and much more data, which must not
 * matter. The file is version 2 or 3, little-endian, and one that opens. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "peer.h"
#include "race.h"

typedef struct open_job {
    const char *path;
    const ggml_api *ggml;
    ggld_file *file;
    gguf_context *gguf;
    void *map;
    size_t map_bytes;
    uint64_t walked; /* what the walk found: keeps it from being dropped */
} open_job;

static void open_ours(void *ctx)
{
    open_job *j = ctx;
    if (ggld_open_path(&j->file, j->path, NULL, NULL) != GGLD_OK)
        abort();
}

static void close_ours(void *ctx)
{
    ggld_close(((open_job *)ctx)->file);
}

static void open_theirs(void *ctx)
{
    open_job *j = ctx;
    const gguf_params metadata_only = { true, NULL };
    j->gguf = j->ggml->open_file(j->path, metadata_only);
    if (j->gguf == NULL)
        abort();
}

static void close_theirs(void *ctx)
{
    open_job *j = ctx;
    j->ggml->close(j->gguf);
}

/* ---- the bare walk ---- */

static uint64_t take(const uint8_t **p, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, *p, width);
    *p += width;
    return value;
}

static void pass_string(const uint8_t **p)
{
    uint64_t len = take(p, 8);
    *p += len;
}

static void pass_value(const uint8_t **p, uint64_t type)
{
    static const uint8_t width[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

    if (type == GGLD_VALUE_STRING) {
        pass_string(p);
    } else if (type != GGLD_VALUE_ARRAY) {
        *p += width[type];
    } else {
        uint64_t elem_type = take(p, 4);
        uint64_t n = take(p, 8);
        if (elem_type == GGLD_VALUE_STRING)
            for (uint64_t i = 0; i < n; i++)
                pass_string(p);
        else
            *p += n * width[elem_type];
    }
}

static uint64_t walk_metadata(const uint8_t *start)
{
    const uint8_t *p = start + 8;
    uint64_t n_tensors = take(&p, 8);
    uint64_t n_kv = take(&p, 8);

    for (uint64_t i = 0; i < n_kv; i++) {
        uint64_t len = take(&p, 8);
        p += len;
        uint64_t type = take(&p, 4);
        pass_value(&p, type);
    }
    for (uint64_t i = 0; i < n_tensors; i++) {
        uint64_t len = take(&p, 8);
        p += len;
        uint64_t n_dims = take(&p, 4);
        p += 8 * n_dims + 4 + 8;
    }
    return (uint64_t)(p - start);
}

static void open_walk(void *ctx)
{
    open_job *j = ctx;
    struct stat st;
    int fd = open(j->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) != 0)
        abort();
    j->map_bytes = (size_t)st.st_size;
    j->map = mmap(NULL, j->map_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (j->map == MAP_FAILED)
        abort();
    close(fd);
    j->walked += walk_metadata(j->map);
}

static void close_walk(void *ctx)
{
    open_job *j = ctx;
    munmap(j->map, j->map_bytes);
}

/* ---- the same metadata before much data ---- */

static void put(FILE *f, uint64_t value, size_t width)
{
    fwrite(&value, 1, width, f); /* of a little-endian machine */
}

/* As many tensors of the same names, bytes each, data_bytes in all. */
static void put_table(FILE *f, const ggld_file *model, uint64_t data_bytes)
{
    uint64_t n = ggld_tensor_count(model);
    uint64_t each = data_bytes / n / 4096 * 4096;

    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(model, i), &info);
        put(f, info.name.len, 8);
        fwrite(info.name.data, 1, (size_t)info.name.len, f);
        put(f, 1, 4);
        put(f, each, 8);
        put(f, GGLD_TYPE_I8, 4);
        put(f, i * each, 8);
    }
}

static bool make_large(const char *path, const char *model_path,
                       const ggld_file *model, uint64_t data_bytes)
{
    uint64_t n_kv = ggld_kv_count(model);
    if (n_kv == 0 || ggld_tensor_count(model) == 0)
        return false;
    ggld_raw_value last = ggld_kv_raw(ggld_kv_at(model, n_kv - 1));
    size_t head = (size_t)(last.file_offset_bytes + last.bytes.len);
    char *bytes = peer_alloc(head);
    FILE *in = fopen(model_path, "rb");
    FILE *out = fopen(path, "wb");
    bool ok = in != NULL && out != NULL && fread(bytes, 1, head, in) == head &&
              fwrite(bytes, 1, head, out) == head;

    if (ok) {
        put_table(out, model, data_bytes);
        off_t end = ftello(out) + (off_t)data_bytes;
        ok = fflush(out) == 0 && ftruncate(fileno(out), end + 4096) == 0;
    }
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        fclose(out);
    free(bytes);
    return ok;
}

/* ---- figures ---- */

static size_t heap_now(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void print_time(bool json, const char *what, double ms, double of_walk)
{
    printf(json ? "{\"bench\":\"open\",\"what\":\"%s\",\"ms\":%.4f,"
                  "\"of_walk\":%.3f}\n"
                : "| %-40s | %8.3f | %7.2f |\n",
           what, ms, of_walk);
}

static void print_heap(bool json, const char *who, size_t heap,
                       uint64_t records)
{
    printf(json ? "{\"bench\":\"open-heap\",\"what\":\"%s\",\"bytes\":%zu,"
                  "\"records\":%llu}\n"
                : "Heap that open takes, %s: %zu bytes for %llu records\n\n",
           who, heap, (unsigned long long)records);
}

static void print_heaps(open_job *j, bool json)
{
    size_t before = heap_now();
    open_ours(j);
    uint64_t records = ggld_kv_count(j->file) + ggld_tensor_count(j->file);
    print_heap(json, "ggld", heap_now() - before, records);
    close_ours(j);
    before = heap_now();
    open_theirs(j);
    print_heap(json, "ggml", heap_now() - before, records);
    close_theirs(j);
}

static void bench_large(open_job *model, const bench_options *options)
{
    static const struct {
        const char *what;
        uint64_t bytes;
    } sizes[] = { { "ggld, the same with 1 GB of data", 1000000000 },
                  { "ggld, the same with 400 GB of data", 400000000000 } };
    char path[] = "/tmp/ggld-bench-XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0)
        return;
    close(fd);
    open_ours(model);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        open_job j = { .path = path };
        contender c[] = { { open_ours, close_ours, &j, 0 },
                          { open_walk, close_walk, &j, 0 } };
        if (!make_large(path, model->path, model->file, sizes[i].bytes)) {
            fprintf(stderr,
                    "peer: %s: not measured: the model has no records, or "
                    "there is no room in /tmp\n",
                    sizes[i].what);
            continue;
        }
        race(c, 2);
        print_time(options->json, sizes[i].what, c[0].seconds * 1e3,
                   c[0].seconds / c[1].seconds);
    }
    close_ours(model);
    unlink(path);
}

bool bench_open(const ggml_api *ggml, const bench_options *options)
{
    open_job j = { .path = options->file, .ggml = ggml };
    contender c[] = {
        { open_ours, close_ours, &j, 0 },
        { open_walk, close_walk, &j, 0 },
        { open_theirs, close_theirs, &j, 0 },
    };
    ggld_error err;

    if (ggld_open_path(&j.file, j.path, NULL, &err) != GGLD_OK) {
        fprintf(stderr, "peer: %s: %s\n", j.path, err.message);
        return false;
    }
    ggld_close(j.file);
    race(c, 3);
    double walk = c[1].seconds;
    if (!options->json)
        puts("\n### Open\n\n"
             "| what                                     |       ms | of walk "
             "|\n"
             "| ---------------------------------------- | -------: | ------: "
             "|");
    print_time(options->json, "bare walk over the same strings", walk * 1e3, 1);
    print_time(options->json, "ggld_open_path", c[0].seconds * 1e3,
               c[0].seconds / walk);
    print_time(options->json, "ggml, gguf_init_from_file(no_alloc)",
               c[2].seconds * 1e3, c[2].seconds / walk);
    bench_large(&j, options);
    if (!options->json)
        printf("\nggml takes %.0f times as long as ggld.\n\n",
               c[2].seconds / c[0].seconds);
    print_heaps(&j, options->json);
    return true;
}
