/* SPDX-License-Identifier: MIT */
/* Where each tensor type keeps its scales, and whether they are numbers. */
#ifndef TOOLS_SCALES_H
#define TOOLS_SCALES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum scale_form {
    SCALE_F16,
    SCALE_F32,
    SCALE_F64,
    SCALE_BF16,
    SCALE_E8M0, /* one byte: an exponent; 255 is NaN */
    SCALE_E4M3, /* one byte, no sign; always a number in ggml */
    SCALE_IQ1_M /* a half made of the top four bits of four u16 */
} scale_form;

typedef struct scale_row {
    uint32_t type;
    scale_form form;
    uint16_t offset; /* of the first, in the block */
    uint16_t count;  /* in a block, back to back */
} scale_row;

/* NULL for types that have none: integers. */
const scale_row *scale_row_of(uint32_t type);
/* Is it an element type of floats, so that a scale is a value? */
bool scale_is_value(const scale_row *row);

typedef struct scale_counts {
    uint64_t n_checked;
    uint64_t n_nan;
    uint64_t n_infinite;
    uint64_t first_block; /* with one of these; meaningless where none */
} scale_counts;

uint64_t scale_n_bad(const scale_counts *counts);
/* What further blocks of the same tensor hold, behind those of sum. */
void scale_add(scale_counts *sum, const scale_counts *further);

/* Adds what n_blocks blocks of block_bytes each hold, the first of which is
 * number first_block of its tensor. */
void scale_scan(scale_counts *counts, const scale_row *row,
                const uint8_t *blocks, uint64_t n_blocks, uint32_t block_bytes,
                uint64_t first_block, bool big_endian);
/* Sets the scales of one little-endian block to a small number near 2^-7 (in
 * the forms that have one), varied by bits. */
void scale_put(const scale_row *row, uint8_t *block, uint32_t bits);

#endif /* TOOLS_SCALES_H */
