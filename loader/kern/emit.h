/* SPDX-License-Identifier: MIT */
/* What many bodies have in common, over the vocabulary of any set: 32 elements
 * to floats, and scales that are packed in odd ways. */
#ifndef GGLD_KERN_EMIT_H
#define GGLD_KERN_EMIT_H

#define VF_BYTES 32  /* 8 floats */
#define VB_BYTES 128 /* 32 bytes, once they are floats */

/* Sets the factor for vb_part: unit(d) * vb_part(q, k) is d * q. */
static inline vf unit(vf d)
{
    return vf_mul(d, vf_set(VB_UNIT));
}

/* q * d; d of the first 16 elements and of the others, in units. */
static inline void emit(uint8_t *out, vb q, vf d0, vf d1)
{
    vf_store(out, vf_mul(vb_part(q, 0), d0));
    vf_store(out + VF_BYTES, vf_mul(vb_part(q, 1), d0));
    vf_store(out + 2 * VF_BYTES, vf_mul(vb_part(q, 2), d1));
    vf_store(out + 3 * VF_BYTES, vf_mul(vb_part(q, 3), d1));
}

/* q * d + m, likewise. */
static inline void emit_affine(uint8_t *out, vb q, vf d0, vf m0, vf d1, vf m1)
{
    vf_store(out, vf_add(vf_mul(vb_part(q, 0), d0), m0));
    vf_store(out + VF_BYTES, vf_add(vf_mul(vb_part(q, 1), d0), m0));
    vf_store(out + 2 * VF_BYTES, vf_add(vf_mul(vb_part(q, 2), d1), m1));
    vf_store(out + 3 * VF_BYTES, vf_add(vf_mul(vb_part(q, 3), d1), m1));
}

/* The eight 6-bit scales and minima of Q4_K and Q5_K, as one byte each. */
typedef struct pairs_k {
    uint64_t scales, minima;
} pairs_k;

static inline pairs_k pairs_k_of(const uint8_t *packed)
{
    uint32_t a = ggld_load_le32(packed);
    uint32_t b = ggld_load_le32(packed + 4);
    uint32_t c = ggld_load_le32(packed + 8);
    uint32_t scales = (c & 0x0F0F0F0F) | (a >> 2 & 0x30303030);
    uint32_t minima = (c >> 4 & 0x0F0F0F0F) | (b >> 2 & 0x30303030);
    pairs_k r = { (a & 0x3F3F3F3F) | (uint64_t)scales << 32,
                  (b & 0x3F3F3F3F) | (uint64_t)minima << 32 };
    return r;
}

/* Four 7-bit numbers, the lowest first, to four bytes of signs: each number
 * with bit 7 such that the parity is even. */
static inline uint32_t signs_even(uint32_t packed)
{
    uint32_t x = (packed & 0x7F) | (packed << 1 & 0x7F00) |
                 (packed << 2 & 0x7F0000) | (packed << 3 & 0x7F000000);
    uint32_t parity = x ^ x >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return x | (parity & 0x01010101) << 7;
}

/* The same of the top seven bits of four numbers of 16 bits. */
static inline uint32_t signs_even_of_4(uint64_t numbers)
{
    uint64_t x = numbers >> 9 & 0x007F007F007F007F;
    uint64_t parity = x ^ x >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    x |= (parity & 0x0001000100010001) << 7;
    x = (x | x >> 8) & 0x0000FFFF0000FFFF;
    return (uint32_t)(x | x >> 16);
}

/* 2n + 1: scales of the IQ types. Half of it is 0.5 + n; that and further
 * powers of two go into d first, which rounds nothing. */
static const float odd_numbers[16] = { 1,  3,  5,  7,  9,  11, 13, 15,
                                       17, 19, 21, 23, 25, 27, 29, 31 };

/* An eighth, negative where bit 3 is set. There is no telling which it will be:
 * a branch would be taken wrongly half of the time. */
static const float eighths[16] = { 0.125f,  0.125f,  0.125f,  0.125f,
                                   0.125f,  0.125f,  0.125f,  0.125f,
                                   -0.125f, -0.125f, -0.125f, -0.125f,
                                   -0.125f, -0.125f, -0.125f, -0.125f };

static const int8_t levels_iq4[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
};
/* E2M1 floats, doubled. */
static const int8_t levels_fp4[16] = { 0, 1,  2,  3,  4,  6,  8,  12,
                                       0, -1, -2, -3, -4, -6, -8, -12 };

/* ---- quantisers ---- */

/* 32 floats, none of them NaN or infinite, and the bits of the largest
 * magnitude. */
typedef struct quants {
    vf x[4];
    uint32_t peak;
} quants;

#define HALF_LIMIT 0x477FF000u /* 65520: from here on a half is infinite */

/* The bits of the magnitude that the block's scale comes from, where a half
 * can't hold the scale; else 0. */
static inline uint32_t past_half(float scale, uint32_t magnitude)
{
    uint32_t bits = ggld_bits_of_float(scale) & 0x7FFFFFFF;
    return bits >= HALF_LIMIT ? magnitude : 0;
}

/* 1 / d, or 0 for 0 and for what is so small that it counts as 0. */
static inline float inverse(float d)
{
    float id = d != 0 ? 1.0f / d : 0.0f;
    return ggld_bits_of_float(id) << 1 < 0xFF000000u ? id : 0.0f;
}

/* x * id + offset, cut to integers, at most top. */
static inline vb quantize_levels(const vf x[4], float id, float offset,
                                 uint8_t top)
{
    vf level[4];
    for (int k = 0; k < 4; k++)
        level[k] = vf_add(vf_mul(x[k], vf_set(id)), vf_set(offset));
    return vb_min(vb_of(level), vb_set(top));
}

/* The lowest element, the step to the next of n levels, and (x - low) / step.
 * A block whose step has no inverse counts as zeros. */
typedef struct affine {
    float low, step;
    vb levels;
} affine;

static inline affine quantize_affine(const quants *q, uint8_t top)
{
    affine r;
    r.low = vf_lowest(q->x);
    float high = vf_highest(q->x);
    r.step = high > r.low ? (high - r.low) / (float)top : 0;
    float id = inverse(r.step);
    if (r.step != 0 && id == 0 && r.step < 1)
        r.low = r.step = 0;
    vf x[4];
    for (int k = 0; k < 4; k++)
        x[k] = vf_sub(q->x[k], vf_set(r.low));
    r.levels = id != 0 ? quantize_levels(x, id, 0.5f, top) : vb_set(0);
    return r;
}

/* As past_half, for a scale and a minimum. */
static inline uint32_t past_half_affine(const affine *a, uint32_t peak)
{
    uint32_t low = ggld_bits_of_float(a->low) & 0x7FFFFFFF;
    uint32_t past = past_half(a->step, peak);
    return past != 0 ? past : past_half(a->low, low);
}

#endif /* GGLD_KERN_EMIT_H */
