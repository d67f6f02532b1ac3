/* SPDX-License-Identifier: MIT */
/* What of a file, and of this process, is in memory, asked of the kernel and not
 * of the library. */
#ifndef TEST_JOBS_MEMORY_H
#define TEST_JOBS_MEMORY_H

#include <stdint.h>

/* Of the whole file, in the page cache. Exits where that is not told. */
uint64_t memory_cached(const char *path);
/* Of the file's map in this process. Other files' pages, as the program's, are
 * not counted. */
uint64_t memory_mapped(const char *path);
/* RssAnon of this process. */
uint64_t memory_anon(void);
/* The kernel's readahead on the disk that the file is on. */
uint64_t memory_readahead(const char *path);

#endif /* TEST_JOBS_MEMORY_H */
