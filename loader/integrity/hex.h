/* SPDX-License-Identifier: MIT */
/* Bytes as hex digits. A table for reading: manifests hold millions of them,
 * and are read whenever a model is opened. */
#ifndef GGLD_INTEGRITY_HEX_H
#define GGLD_INTEGRITY_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/bytes.h"

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

#define GGLD_HEX_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of each byte that is at least so large; all are below 0x80. */
static inline uint64_t ggld_hex_from(uint64_t bytes, uint8_t least)
{
    return bytes + GGLD_HEX_EACH(0x80u - least);
}

/* Eight digits, the first in the lowest byte, as four bytes; false where one is
 * no digit. */
static inline bool ggld_hex_eight(uint64_t text, uint32_t *out)
{
    uint64_t small = text | GGLD_HEX_EACH(0x20u);
    uint64_t digits = ggld_hex_from(text & GGLD_HEX_EACH(0x7Fu), '0') &
                      ~ggld_hex_from(text & GGLD_HEX_EACH(0x7Fu), '9' + 1);
    uint64_t letters = ggld_hex_from(small & GGLD_HEX_EACH(0x7Fu), 'a') &
                       ~ggld_hex_from(small & GGLD_HEX_EACH(0x7Fu), 'f' + 1);
    /* The low half of a letter is one to six, its bit 6 set. */
    uint64_t n =
        (text & GGLD_HEX_EACH(0x0Fu)) + 9 * (text >> 6 & GGLD_HEX_EACH(0x01u));
    n = (n << 4 | n >> 8) & UINT64_C(0x00FF00FF00FF00FF);
    n = (n | n >> 8) & UINT64_C(0x0000FFFF0000FFFF);
    *out = (uint32_t)(n | n >> 16);
    return ((digits | letters) & ~text & GGLD_HEX_EACH(0x80u)) ==
           GGLD_HEX_EACH(0x80u);
}

/* The text of size bytes, a multiple of four, two digits each; false where one is
 * no digit, and out is then anything. */
static inline bool ggld_bytes_of_hex(const char *text, size_t size,
                                     uint8_t *out)
{
    bool good = true;
    for (size_t i = 0; i < size; i += 4) {
        uint32_t four;
        good &= ggld_hex_eight(ggld_load_le64(text + 2 * i), &four);
        ggld_store_le32(out + i, four);
    }
    return good;
}

#endif /* GGLD_INTEGRITY_HEX_H */
