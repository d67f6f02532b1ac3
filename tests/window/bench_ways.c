/* SPDX-License-Identifier: MIT */
/* Ways to put a chunk in place: copied, shown through a second map, or moved.
 * 512 MiB of floats of q4_0 blocks that are in memory, touched in order by one
 * thread and filled by one other, nothing ahead. */
#include "bench_window.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_MINOR_SHMEM
#define UFFD_FEATURE_MINOR_SHMEM (1 << 10)
#endif
#ifndef UFFDIO_REGISTER_MODE_MINOR
#define UFFDIO_REGISTER_MODE_MINOR ((__u64)1 << 2)
#endif
#ifndef UFFDIO_CONTINUE
struct uffdio_continue {
    struct uffdio_range range;
    __u64 mode;
    __s64 mapped;
};
#define UFFDIO_CONTINUE _IOWR(UFFDIO, 0x07, struct uffdio_continue)
#endif
#ifndef UFFDIO_MOVE /* Linux 6.8 */
struct uffdio_move {
    __u64 dst, src, len, mode;
    __s64 move;
};
#define UFFDIO_MOVE       _IOWR(UFFDIO, 0x05, struct uffdio_move)
#define UFFD_FEATURE_MOVE (1 << 16)
#endif

#define SIZE ((size_t)512 << 20)

typedef enum way { COPY, CONTINUE, MOVE } way;

typedef struct filling {
    way way;
    size_t chunk;
    int fd, memory; /* userfaultfd; a memfd, of CONTINUE */
    char *data;     /* that is touched */
    char *source;   /* that chunks are made in: one, or as large as data */
    const uint8_t *blocks;
    double made, placed; /* seconds, in all */
    int failed;          /* an errno */
} filling;

static int place(filling *f, size_t at, char *from)
{
    struct uffdio_range range = { (uintptr_t)f->data + at, f->chunk };
    struct uffdio_copy copy = { .dst = range.start,
                                .src = (uintptr_t)from,
                                .len = f->chunk };
    struct uffdio_continue shown = { .range = range };
    struct uffdio_move move = { .dst = range.start,
                                .src = (uintptr_t)from,
                                .len = f->chunk };
    int rc = f->way == COPY       ? ioctl(f->fd, UFFDIO_COPY, &copy)
             : f->way == CONTINUE ? ioctl(f->fd, UFFDIO_CONTINUE, &shown)
                                  : ioctl(f->fd, UFFDIO_MOVE, &move);
    return rc == 0 ? 0 : errno;
}

static void *serve(void *arg)
{
    filling *f = arg;
    const uint64_t elems = f->chunk / sizeof(float);
    const size_t bytes = (size_t)elems / 32 * 18;
    for (size_t n = 0; n < SIZE / f->chunk && f->failed == 0; n++) {
        struct uffd_msg message;
        if (read(f->fd, &message, sizeof message) != sizeof message) {
            f->failed = errno;
            break;
        }
        size_t at =
            (size_t)(message.arg.pagefault.address - (uintptr_t)f->data) /
            f->chunk * f->chunk;
        char *to = f->source + (f->way == COPY ? 0 : at);
        double began = series_clock();
        ggld_error err;
        must(ggld_dequantize_f32(GGLD_TYPE_Q4_0,
                                 f->blocks + at / f->chunk * bytes, bytes,
                                 (float *)(void *)to, elems, &err),
             &err);
        double was_made = series_clock();
        f->failed = place(f, at, to);
        f->made += was_made - began;
        f->placed += series_clock() - was_made;
    }
    /* Who waits would wait for ever. */
    if (f->failed != 0) {
        struct uffdio_range all = { (uintptr_t)f->data, SIZE };
        (void)ioctl(f->fd, UFFDIO_UNREGISTER, &all);
    }
    return NULL;
}

static char *map_some(size_t size, int memory)
{
    int flags = memory < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, memory, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    /* Small pages, as a chunk's are. */
    (void)madvise(p, size, MADV_NOHUGEPAGE);
    return p;
}

/* false: this kernel has no such way. */
static bool begin(filling *f)
{
    struct uffdio_api api = { .api = UFFD_API };
    api.features = f->way == CONTINUE ? UFFD_FEATURE_MINOR_SHMEM
                   : f->way == MOVE   ? UFFD_FEATURE_MOVE
                                      : 0;
    f->memory = f->way == CONTINUE ? memfd_create("ways", MFD_CLOEXEC) : -1;
    if (f->way == CONTINUE &&
        (f->memory < 0 || ftruncate(f->memory, SIZE) != 0))
        return false;
    f->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (f->fd < 0 || ioctl(f->fd, UFFDIO_API, &api) != 0)
        return false;
    f->data = map_some(SIZE, f->memory);
    f->source = map_some(f->way == COPY ? f->chunk : SIZE, f->memory);
    struct uffdio_register r = { .range = { (uintptr_t)f->data, SIZE },
                                 .mode = UFFDIO_REGISTER_MODE_MISSING };
    if (f->way == CONTINUE)
        r.mode |= UFFDIO_REGISTER_MODE_MINOR;
    return ioctl(f->fd, UFFDIO_REGISTER, &r) == 0;
}

static void end(filling *f)
{
    if (f->data != NULL)
        munmap(f->data, SIZE);
    if (f->source != NULL)
        munmap(f->source, f->way == COPY ? f->chunk : SIZE);
    if (f->fd >= 0)
        close(f->fd);
    if (f->memory >= 0)
        close(f->memory);
}

/* Seconds, or less than 0 where the way is not there. */
static double fill_in_order(filling *f)
{
    pthread_t thread;
    if (!begin(f) || pthread_create(&thread, NULL, serve, f) != 0) {
        end(f);
        return -1;
    }
    double seconds =
        sum_seconds((const float *)(const void *)f->data, SIZE / sizeof(float));
    pthread_join(thread, NULL);
    end(f);
    return f->failed == 0 ? seconds : -1;
}

static const figures_column columns[] = {
    { "gb_s", "GB/s", 2 },
    { "dequantise_us", "dequantise, µs", 0 },
    { "place_us", "put in place, µs", 0 },
};

typedef struct ways_row {
    const char *name;
    way way;
    size_t chunk_kib;
} ways_row;

static const ways_row rows[] = {
    { "UFFDIO_COPY out of a buffer, 64 KiB", COPY, 64 },
    { "256 KiB", COPY, 256 },
    { "1 MiB", COPY, 1024 },
    { "UFFDIO_CONTINUE, through a second map of a memfd, 64 KiB", CONTINUE,
      64 },
    { "256 KiB", CONTINUE, 256 },
    { "1 MiB", CONTINUE, 1024 },
    { "UFFDIO_MOVE out of fresh memory, 64 KiB", MOVE, 64 },
    { "256 KiB", MOVE, 256 },
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static uint8_t *make_blocks(void)
{
    size_t n = SIZE / sizeof(float) / 32 * 18;
    uint8_t *blocks = malloc(n);
    if (blocks == NULL)
        exit(1);
    for (size_t i = 0; i < n; i++)
        blocks[i] = i % 18 == 1 ? 0x3C : (uint8_t)(i * 2654435761u >> 24);
    return blocks;
}

void bench_ways(const bench *b)
{
    uint8_t *blocks = make_blocks();
    series seconds[N_ROWS] = { { .n = 0 } };
    series made[N_ROWS] = { { .n = 0 } }, placed[N_ROWS] = { { .n = 0 } };
    for (int round = 0; round < b->n_rounds; round++)
        for (size_t i = 0; i < N_ROWS; i++) {
            filling f = { .way = rows[i].way,
                          .chunk = rows[i].chunk_kib << 10,
                          .fd = -1,
                          .memory = -1,
                          .blocks = blocks };
            double took = fill_in_order(&f);
            size_t n_chunks = SIZE / f.chunk;
            double n = (double)n_chunks;
            series_add(&seconds[i], took);
            series_add(&made[i], took < 0 ? -1 : f.made / n);
            series_add(&placed[i], took < 0 ? -1 : f.placed / n);
        }
    free(blocks);
    figures_table(b->out, "ways",
                  "ways to put chunks in place: 512 MiB in order, one filler, "
                  "nothing ahead",
                  "way", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < N_ROWS; i++) {
        double cells[] = { (double)SIZE / 1e9 / series_median(&seconds[i]),
                           series_median(&made[i]) * 1e6,
                           series_median(&placed[i]) * 1e6 };
        figures_row(b->out, rows[i].name, cells);
    }
    figures_table_end(b->out);
}
