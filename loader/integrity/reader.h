/* SPDX-License-Identifier: MIT */
/* A file's bytes as they are, past the map and the verifier: by pread where
 * there is a descriptor, so that a file that shrinks is an error and no signal.
 * Any thread. */
#ifndef GGLD_INTEGRITY_READER_H
#define GGLD_INTEGRITY_READER_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/file.h>

/* The page cache as it was found: a bit for each page that was in it. */
typedef struct ggld_cache_picture {
    uint8_t *bits; /* NULL: nothing is to be dropped */
    uint64_t n_pages;
    uint64_t page_bytes;
} ggld_cache_picture;

typedef struct ggld_reader {
    const ggld_file *file;
    int fd; /* -1: through the file's source */
    uint64_t fd_offset_bytes;
    uint64_t size_bytes;
    ggld_cache_picture picture;
} ggld_reader;

/* keep_cache: takes the picture that ggld_reader_drop goes by. Where the system
 * does not tell (a descriptor's owner alone may ask it), nothing is dropped. */
GGLD_MUST_CHECK
ggld_status ggld_reader_init(ggld_reader *r, const ggld_file *file,
                             bool keep_cache, ggld_error *err);
void ggld_reader_free(ggld_reader *r);

/* Exactly size bytes. GGLD_E_TRUNCATED, GGLD_E_IO. */
GGLD_MUST_CHECK
ggld_status ggld_reader_read(const ggld_reader *r, uint64_t offset, void *dst,
                             size_t size, ggld_error *err);
/* Drops those pages of the range that were not in the page cache before. */
void ggld_reader_drop(const ggld_reader *r, uint64_t offset, uint64_t size);

#endif /* GGLD_INTEGRITY_READER_H */
