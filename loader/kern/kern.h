/* SPDX-License-Identifier: MIT */
/* The kernels as the layers above see them: one table for each instruction
 * set, with one row for each tensor type. */
#ifndef GGLD_KERN_KERN_H
#define GGLD_KERN_KERN_H

#include <stdbool.h>
#include <stdint.h>

#include "../spec/types.h"

/* n_blocks little-endian blocks at src, of any alignment, to floats at dst, of
 * any alignment. Reads and writes nothing else. Any bytes are valid blocks. */
typedef void (*ggld_to_f32)(const void *src, void *dst, uint64_t n_blocks);

/* n_blocks blocks of floats (in this machine's order) at src, of any alignment,
 * to little-endian blocks at dst. Returns the first element that is NaN,
 * infinite, or too large for the type, or GGLD_NO_ELEM. All blocks are written
 * in any case, as the reference does; NaN and infinities count as zero. */
typedef uint64_t (*ggld_from_f32)(const void *src, void *dst,
                                  uint64_t n_blocks);

#define GGLD_NO_ELEM UINT64_MAX

typedef struct ggld_kern_row {
    ggld_to_f32 to_f32; /* NULL: not in this set's table */
    /* The same with stores that pass the caches by, for output that is larger
     * than they are. */
    ggld_to_f32 to_f32_stream;
    ggld_from_f32 from_f32; /* NULL: the type has no quantiser */
} ggld_kern_row;

typedef struct ggld_kern_set {
    const char *name; /* "scalar", "avx2", "neon" */
    ggld_kern_row rows[GGLD_TYPE_LIMIT];
    /* n floats to halves in this machine's order, rounded to nearest even, any
     * alignment. */
    void (*f32_to_f16)(const void *src, void *dst, uint64_t n);
} ggld_kern_set;

/* The best set that these features (GGLD_CPU_...) allow; never NULL, and every
 * row that can_dequantize is filled. */
const ggld_kern_set *ggld_kern_resolve(uint32_t cpu_features);

/* Is to_f32_stream the better choice for that much output in one go? */
bool ggld_kern_streams(uint64_t n_elems);

#endif /* GGLD_KERN_KERN_H */
