/* SPDX-License-Identifier: MIT */
/* Single elements of a tensor of 4 GiB, each of another chunk: what a touch
 * costs, with room for all and where each drops another, beside dequantising the
 * chunk and a fault; and what a window within a budget takes in memory. */
#include "bench_window.h"

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

#define N_RANDOM 1000u /* chunks */
#define N_FAULTS 1000u
#define BUDGET   ((uint64_t)256 << 20)
/* What a window has where it is not told. */
#define DEFAULT_CHUNK ((uint64_t)32 << 10)
/* The table of chunks, stacks, the C library's buffers. */
#define OTHER_BYTES ((uint64_t)2 << 20)

/* ---- one fault, with nothing to dequantise ---- */

typedef struct server {
    int fd;
    size_t page;
    char *source;
} server;

static void *serve(void *arg)
{
    server *s = arg;
    for (unsigned i = 0; i < N_FAULTS; i++) {
        struct uffd_msg message;
        if (read(s->fd, &message, sizeof message) != sizeof message)
            break;
        struct uffdio_copy copy = { .dst = message.arg.pagefault.address,
                                    .src = (uintptr_t)s->source,
                                    .len = s->page };
        if (ioctl(s->fd, UFFDIO_COPY, &copy) != 0)
            perror("UFFDIO_COPY");
    }
    return NULL;
}

/* Seconds for one: a page, from touch to touch. */
static double fault_seconds(void)
{
    server s = { .page = (size_t)sysconf(_SC_PAGESIZE) };
    /* As far from each other as the chunks that are touched at random: page
     * tables are part of it. */
    size_t size = (size_t)1 << 32, step = size / N_FAULTS / s.page * s.page;
    struct uffdio_api api = { .api = UFFD_API };
    pthread_t thread;
    char *memory = (char *)map_floats(size / sizeof(float));
    s.source = (char *)map_floats(s.page / sizeof(float));
    s.source[0] = 1;
    s.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_register r = { .range = { (uintptr_t)memory, size },
                                 .mode = UFFDIO_REGISTER_MODE_MISSING };
    if (s.fd < 0 || ioctl(s.fd, UFFDIO_API, &api) != 0 ||
        ioctl(s.fd, UFFDIO_REGISTER, &r) != 0 ||
        pthread_create(&thread, NULL, serve, &s) != 0) {
        perror("userfaultfd");
        exit(1);
    }
    double began = series_clock();
    for (unsigned i = 0; i < N_FAULTS; i++) {
        volatile char c = memory[i * 7919u % N_FAULTS * step];
        (void)c;
    }
    double seconds = (series_clock() - began) / N_FAULTS;
    pthread_join(thread, NULL);
    close(s.fd);
    munmap(memory, size);
    munmap(s.source, s.page);
    return seconds;
}

/* ---- at random ---- */

/* A chunk's number, each another: the step and the count have no common
 * divisor. */
static uint64_t chunk_number(uint64_t i, uint64_t n)
{
    return i * 7919 % n;
}

/* Touches numbers [from, to) of the order: seconds of one. */
static double touch_some(const float *data, uint64_t elems, uint64_t n,
                         uint64_t from, uint64_t to)
{
    double began = series_clock();
    for (uint64_t i = from; i < to; i++) {
        volatile float value =
            data[chunk_number(i, n) * elems + i * 31 % elems];
        (void)value;
    }
    return (series_clock() - began) / (double)(to - from);
}

static double touch_seconds(const ggld_view *v, uint64_t chunk,
                            uint32_t n_threads)
{
    ggld_window *w = bench_open(v, chunk, (uint64_t)1 << 30, 0, n_threads);
    uint64_t elems = chunk / sizeof(float), n = v->n_elems / elems;
    double seconds = touch_some(ggld_window_data(w), elems, n, 0, N_RANDOM);
    ggld_window_close(w);
    return seconds;
}

/* A budget of a tenth is used up first, at random, so that each chunk that is
 * measured drops another. */
static double touch_full_seconds(const ggld_view *v, uint64_t chunk)
{
    ggld_window_counts before = { sizeof before }, c = { sizeof c };
    ggld_window *w = bench_open(v, chunk, v->n_elems * 4 / 10, 0, 0);
    uint64_t elems = chunk / sizeof(float), n = v->n_elems / elems;
    const float *data = ggld_window_data(w);
    ggld_window_stats(w, &before);
    uint64_t held = before.max_resident_bytes / before.chunk_bytes;
    (void)touch_some(data, elems, n, 0, held + 1);
    ggld_window_stats(w, &before);
    double seconds = touch_some(data, elems, n, held + 1, held + 1 + N_RANDOM);
    ggld_window_stats(w, &c);
    if (c.n_dropped - before.n_dropped < N_RANDOM) {
        fprintf(stderr, "bench_window: expected a chunk dropped for each\n");
        exit(1);
    }
    ggld_window_close(w);
    return seconds;
}

/* The same chunks: into one buffer that is in the cache, or each into memory
 * that is not there yet. */
static double read_seconds(const ggld_view *v, uint64_t chunk, bool fresh)
{
    uint64_t elems = chunk / sizeof(float), n = v->n_elems / elems;
    uint64_t room = fresh ? elems * N_RANDOM : elems;
    float *buffer = map_floats(room);
    ggld_error err;
    if (!fresh)
        memset(buffer, 1, room * sizeof *buffer);
    double began = series_clock();
    for (uint64_t i = 0; i < N_RANDOM; i++) {
        ggld_view part;
        must(ggld_view_elems(&part, v, chunk_number(i, n) * elems, elems, &err),
             &err);
        must(ggld_view_read_f32(&part, buffer + (fresh ? i * elems : 0), elems,
                                &err),
             &err);
    }
    double seconds = (series_clock() - began) / N_RANDOM;
    munmap(buffer, room * sizeof *buffer);
    return seconds;
}

static const figures_column random_columns[] = {
    { "order_of_buffer", "in order, of the buffer", 2 },
    { "touch_us", "a touch, µs", 1 },
    { "one_filler_us", "one filler", 1 },
    { "evicting_us", "budget of a tenth, full", 1 },
    { "dequantise_us", "dequantise, µs", 1 },
    { "fresh_us", "into fresh memory", 1 },
    { "touch_of_least", "touch / (dequantise + fault)", 2 },
    { "evicting_of_least", "the same, full", 2 },
    { "touch_of_fresh", "touch / (fresh + fault)", 2 },
};

typedef struct at_random {
    series order, touch, one, full, warm, fresh; /* of the buffer; seconds */
    series of_least, full_of_least, of_fresh;
} at_random;

static void random_round(const ggld_view *v, const ggld_view *part,
                         uint64_t chunk, double fault, at_random *t)
{
    double buffer = fresh_seconds(part);
    ggld_window *w = bench_open(part, chunk, 0, 0, 0);
    double order = sum_seconds(ggld_window_data(w), part->n_elems);
    ggld_window_close(w);
    double touch = touch_seconds(v, chunk, 2);
    double full = touch_full_seconds(v, chunk);
    double warm = read_seconds(v, chunk, false);
    double fresh = read_seconds(v, chunk, true);
    series_add(&t->order, buffer / order);
    series_add(&t->touch, touch);
    series_add(&t->one, touch_seconds(v, chunk, 1));
    series_add(&t->full, full);
    series_add(&t->warm, warm);
    series_add(&t->fresh, fresh);
    series_add(&t->of_least, touch / (warm + fault));
    series_add(&t->full_of_least, full / (warm + fault));
    series_add(&t->of_fresh, touch / (fresh + fault));
}

static void random_row(const bench *b, uint64_t chunk, const at_random *t)
{
    char name[16];
    double cells[] = {
        series_median(&t->order),      series_median(&t->touch) * 1e6,
        series_median(&t->one) * 1e6,  series_median(&t->full) * 1e6,
        series_median(&t->warm) * 1e6, series_median(&t->fresh) * 1e6,
        series_median(&t->of_least),   series_median(&t->full_of_least),
        series_median(&t->of_fresh)
    };
    snprintf(name, sizeof name, "%u KiB", (unsigned)(chunk >> 10));
    figures_row(b->out, name, cells);
}

void bench_random(const bench *b)
{
    static const uint64_t sizes[] = { 16, 32, 64, 128, 256, 1024 };
    ggld_view v = bench_large(b), part;
    series faults = { .n = 0 };
    ggld_error err;
    must(ggld_view_elems(&part, &v, 0, PART, &err), &err);
    figures_table(b->out, "random",
                  "a chunk in order, and single elements of another chunk each",
                  "chunk", random_columns,
                  sizeof random_columns / sizeof random_columns[0]);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        at_random t = { .order = { .n = 0 } };
        uint64_t chunk = sizes[i] << 10;
        for (int round = 0; round < b->n_rounds; round++) {
            double fault = fault_seconds();
            if (faults.n < SERIES_MAX)
                series_add(&faults, fault);
            random_round(&v, &part, chunk, fault, &t);
        }
        random_row(b, chunk, &t);
        if (chunk != DEFAULT_CHUNK)
            continue;
        figures_promise(b->out, "touch_of_least",
                        "at random, 32 KiB: touch / (dequantise + fault)",
                        series_median(&t.of_least), "<= 2");
        figures_promise(b->out, "evicting_of_least",
                        "the same where each drops another",
                        series_median(&t.full_of_least), "");
    }
    figures_table_end(b->out);
    figures_value(b->out, "fault_us",
                  "one fault of one page, nothing to dequantise, µs",
                  series_median(&faults) * 1e6, 1);
}

/* ---- memory ---- */

/* Anonymous memory of the process, counted page by page. */
static uint64_t anonymous_bytes(void)
{
    char line[200];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Anonymous: %llu", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return (uint64_t)kib << 10;
}

/* All 4 GiB in order, looked at each 64 MiB. Nothing is filled ahead, or chunks
 * would go that have been counted, for others that will be. */
void bench_memory(const bench *b)
{
    const uint64_t step = (uint64_t)16 << 20;
    ggld_view v = bench_large(b);
    ggld_window_counts c = { sizeof c };
    uint64_t before = anonymous_bytes(), most = 0;
    ggld_window *w = bench_open(&v, 0, BUDGET, GGLD_WINDOW_NO_AHEAD, 0);
    for (uint64_t at = 0; at + step <= v.n_elems; at += step) {
        (void)sum_seconds(ggld_window_data(w) + at, step);
        uint64_t now = anonymous_bytes() - before;
        most = now > most ? now : most;
    }
    ggld_window_stats(w, &c);
    ggld_window_close(w);
    double mib = 1 << 20;
    char wanted[24];
    uint64_t allowed = BUDGET + 2 * c.chunk_bytes + OTHER_BYTES;
    snprintf(wanted, sizeof wanted, "<= %.2f", (double)allowed / mib);
    figures_value(b->out, "window_mib", "a window of q4_0 in order, MiB",
                  (double)c.size_bytes / mib, 0);
    figures_value(b->out, "window_budget_mib", "its budget, MiB",
                  (double)BUDGET / mib, 0);
    figures_value(b->out, "window_peak_mib", "most in place by its count, MiB",
                  (double)c.peak_bytes / mib, 2);
    figures_promise(b->out, "window_anonymous_mib",
                    "anonymous memory, of a budget of 256 MiB + two chunks + "
                    "2 (stacks, 12 bytes a chunk), MiB",
                    (double)most / mib, wanted);
}
