/* SPDX-License-Identifier: MIT */
/* Dimensions to elements and bytes, by the format's rules. */
#ifndef GGLD_SPEC_SHAPE_H
#define GGLD_SPEC_SHAPE_H

#include <stdint.h>

#include "types.h"

typedef enum ggld_shape_verdict {
    GGLD_SHAPE_OK,
    GGLD_SHAPE_ELEMS_OVERFLOW, /* more than INT64_MAX elements */
    GGLD_SHAPE_ROW,            /* dims[0] is not a multiple of the block */
    GGLD_SHAPE_BYTES_OVERFLOW  /* more than INT64_MAX bytes */
} ggld_shape_verdict;

/* Elements of n_dims (at most 4) dimensions: 1 for none, 0 where one of them
 * is 0, whatever the others are. */
ggld_shape_verdict ggld_shape_elems(const uint64_t *dims, uint32_t n_dims,
                                    uint64_t *n_elems);
/* Bytes that these elements take in that type. */
ggld_shape_verdict ggld_shape_bytes(const ggld_type_traits *traits,
                                    const uint64_t *dims, uint32_t n_dims,
                                    uint64_t n_elems, uint64_t *n_bytes);

#endif /* GGLD_SPEC_SHAPE_H */
