/* SPDX-License-Identifier: MIT */
/* Elements of a tensor as floats: blocks through the kernels, and what a range
 * has of its first and last block. */
#ifndef GGLD_LAZY_DEQUANT_H
#define GGLD_LAZY_DEQUANT_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/tensor.h>

#include "../kern/kern.h"
#include "blocks.h"

#define GGLD_MAX_BLOCK_ELEMS 256

typedef struct ggld_dequant {
    ggld_blocks blocks;
    const ggld_kern_set *set;
    ggld_to_f32 kernel;      /* to where the values go */
    ggld_to_f32 edge_kernel; /* to a small buffer that is read at once */
    uint64_t block_elems;
    uint64_t skip; /* elements of the next block that are not asked for */
} ggld_dequant;

/* Chooses the kernels; stream: the output is larger than the caches. GGLD_E_TENSOR_TYPE: the
 * type is unknown or removed. GGLD_E_UNSUPPORTED: it can't be dequantised. */
ggld_status ggld_dequant_init(ggld_dequant *d, const ggld_view *view,
                              bool stream, ggld_error *err);

/* n_elems from first_elem on come next; they are inside the tensor. Asks the
 * verifier for the blocks that they touch. May be called again. */
ggld_status ggld_dequant_seek(ggld_dequant *d, uint64_t first_elem,
                              uint64_t n_elems, ggld_error *err);

/* The next n_elems to dst. All calls behind a seek but the last one must end
 * with a block. */
ggld_status ggld_dequant_next(ggld_dequant *d, uint64_t n_elems, float *dst,
                              ggld_error *err);

#endif /* GGLD_LAZY_DEQUANT_H */
