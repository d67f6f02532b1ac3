/* SPDX-License-Identifier: MIT */
/* What bench_window measures, a table each, and what the parts share. */
#ifndef TEST_WINDOW_BENCH_WINDOW_H
#define TEST_WINDOW_BENCH_WINDOW_H

#include <ggld/ggld.h>
#include <ggld/window.h>

#include "../jobs/figures.h"

#define ROW_ELEMS 4096u
#define PART      ((uint64_t)64 << 20) /* elements that are gone through */

typedef struct bench {
    figures *out;
    ggld_file *file;
    int n_rounds;
} bench;

/* The first tensor, 4 GiB of floats of q4_0. */
ggld_view bench_large(const bench *b);

/* These exit where they fail. */
void must(ggld_status status, const ggld_error *err);
float *map_floats(uint64_t n);
ggld_window *bench_open(const ggld_view *view, uint64_t chunk, uint64_t budget,
                        uint32_t flags, uint32_t n_threads);
/* As fast as memory is: sixteen sums at a time. */
double sum_seconds(const float *p, uint64_t n);
/* The view into freshly mapped memory. */
double fresh_seconds(const ggld_view *view);

/* bench_window.c: all of a part, in order. */
void bench_order(const bench *b);
/* bench_random.c: single elements; and what it takes in memory. */
void bench_random(const bench *b);
void bench_memory(const bench *b);
/* bench_ways.c: ways to put a chunk in place. */
void bench_ways(const bench *b);

#endif /* TEST_WINDOW_BENCH_WINDOW_H */
