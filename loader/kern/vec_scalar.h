/* SPDX-License-Identifier: MIT */
/* The vector vocabulary in plain C: the definition that the other sets are
 * held to, bit for bit, and what runs where there is no other.
 *
 *   vf  8 floats; memory at any alignment, 32 bytes
 *   vb  32 bytes, in an order of the set's own: only what loads, stores or
 *       takes them apart says which element is which
 *   vm  32 sign bits, bit j for element j
 *
 * vb_part gives bytes (signed) as floats in units of VB_UNIT, which each set
 * chooses: multiply the factor by VB_UNIT beforehand. It is a power of two, so
 * nothing changes as long as the factor is at least 2^-100 in magnitude, or 0;
 * vb_exact gives the bytes themselves. */
#ifndef GGLD_KERN_VEC_SCALAR_H
#define GGLD_KERN_VEC_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../base/half.h"

#define VB_UNIT 1.0f

typedef struct vf {
    float v[8];
} vf;

typedef struct vb {
    uint8_t v[32];
} vb;

typedef uint32_t vm;

#define EACH(n) for (unsigned i = 0; i < (n); i++)

/* ---- floats: loads and stores ---- */

static inline vf vf_set(float value)
{
    vf r;
    EACH(8)
    r.v[i] = value;
    return r;
}

/* This machine's own order. */
static inline vf vf_load(const void *p)
{
    vf r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}

static inline void vf_store(void *p, vf a)
{
    memcpy(p, a.v, sizeof a.v);
}

/* The rest of the loads are of little-endian numbers, which become floats as C
 * converts them: to the nearest, ties to even. */
static inline vf vf_load_f32(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = ggld_float_of_bits(ggld_load_le32(p + 4 * i));
    return r;
}

static inline vf vf_load_f16(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = ggld_half_to_float(ggld_load_le16(p + 2 * i));
    return r;
}

static inline vf vf_load_bf16(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = ggld_bf16_to_float(ggld_load_le16(p + 2 * i));
    return r;
}

static inline vf vf_load_f64(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = (float)ggld_double_of_bits(ggld_load_le64(p + 8 * i));
    return r;
}

static inline vf vf_load_i8(const void *p)
{
    const int8_t *bytes = p;
    vf r;
    EACH(8)
    r.v[i] = (float)bytes[i];
    return r;
}

static inline vf vf_load_i16(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = (float)(int16_t)ggld_load_le16(p + 2 * i);
    return r;
}

static inline vf vf_load_i32(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = (float)(int32_t)ggld_load_le32(p + 4 * i);
    return r;
}

static inline vf vf_load_i64(const uint8_t *p)
{
    vf r;
    EACH(8)
    r.v[i] = (float)(int64_t)ggld_load_le64(p + 8 * i);
    return r;
}

/* Four signed bytes at p, then four at q. */
static inline vf vf_load_i8_pair(const void *p, const void *q)
{
    int8_t bytes[8];
    memcpy(bytes, p, 4);
    memcpy(bytes + 4, q, 4);
    return vf_load_i8(bytes);
}

/* The eight signed bytes of a number, the lowest first. */
static inline vf vf_bytes(uint64_t bytes)
{
    vf r;
    EACH(8)
    r.v[i] = (float)(int8_t)(bytes >> 8 * i);
    return r;
}

/* The half at p, eight times. */
static inline vf vf_half(const uint8_t *p)
{
    return vf_set(ggld_half_to_float(ggld_load_le16(p)));
}

/* Halves in this machine's order. */
static inline void vf_store_halves(uint8_t *p, vf a)
{
    uint16_t halves[8];
    EACH(8)
    halves[i] = ggld_float_to_half(a.v[i]);
    memcpy(p, halves, sizeof halves);
}

/* The rest of the stores are little-endian. */
static inline void vf_store_f16(uint8_t *p, vf a)
{
    EACH(8)
    ggld_store_le16(p + 2 * i, ggld_float_to_half(a.v[i]));
}

static inline void vf_store_bf16(uint8_t *p, vf a)
{
    EACH(8)
    ggld_store_le16(p + 2 * i, ggld_float_to_bf16(a.v[i]));
}

/* The half with these bits; and the one at p. */
static inline float half_value(uint16_t bits)
{
    return ggld_half_to_float(bits);
}

static inline float half_load(const uint8_t *p)
{
    return half_value(ggld_load_le16(p));
}

/* A single half. */
static inline void half_store(uint8_t *p, float value)
{
    ggld_store_le16(p, ggld_float_to_half(value));
}

static inline void vf_store_f32(uint8_t *p, vf a)
{
    EACH(8)
    ggld_store_le32(p + 4 * i, ggld_bits_of_float(a.v[i]));
}

/* ---- floats: arithmetic ---- */

static inline vf vf_mul(vf a, vf b)
{
    EACH(8)
    a.v[i] *= b.v[i];
    return a;
}

static inline vf vf_add(vf a, vf b)
{
    EACH(8)
    a.v[i] += b.v[i];
    return a;
}

static inline vf vf_sub(vf a, vf b)
{
    EACH(8)
    a.v[i] -= b.v[i];
    return a;
}

static inline vm vm_set(uint32_t bits)
{
    return bits;
}

/* The sign of element i turned round where bit 8k + i of m is set. */
static inline vf vf_negate(vf a, vm m, unsigned k)
{
    EACH(8)
    a.v[i] = (m >> (8 * k + i) & 1) != 0 ? -a.v[i] : a.v[i];
    return a;
}

/* ---- 32 floats at a time, for quantisers; no NaN among them ---- */

/* The bits of the largest magnitude, NaN and infinity being the largest. */
static inline uint32_t vf_peak(const vf x[4])
{
    uint32_t peak = 0;
    EACH(32)
    {
        uint32_t bits = ggld_bits_of_float(x[i / 8].v[i % 8]) & 0x7FFFFFFF;
        peak = bits > peak ? bits : peak;
    }
    return peak;
}

/* The first element whose magnitude has these bits: its value. */
static inline float vf_first_peak(const vf x[4], uint32_t bits)
{
    EACH(32)
    {
        float value = x[i / 8].v[i % 8];
        if ((ggld_bits_of_float(value) & 0x7FFFFFFF) == bits)
            return value;
    }
    return 0;
}

/* The smallest element; of zeros the first in order. */
static inline float vf_lowest(const vf x[4])
{
    float low = x[0].v[0];
    EACH(32)
    low = x[i / 8].v[i % 8] < low ? x[i / 8].v[i % 8] : low;
    return low;
}

/* The largest element; of zeros any. */
static inline float vf_highest(const vf x[4])
{
    float high = x[0].v[0];
    EACH(32)
    high = x[i / 8].v[i % 8] > high ? x[i / 8].v[i % 8] : high;
    return high;
}

/* ---- bytes ---- */

static inline vb vb_set(uint8_t value)
{
    vb r;
    memset(r.v, value, sizeof r.v);
    return r;
}

static inline vb vb_load(const uint8_t *p)
{
    vb r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}

/* 16 bytes at p, then 16 at q. */
static inline vb vb_join(const uint8_t *p, const uint8_t *q)
{
    vb r;
    memcpy(r.v, p, 16);
    memcpy(r.v + 16, q, 16);
    return r;
}

/* 16 bytes at p: their low nibbles, then their high ones. */
static inline vb vb_nibbles(const uint8_t *p)
{
    vb r;
    EACH(16)
    {
        r.v[i] = p[i] & 15;
        r.v[i + 16] = p[i] >> 4;
    }
    return r;
}

/* The same in two runs of 8 bytes. */
static inline vb vb_nibbles_runs(const uint8_t *p)
{
    vb r;
    EACH(16)
    {
        unsigned at = i + (i & 8);
        r.v[at] = p[i] & 15;
        r.v[at + 8] = p[i] >> 4;
    }
    return r;
}

/* 8 bytes at p: their pairs of bits, the lowest first. */
static inline vb vb_pairs(const uint8_t *p)
{
    vb r;
    EACH(32)
    r.v[i] = p[i / 4] >> 2 * (i % 4) & 3;
    return r;
}

/* value where bit j is set, else 0. */
static inline vb vb_bits(uint32_t bits, uint8_t value)
{
    vb r;
    EACH(32)
    r.v[i] = (bits >> i & 1) != 0 ? value : 0;
    return r;
}

/* Four bytes, the lowest first, eight times. */
static inline vb vb_repeat(uint32_t bytes)
{
    vb r;
    EACH(32)
    r.v[i] = (uint8_t)(bytes >> 8 * (i % 4));
    return r;
}

/* b where mask is 255, a where it is 0. */
static inline vb vb_select(vb a, vb b, vb mask)
{
    EACH(32)
    a.v[i] = mask.v[i] != 0 ? b.v[i] : a.v[i];
    return a;
}

static inline vb vb_and(vb a, vb b)
{
    EACH(32)
    a.v[i] &= b.v[i];
    return a;
}

static inline vb vb_or(vb a, vb b)
{
    EACH(32)
    a.v[i] |= b.v[i];
    return a;
}

static inline vb vb_add(vb a, vb b)
{
    EACH(32)
    a.v[i] = (uint8_t)(a.v[i] + b.v[i]);
    return a;
}

static inline vb vb_sub(vb a, vb b)
{
    EACH(32)
    a.v[i] = (uint8_t)(a.v[i] - b.v[i]);
    return a;
}

static inline vb vb_min(vb a, vb b)
{
    EACH(32)
    a.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
    return a;
}

/* 255 where a >= b, else 0. */
static inline vb vb_at_least(vb a, vb b)
{
    EACH(32)
    a.v[i] = a.v[i] >= b.v[i] ? 255 : 0;
    return a;
}

/* Shifted by n bits within each byte, then cut to mask. */
static inline vb vb_shr(vb a, int n, uint8_t mask)
{
    EACH(32)
    a.v[i] = (uint8_t)(a.v[i] >> n & mask);
    return a;
}

static inline vb vb_shl(vb a, int n, uint8_t mask)
{
    EACH(32)
    a.v[i] = (uint8_t)(a.v[i] << n & mask);
    return a;
}

/* table[a], where a is below 16. */
static inline vb vb_table(const int8_t table[16], vb a)
{
    EACH(32)
    a.v[i] = (uint8_t)table[a.v[i]];
    return a;
}

/* Elements 8k to 8k + 7 as signed numbers: themselves, or in VB_UNITs. */
static inline vf vb_exact(vb a, unsigned k)
{
    vf r;
    EACH(8)
    r.v[i] = (float)(int8_t)a.v[8 * k + i];
    return r;
}

static inline vf vb_part(vb a, unsigned k)
{
    return vb_exact(a, k);
}

/* ---- 32 floats to bytes; each of them within -128.5 and 128.5 ---- */

/* Fractions are cut off. */
static inline vb vb_of(const vf x[4])
{
    vb r;
    EACH(32)
    r.v[i] = (uint8_t)(int8_t)x[i / 8].v[i % 8];
    return r;
}

/* To the nearest integer, halves away from zero. */
static inline vb vb_nearest(const vf x[4])
{
    vb r;
    EACH(32)
    {
        float value = x[i / 8].v[i % 8];
        int whole = (int)value;
        float rest = value - (float)whole; /* exact */
        whole += (rest >= 0.5f) - (rest <= -0.5f);
        r.v[i] = (uint8_t)whole;
    }
    return r;
}

static inline void vb_store(uint8_t *p, vb a)
{
    memcpy(p, a.v, sizeof a.v);
}

/* What vb_nibbles would load again; bits 4 to 7 of a are ignored. */
static inline void vb_store_nibbles(uint8_t *p, vb a)
{
    EACH(16)
    p[i] = (uint8_t)((a.v[i] & 15) | a.v[i + 16] << 4);
}

/* Bit n of every byte, element j at bit j. */
static inline uint32_t vb_plane(vb a, int n)
{
    uint32_t bits = 0;
    EACH(32)
    bits |= (uint32_t)(a.v[i] >> n & 1) << i;
    return bits;
}

#undef EACH

#endif /* GGLD_KERN_VEC_SCALAR_H */
