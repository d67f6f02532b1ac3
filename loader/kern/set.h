/* SPDX-License-Identifier: MIT */
/* One instruction set's table, out of the bodies and a vocabulary. A set file
 * includes its vocabulary, defines KERN_SET (the table's name) and
 * KERN_SET_NAME (what people call it), then includes this.
 *
 * A body of a type T is
 *   static inline void unpack_T(const uint8_t *block, uint8_t *out)
 *   static inline uint32_t pack_T(const quants *q, uint8_t *block)
 * the latter where tensor_types.def says that there is a quantiser; it returns
 * 0, or the bits of the magnitude from which on elements are too large. Where a
 * block is one element, a body takes 32 of them at a time. bodies.h, which
 * includes them all, is made from tensor_types.def by the build. */
#ifndef GGLD_KERN_SET_H
#define GGLD_KERN_SET_H

#include "../base/checked.h"
#include "emit.h"
#include "grids.h"
#include "kern.h"
#include "sets.h"

#include "bodies.h"

#define GROUP 32 /* elements that a body of a one-element type takes */

#ifdef VF_STREAM
#include "stream.h"
#endif

/* The last elements of a one-element type, through buffers that have room for
 * a whole group. */
static inline void unpack_rest(void (*unpack)(const uint8_t *, uint8_t *),
                               size_t bytes, const uint8_t *src, uint8_t *dst,
                               size_t n)
{
    uint8_t in[GROUP * sizeof(uint64_t)] = { 0 };
    uint8_t out[GROUP * sizeof(float)];

    memcpy(in, src, n * bytes);
    unpack(in, out);
    memcpy(dst, out, n * sizeof(float));
}

static inline __attribute__((always_inline)) void
unpack_all(void (*unpack)(const uint8_t *, uint8_t *), size_t elems,
           size_t bytes, const uint8_t *src, uint8_t *dst, uint64_t n_blocks)
{
    size_t step = elems == 1 ? GROUP : 1;
    for (; n_blocks >= step; n_blocks -= step) {
        unpack(src, dst);
        src += step * bytes;
        dst += step * elems * sizeof(float);
    }
    if (n_blocks != 0)
        unpack_rest(unpack, bytes, src, dst, (size_t)n_blocks);
}

/* ---- quantising ---- */

static inline quants quants_load(const uint8_t *src)
{
    quants q;
    for (int k = 0; k < 4; k++)
        q.x[k] = vf_load(src + VF_BYTES * k);
    q.peak = vf_peak(q.x);
    return q;
}

/* The first of n floats whose magnitude has these bits or higher ones. */
static inline uint64_t first_past(const uint8_t *src, uint32_t limit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, src + i * sizeof bits, sizeof bits);
        if ((bits & 0x7FFFFFFF) >= limit)
            return i;
    }
    return GGLD_NO_ELEM;
}

#define INFINITE 0x7F800000u

/* A group with NaN or infinity, as if they were zero. */
static __attribute__((noinline, cold)) quants quants_clean(const uint8_t *src)
{
    float clean[GROUP];
    memcpy(clean, src, sizeof clean);
    for (size_t i = 0; i < GROUP; i++)
        if ((ggld_bits_of_float(clean[i]) & INFINITE) == INFINITE)
            clean[i] = 0;
    return quants_load((const uint8_t *)clean);
}

/* One group of 32 floats; the first bad one of them or GGLD_NO_ELEM. */
static inline __attribute__((always_inline)) uint64_t
pack_group(uint32_t (*pack)(const quants *, uint8_t *), const uint8_t *src,
           uint8_t *dst)
{
    quants q = quants_load(src);
    uint64_t bad = GGLD_NO_ELEM;

    if (__builtin_expect(q.peak >= INFINITE, 0)) {
        bad = first_past(src, INFINITE, GROUP);
        q = quants_clean(src);
    }
    uint32_t limit = pack(&q, dst);
    if (__builtin_expect(limit != 0, 0))
        bad = ggld_min_u64(bad, first_past(src, limit, GROUP));
    return bad;
}

static inline uint64_t pack_rest(uint32_t (*pack)(const quants *, uint8_t *),
                                 size_t bytes, const uint8_t *src, uint8_t *dst,
                                 size_t n)
{
    uint8_t in[GROUP * sizeof(float)] = { 0 };
    uint8_t out[GROUP * sizeof(float)];

    memcpy(in, src, n * sizeof(float));
    uint64_t bad = pack_group(pack, in, out);
    memcpy(dst, out, n * bytes);
    return bad;
}

static inline __attribute__((always_inline)) uint64_t
pack_all(uint32_t (*pack)(const quants *, uint8_t *), size_t elems,
         size_t bytes, const uint8_t *src, uint8_t *dst, uint64_t n_blocks)
{
    size_t step = elems == 1 ? GROUP : 1;
    uint64_t first_bad = GGLD_NO_ELEM;
    uint64_t n_done = 0;

    for (; n_blocks - n_done >= step; n_done += step) {
        uint64_t bad = pack_group(pack, src, dst);
        if (__builtin_expect(bad != GGLD_NO_ELEM, 0))
            first_bad = ggld_min_u64(first_bad, n_done * elems + bad);
        src += GROUP * sizeof(float);
        dst += step * bytes;
    }
    if (n_done != n_blocks) {
        uint64_t bad =
            pack_rest(pack, bytes, src, dst, (size_t)(n_blocks - n_done));
        if (bad != GGLD_NO_ELEM)
            first_bad = ggld_min_u64(first_bad, n_done * elems + bad);
    }
    return first_bad;
}

/* ---- the rows ---- */

#define DEFINE_PACK_0(NAME, elems, bytes)
#define DEFINE_PACK_1(NAME, elems, bytes)                               \
    _Static_assert((elems) == 1 || (elems) == GROUP, #NAME);            \
    static uint64_t from_f32_##NAME(const void *src, void *dst,         \
                                    uint64_t n_blocks)                  \
    {                                                                   \
        return pack_all(pack_##NAME, elems, bytes, src, dst, n_blocks); \
    }

#ifdef VF_STREAM
#define DEFINE_STREAM(NAME, elems, bytes)                                    \
    static void stream_##NAME(const void *src, void *dst, uint64_t n_blocks) \
    {                                                                        \
        stream_all(to_f32_##NAME, elems, bytes, src, dst, n_blocks);         \
    }
#define STREAM_ROW(NAME) stream_##NAME
#else
#define DEFINE_STREAM(NAME, elems, bytes)
#define STREAM_ROW(NAME) to_f32_##NAME
#endif

#define TYPE(id, NAME, name, elems, bytes, unpacks, packs, ...)              \
    static void to_f32_##NAME(const void *src, void *dst, uint64_t n_blocks) \
    {                                                                        \
        unpack_all(unpack_##NAME, elems, bytes, src, dst, n_blocks);         \
    }                                                                        \
    DEFINE_STREAM(NAME, elems, bytes)                                        \
    DEFINE_PACK_##packs(NAME, elems, bytes)
#include "../spec/tensor_types.def"

/* The last elements of a row of n: whole groups first. */
static void f32_to_f16(const void *src, void *dst, uint64_t n)
{
    const uint8_t *in = src;
    uint8_t *out = dst;

    for (; n >= 8; n -= 8, in += VF_BYTES, out += VF_BYTES / 2)
        vf_store_halves(out, vf_load(in));
    if (n != 0) {
        float rest[8] = { 0 };
        uint8_t halves[16];
        memcpy(rest, in, (size_t)n * sizeof(float));
        vf_store_halves(halves, vf_load(rest));
        memcpy(out, halves, (size_t)n * 2);
    }
}

#define FROM_F32_0(NAME) NULL
#define FROM_F32_1(NAME) from_f32_##NAME

const ggld_kern_set KERN_SET = {
    KERN_SET_NAME,
    {
#define TYPE(id, NAME, name, elems, bytes, unpacks, packs, ...) \
    [id] = { to_f32_##NAME, STREAM_ROW(NAME), FROM_F32_##packs(NAME) },
#include "../spec/tensor_types.def"
    },
    f32_to_f16,
};

#endif /* GGLD_KERN_SET_H */
