/* SPDX-License-Identifier: MIT */
/* What ggld bench measures. Times are medians, in seconds; what is compared is
 * measured in turn, in the same run. */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

/* Fewer floats than this, 4 MiB, stay in many a cache. */
#define BENCH_MEMORY_MIN_ELEMS (UINT64_C(1) << 20)

typedef struct bench_open {
    uint64_t n_rounds;
    double open_seconds; /* ggld_open_path and ggld_close */
    /* open, mmap, one walk over the lengths of the same strings, munmap,
     * close; 0 of a set, and where the file's numbers are not this machine's. */
    double walk_seconds;
    uint64_t n_strings;
    uint64_t n_records; /* key-values and tensors */
    uint64_t heap_bytes;
} bench_open;

typedef struct bench_type {
    uint32_t type;
    uint64_t tensor; /* its index: the largest of that type */
    uint64_t cache_elems;
    double cache_seconds;  /* for cache_elems elements, again and again */
    uint64_t memory_elems; /* 0: too few to leave the cache; none of these */
    uint64_t memory_read_bytes;
    double memory_seconds;
    double memset_seconds; /* of the memory_elems floats */
} bench_type;

/* Exit status. */
int bench_run_open(const model *m, bench_open *b);
/* b->type and b->tensor are set. dst has room for max_elems floats. */
int bench_run_type(const model *m, bench_type *b, float *dst,
                   uint64_t max_elems);

double bench_median(double *times, size_t n); /* sorts them */

#endif /* TOOLS_BENCH_H */
