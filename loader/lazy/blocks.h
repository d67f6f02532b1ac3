/* SPDX-License-Identifier: MIT */
/* Blocks of a tensor as runs of little-endian blocks, wherever they come
 * from: pointers into the map where the file's order allows it, otherwise a
 * buffer of fixed size that is filled again and again. */
#ifndef GGLD_LAZY_BLOCKS_H
#define GGLD_LAZY_BLOCKS_H

#include <stdint.h>

#include <ggld/tensor.h>

#include "../spec/types.h"

/* Lives on the stack, of threads whose stack may be 128 KiB (musl's); large
 * enough that a pread is worth its system call, small enough to leave half of
 * the first cache to the output. */
#define GGLD_BLOCKS_SCRATCH_BYTES (16u << 10)

typedef struct ggld_blocks {
    const ggld_tensor *tensor;
    const ggld_type_row *row;
    const uint8_t *ready; /* to be handed out next */
    uint64_t n_ready;     /* blocks */
    uint64_t offset;      /* in the file, of the blocks behind these */
    uint64_t n_behind;    /* of those that seek asked for */
    bool pread;           /* though the file is mapped */
    uint8_t scratch[GGLD_BLOCKS_SCRATCH_BYTES];
} ggld_blocks;

/* Blocks of so many elements that a range touches: how many, and the first. */
static inline uint64_t ggld_blocks_touched(uint64_t block_elems,
                                           uint64_t first_elem,
                                           uint64_t n_elems, uint64_t *first)
{
    *first = first_elem / block_elems;
    if (n_elems == 0)
        return 0;
    return (first_elem + n_elems - 1) / block_elems - *first + 1;
}

/* The view's tensor is of row's type. Does not fill the scratch buffer. */
void ggld_blocks_init(ggld_blocks *b, const ggld_view *view,
                      const ggld_type_row *row);

/* n_blocks from first on come next; they are inside the tensor. Asks the
 * verifier for just them. May be called again, for other blocks. */
ggld_status ggld_blocks_seek(ggld_blocks *b, uint64_t first, uint64_t n_blocks,
                             ggld_error *err);

/* The next run: *n blocks at *run, at least one and at most max (not 0). Valid
 * until the next call. No more may be asked for than seek announced. */
ggld_status ggld_blocks_next(ggld_blocks *b, uint64_t max, const uint8_t **run,
                             uint64_t *n, ggld_error *err);

#endif /* GGLD_LAZY_BLOCKS_H */
