/* SPDX-License-Identifier: MIT */
/* Emptiness is told from the dimensions, never from a product that may have
 * wrapped. Limits are INT64_MAX, as ggml holds these numbers in int64_t. */
#include "shape.h"

#include <stdbool.h>

#include "../base/checked.h"

static bool has_zero(const uint64_t *dims, uint32_t n_dims)
{
    for (uint32_t i = 0; i < n_dims; i++)
        if (dims[i] == 0)
            return true;
    return false;
}

ggld_shape_verdict ggld_shape_elems(const uint64_t *dims, uint32_t n_dims,
                                    uint64_t *n_elems)
{
    uint64_t product = 1;

    if (has_zero(dims, n_dims)) {
        *n_elems = 0;
        return GGLD_SHAPE_OK;
    }
    for (uint32_t i = 0; i < n_dims; i++)
        if (!ggld_mul_u64(product, dims[i], &product) || product > INT64_MAX)
            return GGLD_SHAPE_ELEMS_OVERFLOW;
    *n_elems = product;
    return GGLD_SHAPE_OK;
}

ggld_shape_verdict ggld_shape_bytes(const ggld_type_traits *traits,
                                    const uint64_t *dims, uint32_t n_dims,
                                    uint64_t n_elems, uint64_t *n_bytes)
{
    uint64_t row = n_dims == 0 ? 1 : dims[0];
    uint64_t bytes;

    if (row % traits->block_elems != 0)
        return GGLD_SHAPE_ROW;
    if (!ggld_mul_u64(n_elems / traits->block_elems, traits->block_bytes,
                      &bytes) ||
        bytes > INT64_MAX)
        return GGLD_SHAPE_BYTES_OVERFLOW;
    *n_bytes = bytes;
    return GGLD_SHAPE_OK;
}
