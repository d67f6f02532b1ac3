/* SPDX-License-Identifier: MIT */
/* An image as a source that is only read, a few bytes at a time, interrupted
 * now and then; and an image in memory with options. */
#ifndef TESTS_UNIT_SERVED_H
#define TESTS_UNIT_SERVED_H

#include <ggld/file.h>

#include "image.h"

typedef struct served {
    const image *img;
    size_t step; /* at most so many bytes at once */
    uint64_t n_calls;
    int n_released;
} served;

ggld_source source_of(served *s);

ggld_status open_with(ggld_file **out, const image *img,
                      ggld_open_options options, ggld_error *err);

/* Records of which some need more than one look, behind a vocabulary of a
 * megabyte. */
image large_image(uint64_t n_kvs, uint64_t n_tensors);

#endif /* TESTS_UNIT_SERVED_H */
