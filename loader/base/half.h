/* SPDX-License-Identifier: MIT */
/* IEEE half floats and bfloat16 in integer arithmetic: the same on every
 * processor, whatever its rounding and denormal modes are. */
#ifndef GGLD_BASE_HALF_H
#define GGLD_BASE_HALF_H

#include <stdint.h>

#include "bytes.h"

/* Exact. A NaN keeps its payload and becomes quiet, as VCVTPH2PS has it. */
static inline float ggld_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 0x1F;
    uint32_t fraction = half & 0x3FF;

    if (exponent == 0x1F) {
        uint32_t quiet = fraction != 0 ? 0x400000 : 0;
        return ggld_float_of_bits(sign | 0x7F800000 | quiet | fraction << 13);
    }
    if (exponent != 0)
        return ggld_float_of_bits(sign | (exponent + 112) << 23 |
                                  fraction << 13);
    if (fraction == 0)
        return ggld_float_of_bits(sign);
    /* Subnormal: fraction * 2^-24. Its highest bit becomes the hidden one. */
    uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21;
    uint32_t normal = fraction << shift & 0x3FF;
    return ggld_float_of_bits(sign | (113 - shift) << 23 | normal << 13);
}

/* To the nearest, ties to even; past 65504 (from 65520 on) to infinity. A NaN
 * stays one, quiet, with the top of its payload. */
static inline uint16_t ggld_float_to_half(float value)
{
    uint32_t bits = ggld_bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7FFFFFFF;

    if (magnitude > 0x7F800000)
        return (uint16_t)(sign | 0x7E00 | (magnitude >> 13 & 0x3FF));
    if (magnitude >= 0x477FF000) /* 65520 */
        return (uint16_t)(sign | 0x7C00);
    if (magnitude >= 0x38800000) { /* 2^-14: a normal half */
        uint32_t rounded =
            magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1);
        return (uint16_t)(sign | rounded >> 13);
    }
    if (magnitude <= 0x33000000) /* 2^-25 and less: to zero, the tie too */
        return (uint16_t)sign;
    /* Subnormal: the fraction with its hidden bit, shifted to units of
     * 2^-24. */
    uint32_t shift = 126 - (magnitude >> 23);
    uint32_t fraction = (magnitude & 0x7FFFFF) | 0x800000;
    uint32_t rest = fraction & ((1u << shift) - 1);
    uint32_t tie = 1u << (shift - 1);
    uint32_t half = fraction >> shift;
    if (rest > tie || (rest == tie && (half & 1) != 0))
        half++;
    return (uint16_t)(sign | half);
}

static inline float ggld_bf16_to_float(uint16_t value)
{
    return ggld_float_of_bits((uint32_t)value << 16);
}

/* To the nearest, ties to even; a NaN stays one, quiet. */
static inline uint16_t ggld_float_to_bf16(float value)
{
    uint32_t bits = ggld_bits_of_float(value);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

#endif /* GGLD_BASE_HALF_H */
