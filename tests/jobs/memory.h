/* SPDX-License-Identifier: MIT */
/* What of a file, and of this process, is in memory, asked of the kernel and not
 * of the library. Where something can't be done the process exits. */
#ifndef TEST_JOBS_MEMORY_H
#define TEST_JOBS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the file to disk and drops it from the page cache. */
void memory_chill(const char *path);
/* Of each page of the file, from malloc: is it in the page cache? */
bool *memory_pages(const char *path, size_t *n);
/* Of the whole file, in the page cache. */
uint64_t memory_cached(const char *path);
/* Of the file's map in this process. Other files' pages, as the program's, are
 * not counted. */
uint64_t memory_mapped(const char *path);
/* RssAnon of this process. */
uint64_t memory_anon(void);
/* The kernel's readahead on the disk that the file is on. */
uint64_t memory_readahead(const char *path);

#endif /* TEST_JOBS_MEMORY_H */
