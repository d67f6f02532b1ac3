/* SPDX-License-Identifier: MIT */
/* Arithmetic on sizes and offsets that says when it would wrap. Every number
 * that came out of a file goes through here before it is used. */
#ifndef GGLD_BASE_CHECKED_H
#define GGLD_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ggld_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool ggld_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* value rounded up to a multiple of alignment (any, not 0). */
static inline bool ggld_align_up(uint64_t value, uint64_t alignment,
                                 uint64_t *out)
{
    uint64_t over = value % alignment;
    return ggld_add_u64(value, over == 0 ? 0 : alignment - over, out);
}

/* Do size bytes from offset on lie within total bytes? */
static inline bool ggld_fits(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

static inline bool ggld_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static inline uint64_t ggld_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif /* GGLD_BASE_CHECKED_H */
