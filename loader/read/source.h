/* SPDX-License-Identifier: MIT */
/* Where an open file's bytes come from. */
#ifndef GGLD_READ_SOURCE_H
#define GGLD_READ_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/file.h>

#include "../base/error.h"
#include "../base/stamp.h"

/* What ggld_source_of_fd allocates, for the file's account. */
#define GGLD_FD_SOURCE_BYTES 144u

/* Part of a file, or all of it. */
typedef struct ggld_range {
    uint64_t offset;
    uint64_t size;
    bool whole; /* as large as the file is; offset is 0 */
} ggld_range;

/* A descriptor of the file of that name, to be closed. Does not wait for who
 * writes to a FIFO. */
ggld_status ggld_fd_of_path(int *out, const char *path, ggld_error *err);

/* A regular file's bytes, by pread on a descriptor of the source's own and,
 * where map says so and the system can, by a read-only map. GGLD_E_MAGIC for
 * what is no regular file. The source is to be released. */
ggld_status ggld_source_of_fd(ggld_source *out, const ggld_allocator *a, int fd,
                              ggld_range range, bool map, ggld_error *err);

/* The descriptor and the range's offset, of a source that ggld_source_of_fd
 * has made; -1 for any other. */
int ggld_source_fd(const ggld_source *source, uint64_t *offset);

/* The stamp at the opening, of a source that ggld_source_of_fd has made. */
bool ggld_source_stamp(const ggld_source *source, ggld_stamp *out);
/* How many bytes of the range its file has now; false where it is not known. */
bool ggld_source_size_now(const ggld_source *source, uint64_t *out);
/* Where the last bytes between `from` and `to` end that are in no hole, as far
 * as the file system knows holes: only zeros follow up to `to`. `to` where it
 * knows none, `from` where there is nothing else. Reads nothing; some 60 steps
 * at most. */
uint64_t ggld_source_data_end(const ggld_source *source, uint64_t from,
                              uint64_t to);
/* These bytes were read, and nobody is to need them soon: other files' pages
 * may stay in memory instead. */
void ggld_source_drop(const ggld_source *source, uint64_t start, uint64_t size);
/* Were pages of these bytes of its map gone when somebody read them, so that
 * zeros were put in their place? */
bool ggld_source_lost(const ggld_source *source, uint64_t offset,
                      uint64_t size);

/* Reads exactly size bytes, in as many steps as the source takes. */
ggld_status ggld_source_read(const ggld_source *source, uint64_t offset,
                             void *dst, uint64_t size, ggld_place place,
                             ggld_error *err);

#endif /* GGLD_READ_SOURCE_H */
