/* SPDX-License-Identifier: MIT */
/* What bench_io measures: ways to get at a file, ours and those that it is
 * compared with, all told by name and timed alike. */
#ifndef TEST_JOBS_BENCH_IO_H
#define TEST_JOBS_BENCH_IO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_file {
    const char *path;
    uint64_t size_bytes;
    uint64_t budget_bytes;
    uint64_t metadata_bytes;
    uint64_t row_offset, row_bytes; /* the last tensor's first row */
} bench_file;

/* Fills in the rest, by path. */
void bench_file_look(bench_file *file);

/* Does it once, with a cold page cache: seconds, or less than 0 where it can't
 * be done here. */
typedef double (*bench_way)(const bench_file *file);

/* ---- others ---- */

/* Four threads, each with reads of 1 MiB past the page cache into memory from
 * malloc's like: one read each under way at any time. */
double way_direct(const bench_file *file);
/* The same into huge pages, which an app has to know about. */
double way_direct_huge(const bench_file *file);
/* Four threads, each with a quarter of the file, or with 4 MiB in turn. */
double way_pread_quarters(const bench_file *file);
double way_pread_turns(const bench_file *file);
/* A byte of each page of the map, in order. */
double way_touch(const bench_file *file);
/* The same under MADV_RANDOM, of a sixteenth of the file, times 16. */
double way_touch_random(const bench_file *file);

/* ---- ggld ---- */

double way_prefetch(const bench_file *file);
double way_prefetch_map(const bench_file *file);
double way_prefetch_uring(const bench_file *file);
double way_stream(const bench_file *file);
double way_stream_pread(const bench_file *file);
double way_stream_map(const bench_file *file);
double way_stream_uring(const bench_file *file);
/* Dequantises all of it, from the page cache, with so many workers. */
double way_values_1(const bench_file *file);
double way_values_2(const bench_file *file);
/* The same work in plain threads: what the machine has to give. */
double way_values_plain_1(const bench_file *file);
double way_values_plain_2(const bench_file *file);
/* From open to the first row of the last tensor, and preads of the same bytes:
 * of the file, which is cold. The program is not, as both have been done to a
 * small file before. */
double way_first_row(const bench_file *file);
double way_first_row_pread(const bench_file *file);

/* ---- what they leave ---- */

/* By how much the first row may let the page cache grow: metadata, row, and
 * two windows of readahead. */
uint64_t bench_first_row_allowance(const bench_file *file);

/* Watches, from a thread of its own, anonymous memory and the file's pages. */
typedef struct bench_watch bench_watch;
bench_watch *bench_watch_start(const bench_file *file);
/* The largest sum seen. */
uint64_t bench_watch_stop(bench_watch *watch);

#endif /* TEST_JOBS_BENCH_IO_H */
