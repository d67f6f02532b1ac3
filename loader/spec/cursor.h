/* SPDX-License-Identifier: MIT */
/* A place in a run of bytes that never moves past its end. Every read says
 * whether it was possible; a read that was not leaves the place as it was. */
#ifndef GGLD_SPEC_CURSOR_H
#define GGLD_SPEC_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/bytes.h"
#include "../base/span.h"

typedef struct ggld_cursor {
    ggld_span span;
    uint64_t pos;
    bool big_endian;
    bool narrow; /* version 1: lengths, counts and dimensions are u32 */
} ggld_cursor;

static inline uint64_t ggld_cursor_left(const ggld_cursor *c)
{
    return c->span.size - c->pos;
}

/* The next size bytes, and past them; NULL where there are fewer. */
static inline const uint8_t *ggld_cursor_take(ggld_cursor *c, uint64_t size)
{
    const uint8_t *p = ggld_span_at(c->span, c->pos, size);
    if (p != NULL)
        c->pos += size;
    return p;
}

static inline bool ggld_cursor_u32(ggld_cursor *c, uint32_t *out)
{
    const uint8_t *p = ggld_cursor_take(c, 4);
    if (p == NULL)
        return false;
    *out = ggld_load_u32(p, c->big_endian);
    return true;
}

static inline bool ggld_cursor_u64(ggld_cursor *c, uint64_t *out)
{
    const uint8_t *p = ggld_cursor_take(c, 8);
    if (p == NULL)
        return false;
    *out = ggld_load_u64(p, c->big_endian);
    return true;
}

/* A length, count or dimension, as wide as the version has it. */
static inline bool ggld_cursor_len(ggld_cursor *c, uint64_t *out)
{
    uint32_t narrow;
    if (!c->narrow)
        return ggld_cursor_u64(c, out);
    if (!ggld_cursor_u32(c, &narrow))
        return false;
    *out = narrow;
    return true;
}

static inline uint32_t ggld_cursor_len_bytes(const ggld_cursor *c)
{
    return c->narrow ? 4 : 8;
}

#endif /* GGLD_SPEC_CURSOR_H */
