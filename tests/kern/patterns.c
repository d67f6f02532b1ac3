/* SPDX-License-Identifier: MIT */
#include "patterns.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

const char *const blocks_pattern_names[BLOCKS_PATTERNS] = {
    "random",     "zeros",   "ones",     "zero scale", "-0 scale",
    "tiny scale", "largest", "infinite", "NaN scale"
};

const char *const floats_pattern_names[FLOATS_PATTERNS] = {
    "weights",   "any bits", "zeros", "one value", "ties",
    "subnormal", "tiny",     "huge",  "infinite",  "NaN"
};

/* Of each class: a half, a float, and a byte for types whose scales are bytes
 * (exponents; E4M3, where 127 means 0 and 255 does not). */
static const struct {
    uint16_t half;
    uint32_t single;
    uint8_t byte;
} classes[BLOCKS_PATTERNS] = {
    [BLOCKS_SCALE_ZERO] = { 0x0000, 0x00000000, 0x00 },
    [BLOCKS_SCALE_MINUS_ZERO] = { 0x8000, 0x80000000, 0x80 },
    [BLOCKS_SCALE_SUBNORMAL] = { 0x0001, 0x00000001, 0x01 },
    [BLOCKS_SCALE_LARGEST] = { 0xFBFF, 0x7F7FFFFF, 0x7E },
    [BLOCKS_SCALE_INFINITE] = { 0x7C00, 0xFF800000, 0xFF },
    [BLOCKS_SCALE_NAN] = { 0x7E01, 0x7FC00001, 0x7F },
};

static void fill_random(uint8_t *p, size_t size, rng *r)
{
    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(rng_next(r) >> 56);
}

static void set_scales(uint8_t *block, const ggld_type_row *type, int pattern)
{
    uint16_t half = classes[pattern].half;

    if (type->id == GGLD_TYPE_MXFP4 || type->id == GGLD_TYPE_NVFP4) {
        memset(block, classes[pattern].byte,
               type->id == GGLD_TYPE_MXFP4 ? 1 : 4);
        return;
    }
    if (type->id == GGLD_TYPE_IQ1_M) { /* in the top nibbles of four numbers */
        for (int i = 0; i < 4; i++) {
            uint8_t *top = block + 49 + 2 * i;
            *top = (uint8_t)((*top & 15) | (half >> 4 * i & 15) << 4);
        }
        return;
    }
    for (int f = 0; f < GGLD_MAX_FIELDS; f++) {
        const ggld_block_field *field = &type->fields[f];
        if (field->width == 2 && field->count <= 2)
            for (int i = 0; i < field->count; i++)
                ggld_store_le16(block + field->offset + 2 * i, half);
        else if (field->width == 2 && f == 0) /* d, and others after it */
            ggld_store_le16(block + field->offset, half);
        else if (field->width == 4 && f == 0)
            ggld_store_le32(block, classes[pattern].single);
        else if (field->width == 8)
            ggld_store_le64(block, (uint64_t)classes[pattern].single << 32);
    }
}

void fill_blocks(uint8_t *blocks, const ggld_type_row *type, size_t n_blocks,
                 int pattern, rng *r)
{
    size_t size = n_blocks * type->traits.block_bytes;

    if (pattern == BLOCKS_ZEROS || pattern == BLOCKS_ONES) {
        memset(blocks, pattern == BLOCKS_ZEROS ? 0 : 255, size);
        return;
    }
    fill_random(blocks, size, r);
    if (pattern == BLOCKS_RANDOM)
        return;
    for (size_t i = 0; i < n_blocks; i++)
        set_scales(blocks + i * type->traits.block_bytes, type, pattern);
}

/* About normal, mean 0, deviation 1. */
static float random_weight(rng *r)
{
    uint64_t bits = rng_next(r);
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (float)(int16_t)(bits >> 16 * i);
    return sum * (0.866f / 32768.0f);
}

/* A number or half a number within -127 and 127, or a float next to it: where
 * Q8_0 rounds, the step being 1, and others too. */
static float random_tie(uint32_t bits)
{
    float value = (float)((int32_t)((bits >> 8) % 509) - 254) * 0.5f;
    return value == 0
               ? 0.0f
               : ggld_float_of_bits(ggld_bits_of_float(value) + bits % 3 - 1);
}

static float random_float(int pattern, size_t i, rng *r)
{
    uint32_t bits = (uint32_t)(rng_next(r) >> 32);

    switch (pattern) {
    case FLOATS_ANY_BITS:
        return ggld_float_of_bits(bits);
    case FLOATS_ZEROS:
        return (bits & 1) != 0 ? -0.0f : 0.0f;
    case FLOATS_ONE_VALUE:
        return (i / 64 & 1) != 0 ? -1.5f : 2.0f;
    case FLOATS_TIES:
        return i % 32 == 5 ? -127.0f : random_tie(bits);
    case FLOATS_SUBNORMAL:
        return ggld_float_of_bits(bits & 0x807FFFFF);
    case FLOATS_TINY: /* to 2^-118 */
        return ggld_float_of_bits(bits & 0x847FFFFF);
    case FLOATS_HUGE:
        return random_weight(r) * ldexpf(1, (int)(bits % 8) + 14);
    case FLOATS_INFINITE:
        return bits % 40 == 0 ? (float)INFINITY : random_weight(r);
    case FLOATS_NAN:
        return bits % 40 == 0 ? ggld_float_of_bits(bits | 0x7FC00000)
                              : random_weight(r);
    default:
        return random_weight(r) * 0.02f;
    }
}

void fill_floats(float *floats, size_t n, int pattern, rng *r)
{
    for (size_t i = 0; i < n; i++)
        floats[i] = random_float(pattern, i, r);
}
