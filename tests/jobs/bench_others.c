/* SPDX-License-Identifier: MIT */
/* The ways that ggld is compared with, as a careful app would write them, and
 * looking at what is in memory. */
#include "bench_io.h"
#include "figures.h"
#include "memory.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <ggld/ggld.h>

#define N_THREADS 4
#define HUGE      ((size_t)2 << 20)

/* ---- threads of pread ---- */

typedef struct reading {
    const bench_file *file;
    int flags;
    bool huge;
    uint64_t unit; /* that a thread takes at a time */
    uint64_t block;
    _Atomic uint64_t next;
    _Atomic bool failed;
} reading;

static void *buffer_of(const reading *r)
{
    void *buffer = NULL;
    if (posix_memalign(&buffer, HUGE, (size_t)r->block) != 0)
        return NULL;
    (void)madvise(buffer, (size_t)r->block,
                  r->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return buffer;
}

static bool read_unit(const reading *r, int fd, void *buffer, uint64_t from)
{
    uint64_t to = from + r->unit;
    to = to < r->file->size_bytes ? to : r->file->size_bytes;
    while (from < to) {
        uint64_t n = to - from < r->block ? to - from : r->block;
        /* Direct reads end at a boundary, or the file's end. */
        n = (n + 4095) / 4096 * 4096;
        ssize_t got = pread(fd, buffer, (size_t)n, (off_t)from);
        if (got <= 0)
            return false;
        from += (uint64_t)got;
    }
    return true;
}

static void *read_some(void *arg)
{
    reading *r = arg;
    int fd = open(r->file->path, O_RDONLY | O_CLOEXEC | r->flags);
    void *buffer = buffer_of(r);
    if (fd < 0 || buffer == NULL)
        r->failed = true;
    while (!r->failed) {
        uint64_t from = atomic_fetch_add(&r->next, r->unit);
        if (from >= r->file->size_bytes)
            break;
        if (!read_unit(r, fd, buffer, from))
            r->failed = true;
    }
    if (fd >= 0)
        close(fd);
    free(buffer);
    return NULL;
}

static double read_in_threads(reading *r)
{
    pthread_t threads[N_THREADS];
    double started = series_clock();
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, read_some, r) != 0)
            abort();
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    return r->failed ? -1 : series_clock() - started;
}

double way_direct(const bench_file *file)
{
    reading r = {
        .file = file, .flags = O_DIRECT, .unit = 1 << 20, .block = 1 << 20
    };
    return read_in_threads(&r);
}

double way_direct_huge(const bench_file *file)
{
    reading r = { .file = file,
                  .flags = O_DIRECT,
                  .huge = true,
                  .unit = 4 << 20,
                  .block = 4 << 20 };
    return read_in_threads(&r);
}

double way_pread_quarters(const bench_file *file)
{
    reading r = { .file = file, .block = 256 << 10 };
    r.unit = (file->size_bytes / N_THREADS + 4095) / 4096 * 4096;
    return read_in_threads(&r);
}

double way_pread_turns(const bench_file *file)
{
    reading r = { .file = file, .unit = 4 << 20, .block = 256 << 10 };
    return read_in_threads(&r);
}

/* ---- values ---- */

typedef struct turning {
    const bench_file *file;
    _Atomic uint64_t next;
} turning;

/* Reads what fits a core's cache, and makes values of it there. The file is of
 * one type but for a few bytes: what they come to does not matter here. */
static void *turn_some(void *arg)
{
    enum { BLOCKS = 7168, UNIT = 18 * BLOCKS * 32, PART = 18 * BLOCKS / 7 };
    turning *t = arg;
    uint8_t *raw = malloc(18 * BLOCKS);
    float *values = malloc(PART / 18 * 32 * sizeof *values);
    int fd = open(t->file->path, O_RDONLY | O_CLOEXEC);
    uint64_t at;
    if (raw == NULL || values == NULL || fd < 0)
        abort();
    while ((at = atomic_fetch_add(&t->next, UNIT)) + UNIT <=
           t->file->size_bytes)
        for (uint64_t end = at + UNIT; at < end; at += 18 * BLOCKS) {
            if (pread(fd, raw, 18 * BLOCKS, (off_t)at) != 18 * BLOCKS)
                abort();
            for (size_t i = 0; i < 18 * BLOCKS; i += PART)
                if (ggld_dequantize_f32(GGLD_TYPE_Q4_0, raw + i, PART, values,
                                        PART / 18 * 32, NULL) != GGLD_OK)
                    abort();
        }
    close(fd);
    free(raw);
    free(values);
    return NULL;
}

double way_values_plain_1(const bench_file *file)
{
    turning t = { file, 0 };
    double started = series_clock();
    turn_some(&t);
    return series_clock() - started;
}

double way_values_plain_2(const bench_file *file)
{
    turning t = { file, 0 };
    pthread_t other;
    double started = series_clock();
    if (pthread_create(&other, NULL, turn_some, &t) != 0)
        abort();
    turn_some(&t);
    pthread_join(other, NULL);
    return series_clock() - started;
}

/* ---- touching a map ---- */

static double touch(const bench_file *file, int advice, uint64_t size)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    volatile uint8_t sum = 0;
    double started = series_clock();
    const uint8_t *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || map == MAP_FAILED)
        return -1;
    (void)madvise((void *)(uintptr_t)map, (size_t)size, advice);
    for (uint64_t i = 0; i < size; i += 4096)
        sum = (uint8_t)(sum + map[i]);
    double took = series_clock() - started;
    munmap((void *)(uintptr_t)map, (size_t)size);
    close(fd);
    return took;
}

double way_touch(const bench_file *file)
{
    return touch(file, MADV_NORMAL, file->size_bytes);
}

double way_touch_random(const bench_file *file)
{
    return 16 * touch(file, MADV_RANDOM, file->size_bytes / 16);
}

/* ---- what is in memory ---- */

#define READAHEAD_KIB 128 /* the kernel's default */

/* 0 where it is not told. */
static unsigned long long readahead_in(const char *name)
{
    unsigned long long kib = 0;
    FILE *f = fopen(name, "r");
    if (f != NULL && fscanf(f, "%llu", &kib) != 1)
        kib = 0;
    if (f != NULL)
        fclose(f);
    return kib;
}

/* Of the disk that the file is on; where that has none of its own, as where
 * one file system lies on another, the most of all. */
static uint64_t readahead_of(const char *path)
{
    char name[64];
    struct stat st;
    unsigned long long most = 0;
    glob_t all;
    if (stat(path, &st) == 0) {
        snprintf(name, sizeof name, "/sys/class/bdi/%u:%u/read_ahead_kb",
                 major(st.st_dev), minor(st.st_dev));
        most = readahead_in(name);
    }
    if (most == 0 &&
        glob("/sys/class/bdi/*/read_ahead_kb", 0, NULL, &all) == 0) {
        for (size_t i = 0; i < all.gl_pathc; i++) {
            unsigned long long kib = readahead_in(all.gl_pathv[i]);
            most = kib > most ? kib : most;
        }
        globfree(&all);
    }
    return (most > READAHEAD_KIB ? most : READAHEAD_KIB) << 10;
}

uint64_t bench_first_row_allowance(const bench_file *file)
{
    return file->metadata_bytes + file->row_bytes +
           2 * readahead_of(file->path);
}

struct bench_watch {
    const bench_file *file;
    pthread_t thread;
    _Atomic bool stop;
    uint64_t peak_bytes;
};

static void *watch_run(void *arg)
{
    bench_watch *w = arg;
    const struct timespec pause = { 0, 20000000 };
    while (!w->stop) {
        uint64_t sum = memory_anon() + memory_cached(w->file->path);
        w->peak_bytes = sum > w->peak_bytes ? sum : w->peak_bytes;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

bench_watch *bench_watch_start(const bench_file *file)
{
    bench_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    w->file = file;
    if (pthread_create(&w->thread, NULL, watch_run, w) != 0)
        abort();
    return w;
}

uint64_t bench_watch_stop(bench_watch *w)
{
    w->stop = true;
    pthread_join(w->thread, NULL);
    uint64_t peak = w->peak_bytes;
    free(w);
    return peak;
}
