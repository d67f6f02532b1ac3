/* SPDX-License-Identifier: MIT */
/* Bytes as hex digits. A table for reading: manifests hold millions of them,
 * and are read whenever a model is opened. */
#ifndef GGLD_INTEGRITY_HEX_H
#define GGLD_INTEGRITY_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void ggld_hex_of_byte(uint8_t byte, char out[2])
{
    static const char digits[] = "0123456789abcdef";
    out[0] = digits[byte >> 4];
    out[1] = digits[byte & 15];
}

/* One more than the digit's value; 0 for what is no digit. */
static inline uint8_t ggld_hex_digit(char c)
{
    static const uint8_t values[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
        ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
        ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
        ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    };
    return values[(uint8_t)c];
}

static inline bool ggld_byte_of_hex(const char text[2], uint8_t *out)
{
    uint32_t high = ggld_hex_digit(text[0]);
    uint32_t low = ggld_hex_digit(text[1]);
    *out = (uint8_t)((high - 1) << 4 | (low - 1));
    return high != 0 && low != 0;
}

/* The text of size bytes, two digits each; false where one is no digit, and out
 * is then anything. Looks at all of them before it says so. */
static inline bool ggld_bytes_of_hex(const char *text, size_t size,
                                     uint8_t *out)
{
    bool good = true;
    for (size_t i = 0; i < size; i++)
        good &= ggld_byte_of_hex(text + 2 * i, &out[i]);
    return good;
}

#endif /* GGLD_INTEGRITY_HEX_H */
