/* SPDX-License-Identifier: MIT */
/* Conversions against exact arithmetic in doubles, on every set: every half and
 * every bfloat, the floats around each place where rounding to them turns, and
 * types that have no vectors. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sets.h"

static int n_failures;

static void expect_bits(const char *set, const char *what, uint32_t input,
                        uint32_t want, uint32_t have)
{
    if (want == have || n_failures++ > 10)
        return;
    printf("FAIL %s %s of %08" PRIx32 ": expected %08" PRIx32 ", got %08" PRIx32
           "\n",
           set, what, input, want, have);
}

static bool is_nan_bits(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > 0x7F800000;
}

/* ---- small floats: 1 sign, n_exponent bits, n_fraction bits ---- */

typedef struct small {
    const char *name;
    uint32_t type;
    int n_exponent, n_fraction;
} small;

static const small smalls[] = { { "half", GGLD_TYPE_F16, 5, 10 },
                                { "bf16", GGLD_TYPE_BF16, 8, 7 } };

static uint32_t infinity_of(const small *s)
{
    return ((1u << s->n_exponent) - 1) << s->n_fraction;
}

/* Of bits without sign; one past the largest is what would come next. */
static double magnitude_of(const small *s, uint32_t bits)
{
    int exponent = (int)(bits >> s->n_fraction);
    double fraction = bits & ((1u << s->n_fraction) - 1);
    int bias = (1 << (s->n_exponent - 1)) - 1;
    if (exponent == 0)
        return ldexp(fraction, 1 - bias - s->n_fraction);
    return ldexp(fraction + (1 << s->n_fraction),
                 exponent - bias - s->n_fraction);
}

static void check_to_float(const ggld_kern_set *set, const small *s)
{
    static uint8_t stored[65536 * 2];
    static float got[65536];

    for (uint32_t i = 0; i < 65536; i++)
        ggld_store_le16(stored + 2 * i, (uint16_t)i);
    set->rows[s->type].to_f32(stored, got, 65536);
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t have = ggld_bits_of_float(got[i]);
        uint32_t magnitude = i & 0x7FFF, sign = (i & 0x8000) << 16;
        if (magnitude > infinity_of(s))
            expect_bits(set->name, s->name, i, 1, is_nan_bits(have));
        else if (magnitude == infinity_of(s))
            expect_bits(set->name, s->name, i, sign | 0x7F800000, have);
        else
            expect_bits(
                set->name, s->name, i,
                sign | ggld_bits_of_float((float)magnitude_of(s, magnitude)),
                have);
    }
}

/* One float both ways that halves are made; bfloats have one. */
static void check_rounding(const ggld_kern_set *set, const small *s,
                           float value, uint32_t want)
{
    uint8_t stored[2];
    uint16_t half;

    (void)set->rows[s->type].from_f32(&value, stored, 1);
    expect_bits(set->name, s->name, ggld_bits_of_float(value), want,
                ggld_load_le16(stored));
    if (s->type != GGLD_TYPE_F16)
        return;
    set->f32_to_f16(&value, &half, 1);
    expect_bits(set->name, "f32_to_f16", ggld_bits_of_float(value), want, half);
}

/* From each small float half-way to the next, and the floats on both sides. */
static void check_from_float(const ggld_kern_set *set, const small *s)
{
    for (uint32_t bits = 0; bits < infinity_of(s); bits++) {
        double here = magnitude_of(s, bits), next = magnitude_of(s, bits + 1);
        /* Beyond the largest float there is nothing to convert. */
        bool last = bits + 1 == infinity_of(s) && s->n_exponent == 8;
        float middle = (float)((here + next) / 2);
        float below = ggld_float_of_bits(ggld_bits_of_float(middle) - 1);
        float above = ggld_float_of_bits(ggld_bits_of_float(middle) + 1);
        uint32_t even = bits + (bits & 1);

        if ((double)middle != (here + next) / 2) {
            printf("FAIL the middle behind %04" PRIx32 " is no float\n", bits);
            n_failures++;
        }
        check_rounding(set, s, (float)here, bits);
        check_rounding(set, s, -(float)here, bits | 0x8000);
        check_rounding(set, s, middle, even);
        check_rounding(set, s, -middle, even | 0x8000);
        check_rounding(set, s, below, bits);
        if (!last)
            check_rounding(set, s, above, bits + 1);
    }
}

/* NaN and infinity are for f32_to_f16 only: quantisers refuse them. */
static void check_special_halves(const ggld_kern_set *set)
{
    const float values[8] = { INFINITY, -INFINITY, 65520.0f, -65519.996f,
                              1e30f,    NAN,       -0.0f,    1.0f };
    const uint16_t want[8] = { 0x7C00, 0xFC00, 0x7C00, 0xFBFF,
                               0x7C00, 0x7E00, 0x8000, 0x3C00 };
    uint16_t got[8];

    set->f32_to_f16(values, got, 8);
    for (int i = 0; i < 8; i++)
        expect_bits(set->name, "f32_to_f16", ggld_bits_of_float(values[i]),
                    want[i], got[i] & (isnan(values[i]) ? 0x7E00u : 0xFFFFu));
}

/* ---- numbers as they stand ---- */

/* Little-endian, and the float nearest to it, ties to even. */
static const struct {
    uint32_t type;
    uint64_t stored;
    float want;
} numbers[] = {
    { GGLD_TYPE_F32, 0x3FC00000, 1.5f },
    { GGLD_TYPE_F32, 0x80000000, -0.0f },
    { GGLD_TYPE_I8, 0x80, -128.0f },
    { GGLD_TYPE_I8, 0x7F, 127.0f },
    { GGLD_TYPE_I16, 0x8000, -32768.0f },
    { GGLD_TYPE_I16, 0x1234, 4660.0f },
    { GGLD_TYPE_I32, 0x01000001, 16777216.0f }, /* a tie, down to even */
    { GGLD_TYPE_I32, 0x01000003, 16777220.0f }, /* and one up */
    { GGLD_TYPE_I32, 0x80000000, -2147483648.0f },
    { GGLD_TYPE_I64, UINT64_MAX, -1.0f },
    { GGLD_TYPE_I64, UINT64_C(1) << 63, -0x1p63f },
    /* Rounded to a double first, this would be a tie and go down. */
    { GGLD_TYPE_I64, 0x4000004000000001, 0x1.000002p62f },
    { GGLD_TYPE_F64, 0x3FF8000000000000, 1.5f },
    { GGLD_TYPE_F64, 0x3FF0000010000000, 1.0f },          /* a tie */
    { GGLD_TYPE_F64, 0x3FF0000010000001, 0x1.000002p0f }, /* just above */
    { GGLD_TYPE_F64, 0x7FEFFFFFFFFFFFFF, INFINITY },      /* too large */
    { GGLD_TYPE_F64, 0x36A0000000000000, 0x1p-149f },     /* the smallest */
    { GGLD_TYPE_F64, 0x8000000000000001, -0.0f },
};

/* At each place of a row of 37, so that whole groups and the rest are met. */
static void check_numbers(const ggld_kern_set *set)
{
    enum { ROW = 37 };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const ggld_type_row *type = ggld_type_row_of(numbers[i].type);
        uint32_t width = type->traits.block_bytes;
        uint8_t stored[ROW * 8], number[8];
        float got[ROW];

        ggld_store_le64(number, numbers[i].stored);
        for (size_t k = 0; k < ROW; k++)
            memcpy(stored + k * width, number, width);
        set->rows[type->id].to_f32(stored, got, ROW);
        for (size_t k = 0; k < ROW; k++)
            expect_bits(set->name, type->traits.name, (uint32_t)k,
                        ggld_bits_of_float(numbers[i].want),
                        ggld_bits_of_float(got[k]));
    }
}

/* ---- computation types, which have no vectors ---- */

static void check_q8_k(const ggld_kern_set *set)
{
    const float scales[] = { 0.375f, -0x1p-149f, 0x1p-130f, 3e38f, 0.0f };
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        uint8_t block[292] = { 0 };
        float got[256];
        ggld_store_le32(block, ggld_bits_of_float(scales[s]));
        for (int i = 0; i < 256; i++)
            block[4 + i] = (uint8_t)(i - 128);
        set->rows[GGLD_TYPE_Q8_K].to_f32(block, got, 1);
        for (int i = 0; i < 256; i++) {
            double product = (double)scales[s] * (i - 128);
            expect_bits(set->name, "q8_K", (uint32_t)i,
                        ggld_bits_of_float((float)product),
                        ggld_bits_of_float(got[i]));
        }
    }
}

static void check_q8_1(const ggld_kern_set *set)
{
    uint8_t block[36] = { 0x00, 0xB4, 0xFF, 0x7B }; /* d = -0.25; the sum */
    float got[32];
    for (int i = 0; i < 32; i++)
        block[4 + i] = (uint8_t)(8 * i - 128);
    set->rows[GGLD_TYPE_Q8_1].to_f32(block, got, 1);
    for (int i = 0; i < 32; i++)
        expect_bits(
            set->name, "q8_1", (uint32_t)i,
            ggld_bits_of_float(i == 16 ? -0.0f : 32.0f - 2.0f * (float)i),
            ggld_bits_of_float(got[i]));
}

/* ---- Q8_0's rounding: halves go away from zero ---- */

static void check_q8_0_value(const ggld_kern_set *set, float value)
{
    float src[32] = { 127.0f }; /* d = 1 */
    uint8_t block[34];
    for (int i = 1; i < 32; i++)
        src[i] = (i & 1) != 0 ? value : -value;
    (void)set->rows[GGLD_TYPE_Q8_0].from_f32(src, block, 1);
    int want = (int)floor((double)value + 0.5);
    for (int i = 1; i < 32; i++)
        expect_bits(set->name, "q8_0", ggld_bits_of_float(src[i]),
                    (uint32_t)((i & 1) != 0 ? want : -want),
                    (uint32_t)(int8_t)block[2 + i]);
}

static void check_q8_0(const ggld_kern_set *set)
{
    for (int k = 0; k < 127; k++) {
        uint32_t tie = ggld_bits_of_float((float)k + 0.5f);
        for (uint32_t near = 0; near < 7; near++)
            check_q8_0_value(set, ggld_float_of_bits(tie + near - 3));
        check_q8_0_value(set, (float)k);
    }
}

int main(void)
{
    sets all = sets_here();
    for (size_t s = 0; s < all.n; s++) {
        const ggld_kern_set *set = all.at[s];
        for (size_t i = 0; i < sizeof smalls / sizeof smalls[0]; i++) {
            check_to_float(set, &smalls[i]);
            check_from_float(set, &smalls[i]);
        }
        check_special_halves(set);
        check_numbers(set);
        check_q8_k(set);
        check_q8_1(set);
        check_q8_0(set);
        printf("%s ", set->name);
    }
    printf("- %d failures\n", n_failures);
    return n_failures != 0;
}
