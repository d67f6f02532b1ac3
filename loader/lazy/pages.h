/* SPDX-License-Identifier: MIT */
/* The pages that a view's blocks lie in. */
#ifndef GGLD_LAZY_PAGES_H
#define GGLD_LAZY_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include <ggld/tensor.h>

#include "../base/error.h"

typedef struct ggld_pages {
    uint64_t offset; /* in the GGUF, of the blocks */
    uint64_t size;   /* of the blocks; 0: the view is empty */
    int fd;          /* -1: none */
    uint64_t fd_offset;
    /* Whole pages of the map, or NULL where the file's own is not mapped. */
    void *map;
    size_t map_bytes;
} ggld_pages;

/* Checks the view, and that its bytes are in the file. */
ggld_status ggld_pages_of(ggld_pages *out, const ggld_view *view,
                          ggld_error *err);

size_t ggld_page_size(void);

#endif /* GGLD_LAZY_PAGES_H */
