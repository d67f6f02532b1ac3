/* SPDX-License-Identifier: MIT */
/* See scales.h. Tests bits, never floats, so that no processor mode and no
 * compiler's idea of arithmetic takes part. */
#include "scales.h"

#include <stddef.h>

#include <ggld/types.h>

#include "bits.h"

static const scale_row rows[] = {
    { GGLD_TYPE_F32, SCALE_F32, 0, 1 },
    { GGLD_TYPE_F16, SCALE_F16, 0, 1 },
    { GGLD_TYPE_Q4_0, SCALE_F16, 0, 1 },
    { GGLD_TYPE_Q4_1, SCALE_F16, 0, 2 },
    { GGLD_TYPE_Q5_0, SCALE_F16, 0, 1 },
    { GGLD_TYPE_Q5_1, SCALE_F16, 0, 2 },
    { GGLD_TYPE_Q8_0, SCALE_F16, 0, 1 },
    { GGLD_TYPE_Q8_1, SCALE_F16, 0, 2 },
    { GGLD_TYPE_Q2_K, SCALE_F16, 80, 2 },
    { GGLD_TYPE_Q3_K, SCALE_F16, 108, 1 },
    { GGLD_TYPE_Q4_K, SCALE_F16, 0, 2 },
    { GGLD_TYPE_Q5_K, SCALE_F16, 0, 2 },
    { GGLD_TYPE_Q6_K, SCALE_F16, 208, 1 },
    { GGLD_TYPE_Q8_K, SCALE_F32, 0, 1 },
    { GGLD_TYPE_IQ2_XXS, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ2_XS, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ3_XXS, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ1_S, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ4_NL, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ3_S, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ2_S, SCALE_F16, 0, 1 },
    { GGLD_TYPE_IQ4_XS, SCALE_F16, 0, 1 },
    { GGLD_TYPE_F64, SCALE_F64, 0, 1 },
    { GGLD_TYPE_IQ1_M, SCALE_IQ1_M, 48, 1 },
    { GGLD_TYPE_BF16, SCALE_BF16, 0, 1 },
    { GGLD_TYPE_TQ1_0, SCALE_F16, 52, 1 },
    { GGLD_TYPE_TQ2_0, SCALE_F16, 64, 1 },
    { GGLD_TYPE_MXFP4, SCALE_E8M0, 0, 1 },
    { GGLD_TYPE_NVFP4, SCALE_E4M3, 0, 4 },
    { GGLD_TYPE_Q1_0, SCALE_F16, 0, 1 },
    { GGLD_TYPE_Q2_0, SCALE_F16, 0, 1 },
};

/* By scale_form: bytes, and the bits of exponent and fraction. */
static const struct {
    unsigned width;
    uint64_t exponent;
    uint64_t fraction;
} forms[] = {
    [SCALE_F16] = { 2, 0x7C00, 0x03FF },
    [SCALE_F32] = { 4, 0x7F800000, 0x007FFFFF },
    [SCALE_F64] = { 8, 0x7FF0000000000000, 0x000FFFFFFFFFFFFF },
    [SCALE_BF16] = { 2, 0x7F80, 0x007F },
    /* All ones is NaN, so some bit has to be the fraction. */
    [SCALE_E8M0] = { 1, 0xFF, 0x01 },
    /* No byte has this bit: ggml takes 7F, its NaN, for zero. */
    [SCALE_E4M3] = { 1, 0x100, 0 },
    [SCALE_IQ1_M] = { 8, 0x7C00, 0x03FF },
};

const scale_row *scale_row_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].type == type)
            return &rows[i];
    return NULL;
}

bool scale_is_value(const scale_row *row)
{
    const ggld_type_traits *traits = ggld_type_traits_of(row->type);
    return traits != NULL && traits->block_elems == 1;
}

uint64_t scale_n_bad(const scale_counts *counts)
{
    return counts->n_nan + counts->n_infinite;
}

void scale_add(scale_counts *sum, const scale_counts *further)
{
    if (scale_n_bad(sum) == 0)
        sum->first_block = further->first_block;
    sum->n_checked += further->n_checked;
    sum->n_nan += further->n_nan;
    sum->n_infinite += further->n_infinite;
}

static uint64_t scale_load(const scale_row *row, const uint8_t *p,
                           bool big_endian)
{
    uint64_t value = 0;

    if (row->form != SCALE_IQ1_M)
        return bits_load(p, forms[row->form].width, big_endian);
    for (size_t i = 0; i < 4; i++)
        value |= bits_load(p + 2 * i, 2, big_endian) >> 12 << 4 * i;
    return value;
}

static void count_one(scale_counts *counts, const scale_row *row, uint64_t bits,
                      uint64_t block)
{
    uint64_t exponent = forms[row->form].exponent;

    counts->n_checked++;
    if ((bits & exponent) != exponent)
        return;
    if (scale_n_bad(counts) == 0)
        counts->first_block = block;
    if ((bits & forms[row->form].fraction) != 0)
        counts->n_nan++;
    else
        counts->n_infinite++;
}

void scale_scan(scale_counts *counts, const scale_row *row,
                const uint8_t *blocks, uint64_t n_blocks, uint32_t block_bytes,
                uint64_t first_block, bool big_endian)
{
    size_t width = forms[row->form].width;

    for (uint64_t i = 0; i < n_blocks; i++) {
        const uint8_t *p = blocks + i * block_bytes + row->offset;
        for (size_t j = 0; j < row->count; j++)
            count_one(counts, row, scale_load(row, p + j * width, big_endian),
                      first_block + i);
    }
}

void scale_put(const scale_row *row, uint8_t *block, uint32_t bits)
{
    uint8_t *p = block + row->offset;

    for (size_t j = 0; j < row->count; j++) {
        uint32_t vary = bits >> 8 * j & 0xFF;
        switch (row->form) {
        case SCALE_F16: /* exponent 8: 2^-7 times 1 to 1.25 */
            bits_store_le(p + 2 * j, 2, 0x2000 | vary);
            break;
        case SCALE_F32:
            bits_store_le(p + 4 * j, 4, 0x3C000000 | vary << 13);
            break;
        case SCALE_F64:
            bits_store_le(p + 8 * j, 8,
                          0x3F80000000000000 | (uint64_t)vary << 42);
            break;
        case SCALE_BF16:
            bits_store_le(p + 2 * j, 2, 0x3C00 | vary >> 3);
            break;
        case SCALE_E8M0: /* the exponent counts from 127 */
            p[j] = 120;
            break;
        case SCALE_E4M3: /* exponent 1, fraction of 3 bits */
            p[j] = (uint8_t)(0x08 | vary >> 5);
            break;
        case SCALE_IQ1_M: /* 0x2000: its top nibble in the last u16's */
            for (unsigned k = 0; k < 4; k++)
                p[2 * k + 1] =
                    (uint8_t)((p[2 * k + 1] & 0x0F) | (k == 3 ? 0x20 : 0));
            break;
        }
    }
}
