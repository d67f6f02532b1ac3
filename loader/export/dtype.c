/* SPDX-License-Identifier: MIT */
/* See dtype.h. Floats of 8 bits are small enough to be worked out by what
 * their fields mean: sign, exponent, fraction. */
#include "dtype.h"

#include <string.h>

#include "../base/bytes.h"
#include "../base/half.h"

/* 2^n, from the least subnormal F32 on up to 2^127. */
static float power_of_two(int n)
{
    return ggld_float_of_bits(n < -126 ? 1u << (n + 149)
                                       : (uint32_t)(n + 127) << 23);
}

/* Sign, exponent, fraction; an exponent of 0 is subnormal. */
static float decode_fields(uint8_t byte, unsigned fraction_bits, int bias)
{
    int fraction = byte & ((1 << fraction_bits) - 1);
    int exponent = (byte & 0x7F) >> fraction_bits;
    float value;

    if (exponent == 0)
        exponent = 1;
    else
        fraction += 1 << fraction_bits;
    value =
        (float)fraction * power_of_two(exponent - bias - (int)fraction_bits);
    return (byte & 0x80) != 0 ? -value : value;
}

static float nan_of(uint8_t byte)
{
    return ggld_float_of_bits((uint32_t)(byte & 0x80) << 24 | 0x7FC00000);
}

/* No infinities: all bits set is the one NaN. */
static float decode_e4m3(uint8_t byte)
{
    return (byte & 0x7F) == 0x7F ? nan_of(byte) : decode_fields(byte, 3, 7);
}

/* The upper half of a half. */
static float decode_e5m2(uint8_t byte)
{
    return ggld_half_to_float((uint16_t)(byte << 8));
}

/* "fnuz": no infinities and no negative zero, whose bits are the one NaN. */
static float decode_e4m3fnuz(uint8_t byte)
{
    return byte == 0x80 ? nan_of(0) : decode_fields(byte, 3, 8);
}

static float decode_e5m2fnuz(uint8_t byte)
{
    return byte == 0x80 ? nan_of(0) : decode_fields(byte, 2, 16);
}

/* A power of two, from 2^-127 on; no sign. */
static float decode_e8m0(uint8_t byte)
{
    return byte == 0xFF ? nan_of(0) : power_of_two(byte - 127);
}

static const ggld_dtype dtypes[] = {
    { "F64", 64, GGLD_TYPE_F64, NULL },
    { "F32", 32, GGLD_TYPE_F32, NULL },
    { "F16", 16, GGLD_TYPE_F16, NULL },
    { "BF16", 16, GGLD_TYPE_BF16, NULL },
    { "I64", 64, GGLD_TYPE_I64, NULL },
    { "I32", 32, GGLD_TYPE_I32, NULL },
    { "I16", 16, GGLD_TYPE_I16, NULL },
    { "I8", 8, GGLD_TYPE_I8, NULL },
    { "F8_E4M3", 8, GGLD_NO_TYPE, decode_e4m3 },
    { "F8_E5M2", 8, GGLD_NO_TYPE, decode_e5m2 },
    { "F8_E4M3FNUZ", 8, GGLD_NO_TYPE, decode_e4m3fnuz },
    { "F8_E5M2FNUZ", 8, GGLD_NO_TYPE, decode_e5m2fnuz },
    { "F8_E8M0", 8, GGLD_NO_TYPE, decode_e8m0 },
    { "U64", 64, GGLD_NO_TYPE, NULL },
    { "U32", 32, GGLD_NO_TYPE, NULL },
    { "U16", 16, GGLD_NO_TYPE, NULL },
    { "U8", 8, GGLD_NO_TYPE, NULL },
    { "BOOL", 8, GGLD_NO_TYPE, NULL },
    { "C64", 64, GGLD_NO_TYPE, NULL },
    { "F6_E2M3", 6, GGLD_NO_TYPE, NULL },
    { "F6_E3M2", 6, GGLD_NO_TYPE, NULL },
    { "F4", 4, GGLD_NO_TYPE, NULL },
};
#define N_DTYPES (sizeof dtypes / sizeof dtypes[0])

const ggld_dtype *ggld_dtype_of_name(ggld_string name)
{
    for (size_t i = 0; i < N_DTYPES; i++)
        if (strlen(dtypes[i].name) == name.len &&
            memcmp(dtypes[i].name, name.data, (size_t)name.len) == 0)
            return &dtypes[i];
    return NULL;
}

const ggld_dtype *ggld_dtype_of_type(uint32_t type)
{
    for (size_t i = 0; i < N_DTYPES; i++)
        if (dtypes[i].type == type && type != GGLD_NO_TYPE)
            return &dtypes[i];
    return NULL;
}
