/* SPDX-License-Identifier: MIT */
/* Numbers as files store them, at any address and in either order. */
#ifndef TOOLS_BITS_H
#define TOOLS_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* width bytes (1 to 8) as an unsigned number. */
static inline uint64_t bits_load(const uint8_t *p, unsigned width,
                                 bool big_endian)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)p[i] << 8 * (big_endian ? width - 1 - i : i);
    return value;
}

static inline void bits_store_le(uint8_t *p, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static inline bool bits_host_big_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

#endif /* TOOLS_BITS_H */
