/* SPDX-License-Identifier: MIT */
/* The vector vocabulary (vec_scalar.h says what each word means) with NEON as
 * every AArch64 has it, little-endian. A vb is in the order of memory, and its
 * parts are in units of 1. */
#ifndef GGLD_KERN_VEC_NEON_H
#define GGLD_KERN_VEC_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../base/half.h"

#define VB_UNIT 1.0f

typedef float32x4x2_t vf;
typedef uint8x16x2_t vb;
typedef uint32_t vm;

static inline vf vf_pair(float32x4_t low, float32x4_t high)
{
    vf r = { { low, high } };
    return r;
}

static inline vb vb_pair(uint8x16_t low, uint8x16_t high)
{
    vb r = { { low, high } };
    return r;
}

/* ---- floats: loads and stores, through bytes: any alignment ---- */

static inline vf vf_set(float value)
{
    return vf_pair(vdupq_n_f32(value), vdupq_n_f32(value));
}

static inline vf vf_load(const void *p)
{
    const uint8_t *bytes = p;
    return vf_pair(vreinterpretq_f32_u8(vld1q_u8(bytes)),
                   vreinterpretq_f32_u8(vld1q_u8(bytes + 16)));
}

static inline void vf_store(void *p, vf a)
{
    uint8_t *bytes = p;
    vst1q_u8(bytes, vreinterpretq_u8_f32(a.val[0]));
    vst1q_u8(bytes + 16, vreinterpretq_u8_f32(a.val[1]));
}

static inline vf vf_load_f32(const uint8_t *p)
{
    return vf_load(p);
}

static inline vf vf_load_f16(const uint8_t *p)
{
    float16x8_t halves = vreinterpretq_f16_u8(vld1q_u8(p));
    return vf_pair(vcvt_f32_f16(vget_low_f16(halves)),
                   vcvt_high_f32_f16(halves));
}

static inline vf vf_load_bf16(const uint8_t *p)
{
    uint16x8_t tops = vreinterpretq_u16_u8(vld1q_u8(p));
    uint32x4_t low = vshll_n_u16(vget_low_u16(tops), 16);
    uint32x4_t high = vshll_n_u16(vget_high_u16(tops), 16);
    return vf_pair(vreinterpretq_f32_u32(low), vreinterpretq_f32_u32(high));
}

static inline float32x4_t load_f64(const uint8_t *p)
{
    float64x2_t low = vreinterpretq_f64_u8(vld1q_u8(p));
    float64x2_t high = vreinterpretq_f64_u8(vld1q_u8(p + 16));
    return vcvt_high_f32_f64(vcvt_f32_f64(low), high);
}

static inline vf vf_load_f64(const uint8_t *p)
{
    return vf_pair(load_f64(p), load_f64(p + 32));
}

static inline vf vf_of_i16(int16x8_t numbers)
{
    return vf_pair(vcvtq_f32_s32(vmovl_s16(vget_low_s16(numbers))),
                   vcvtq_f32_s32(vmovl_high_s16(numbers)));
}

static inline vf vf_of_i8(uint8x8_t bytes)
{
    return vf_of_i16(vmovl_s8(vreinterpret_s8_u8(bytes)));
}

static inline vf vf_load_i8(const void *p)
{
    return vf_of_i8(vld1_u8(p));
}

static inline vf vf_load_i16(const uint8_t *p)
{
    return vf_of_i16(vreinterpretq_s16_u8(vld1q_u8(p)));
}

static inline vf vf_load_i32(const uint8_t *p)
{
    return vf_pair(vcvtq_f32_s32(vreinterpretq_s32_u8(vld1q_u8(p))),
                   vcvtq_f32_s32(vreinterpretq_s32_u8(vld1q_u8(p + 16))));
}

/* Through doubles they would be rounded twice. */
static inline vf vf_load_i64(const uint8_t *p)
{
    float r[8];
    for (int i = 0; i < 8; i++)
        r[i] = (float)(int64_t)ggld_load_le64(p + 8 * i);
    return vf_load(r);
}

static inline vf vf_bytes(uint64_t bytes)
{
    return vf_of_i8(vcreate_u8(bytes));
}

static inline vf vf_load_i8_pair(const void *p, const void *q)
{
    return vf_bytes(ggld_load_le32(p) | (uint64_t)ggld_load_le32(q) << 32);
}

static inline vf vf_half(const uint8_t *p)
{
    float16x4_t half = vreinterpret_f16_u16(vdup_n_u16(ggld_load_le16(p)));
    float32x4_t value = vcvt_f32_f16(half);
    return vf_pair(value, value);
}

static inline void vf_store_halves(uint8_t *p, vf a)
{
    float16x8_t halves = vcvt_high_f16_f32(vcvt_f16_f32(a.val[0]), a.val[1]);
    vst1q_u8(p, vreinterpretq_u8_f16(halves));
}

static inline void vf_store_f16(uint8_t *p, vf a)
{
    vf_store_halves(p, a);
}

static inline uint16x4_t bf16_of(float32x4_t a)
{
    uint32x4_t bits = vreinterpretq_u32_f32(a);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    bits = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd);
    return vshrn_n_u32(bits, 16);
}

static inline void vf_store_bf16(uint8_t *p, vf a)
{
    vst1q_u8(p, vreinterpretq_u8_u16(
                    vcombine_u16(bf16_of(a.val[0]), bf16_of(a.val[1]))));
}

static inline void vf_store_f32(uint8_t *p, vf a)
{
    vf_store(p, a);
}

static inline float half_value(uint16_t bits)
{
    float16x4_t half = vreinterpret_f16_u16(vdup_n_u16(bits));
    return vgetq_lane_f32(vcvt_f32_f16(half), 0);
}

static inline float half_load(const uint8_t *p)
{
    return half_value(ggld_load_le16(p));
}

static inline void half_store(uint8_t *p, float value)
{
    float16x4_t half = vcvt_f16_f32(vdupq_n_f32(value));
    ggld_store_le16(p, vget_lane_u16(vreinterpret_u16_f16(half), 0));
}

/* ---- floats: arithmetic ---- */

static inline vf vf_mul(vf a, vf b)
{
    return vf_pair(vmulq_f32(a.val[0], b.val[0]),
                   vmulq_f32(a.val[1], b.val[1]));
}

static inline vf vf_add(vf a, vf b)
{
    return vf_pair(vaddq_f32(a.val[0], b.val[0]),
                   vaddq_f32(a.val[1], b.val[1]));
}

static inline vf vf_sub(vf a, vf b)
{
    return vf_pair(vsubq_f32(a.val[0], b.val[0]),
                   vsubq_f32(a.val[1], b.val[1]));
}

static inline vm vm_set(uint32_t bits)
{
    return bits;
}

/* Bit 0 of bits to the top of the first number, bit 3 to that of the last. */
static inline float32x4_t negate_4(float32x4_t a, uint32_t bits)
{
    static const int32_t shifts[4] = { 31, 30, 29, 28 };
    uint32x4_t sign = vshlq_u32(vdupq_n_u32(bits), vld1q_s32(shifts));
    sign = vandq_u32(sign, vdupq_n_u32(0x80000000));
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), sign));
}

static inline vf vf_negate(vf a, vm m, unsigned k)
{
    return vf_pair(negate_4(a.val[0], m >> 8 * k),
                   negate_4(a.val[1], m >> (8 * k + 4)));
}

/* ---- 32 floats at a time, for quantisers ---- */

static inline uint32_t vf_peak(const vf x[4])
{
    uint32x4_t peak = vdupq_n_u32(0);
    for (int i = 0; i < 8; i++) {
        uint32x4_t bits = vreinterpretq_u32_f32(x[i / 2].val[i % 2]);
        peak = vmaxq_u32(peak, vandq_u32(bits, vdupq_n_u32(0x7FFFFFFF)));
    }
    return vmaxvq_u32(peak);
}

/* Is there an element with these bits? */
static inline bool any_bits(const vf x[4], uint32_t bits)
{
    uint32x4_t any = vdupq_n_u32(0);
    for (int i = 0; i < 8; i++)
        any =
            vorrq_u32(any, vceqq_u32(vreinterpretq_u32_f32(x[i / 2].val[i % 2]),
                                     vdupq_n_u32(bits)));
    return vmaxvq_u32(any) != 0;
}

/* The first element with these bits, or these and the sign. Where there are
 * such of both signs they have to be looked at one by one. */
static inline float vf_first_peak(const vf x[4], uint32_t bits)
{
    uint32_t negative = bits | 0x80000000;
    if (!any_bits(x, bits))
        return ggld_float_of_bits(negative);
    if (!any_bits(x, negative))
        return ggld_float_of_bits(bits);
    float elems[32];
    for (int k = 0; k < 4; k++)
        vf_store(elems + 8 * k, x[k]);
    int i = 0;
    while ((ggld_bits_of_float(elems[i]) & 0x7FFFFFFF) != bits)
        i++;
    return elems[i];
}

static inline float vf_lowest(const vf x[4])
{
    float32x4_t low = x[0].val[0];
    for (int i = 1; i < 8; i++)
        low = vminq_f32(low, x[i / 2].val[i % 2]);
    float lowest = vminvq_f32(low);
    return lowest != 0 ? lowest : vf_first_peak(x, 0);
}

static inline float vf_highest(const vf x[4])
{
    float32x4_t high = x[0].val[0];
    for (int i = 1; i < 8; i++)
        high = vmaxq_f32(high, x[i / 2].val[i % 2]);
    return vmaxvq_f32(high);
}

/* ---- bytes ---- */

static inline vb vb_set(uint8_t value)
{
    return vb_pair(vdupq_n_u8(value), vdupq_n_u8(value));
}

static inline vb vb_join(const uint8_t *p, const uint8_t *q)
{
    return vb_pair(vld1q_u8(p), vld1q_u8(q));
}

static inline vb vb_load(const uint8_t *p)
{
    return vb_join(p, p + 16);
}

static inline vb vb_nibbles(const uint8_t *p)
{
    uint8x16_t bytes = vld1q_u8(p);
    return vb_pair(vandq_u8(bytes, vdupq_n_u8(15)), vshrq_n_u8(bytes, 4));
}

static inline vb vb_nibbles_runs(const uint8_t *p)
{
    vb n = vb_nibbles(p);
    return vb_pair(vcombine_u8(vget_low_u8(n.val[0]), vget_low_u8(n.val[1])),
                   vcombine_u8(vget_high_u8(n.val[0]), vget_high_u8(n.val[1])));
}

static inline vb vb_repeat(uint32_t bytes)
{
    uint8x16_t r = vreinterpretq_u8_u32(vdupq_n_u32(bytes));
    return vb_pair(r, r);
}

static inline vb vb_select(vb a, vb b, vb mask)
{
    return vb_pair(vbslq_u8(mask.val[0], b.val[0], a.val[0]),
                   vbslq_u8(mask.val[1], b.val[1], a.val[1]));
}

static inline vb vb_or(vb a, vb b)
{
    return vb_pair(vorrq_u8(a.val[0], b.val[0]), vorrq_u8(a.val[1], b.val[1]));
}

static inline vb vb_and(vb a, vb b)
{
    return vb_pair(vandq_u8(a.val[0], b.val[0]), vandq_u8(a.val[1], b.val[1]));
}

static inline vb vb_add(vb a, vb b)
{
    return vb_pair(vaddq_u8(a.val[0], b.val[0]), vaddq_u8(a.val[1], b.val[1]));
}

static inline vb vb_sub(vb a, vb b)
{
    return vb_pair(vsubq_u8(a.val[0], b.val[0]), vsubq_u8(a.val[1], b.val[1]));
}

static inline vb vb_min(vb a, vb b)
{
    return vb_pair(vminq_u8(a.val[0], b.val[0]), vminq_u8(a.val[1], b.val[1]));
}

static inline vb vb_at_least(vb a, vb b)
{
    return vb_pair(vcgeq_u8(a.val[0], b.val[0]), vcgeq_u8(a.val[1], b.val[1]));
}

/* Left by n, which may be negative, then cut to mask. */
static inline vb vb_shift(vb a, int n, uint8_t mask)
{
    int8x16_t by = vdupq_n_s8((int8_t)n);
    return vb_and(vb_pair(vshlq_u8(a.val[0], by), vshlq_u8(a.val[1], by)),
                  vb_set(mask));
}

static inline vb vb_shr(vb a, int n, uint8_t mask)
{
    return vb_shift(a, -n, mask);
}

static inline vb vb_shl(vb a, int n, uint8_t mask)
{
    return vb_shift(a, n, mask);
}

static inline vb vb_table(const int8_t table[16], vb a)
{
    uint8x16_t t = vreinterpretq_u8_s8(vld1q_s8(table));
    return vb_pair(vqtbl1q_u8(t, a.val[0]), vqtbl1q_u8(t, a.val[1]));
}

static inline vb vb_pairs(const uint8_t *p)
{
    static const uint8_t copies[16] = { 0, 0, 0, 0, 1, 1, 1, 1,
                                        2, 2, 2, 2, 3, 3, 3, 3 };
    static const int8_t shifts[16] = { 0, -2, -4, -6, 0, -2, -4, -6,
                                       0, -2, -4, -6, 0, -2, -4, -6 };
    uint8x16_t bytes = vcombine_u8(vld1_u8(p), vdup_n_u8(0));
    uint8x16_t at = vld1q_u8(copies);
    int8x16_t by = vld1q_s8(shifts);
    uint8x16_t low = vqtbl1q_u8(bytes, at);
    uint8x16_t high = vqtbl1q_u8(bytes, vaddq_u8(at, vdupq_n_u8(4)));
    return vb_and(vb_pair(vshlq_u8(low, by), vshlq_u8(high, by)), vb_set(3));
}

static const uint8_t bit_of_byte[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
                                         1, 2, 4, 8, 16, 32, 64, 128 };

static inline vb vb_bits(uint32_t bits, uint8_t value)
{
    static const uint8_t copies[16] = { 0, 0, 0, 0, 0, 0, 0, 0,
                                        1, 1, 1, 1, 1, 1, 1, 1 };
    uint8x16_t bytes = vreinterpretq_u8_u32(vdupq_n_u32(bits));
    uint8x16_t at = vld1q_u8(copies);
    uint8x16_t which = vld1q_u8(bit_of_byte);
    uint8x16_t low = vqtbl1q_u8(bytes, at);
    uint8x16_t high = vqtbl1q_u8(bytes, vaddq_u8(at, vdupq_n_u8(2)));
    return vb_and(vb_pair(vtstq_u8(low, which), vtstq_u8(high, which)),
                  vb_set(value));
}

static inline vf vb_exact(vb a, unsigned k)
{
    uint8x16_t half = a.val[k / 2];
    return vf_of_i8(k % 2 == 0 ? vget_low_u8(half) : vget_high_u8(half));
}

static inline vf vb_part(vb a, unsigned k)
{
    return vb_exact(a, k);
}

/* ---- 32 floats to bytes ---- */

static inline uint8x16_t narrow(int32x4_t a, int32x4_t b, int32x4_t c,
                                int32x4_t d)
{
    int16x8_t low = vmovn_high_s32(vmovn_s32(a), b);
    int16x8_t high = vmovn_high_s32(vmovn_s32(c), d);
    return vreinterpretq_u8_s8(vmovn_high_s16(vmovn_s16(low), high));
}

static inline vb vb_of(const vf x[4])
{
    int32x4_t n[8];
    for (int i = 0; i < 8; i++)
        n[i] = vcvtq_s32_f32(x[i / 2].val[i % 2]);
    return vb_pair(narrow(n[0], n[1], n[2], n[3]),
                   narrow(n[4], n[5], n[6], n[7]));
}

static inline vb vb_nearest(const vf x[4])
{
    int32x4_t n[8];
    for (int i = 0; i < 8; i++)
        n[i] = vcvtaq_s32_f32(x[i / 2].val[i % 2]);
    return vb_pair(narrow(n[0], n[1], n[2], n[3]),
                   narrow(n[4], n[5], n[6], n[7]));
}

static inline void vb_store(uint8_t *p, vb a)
{
    vst1q_u8(p, a.val[0]);
    vst1q_u8(p + 16, a.val[1]);
}

static inline void vb_store_nibbles(uint8_t *p, vb a)
{
    vst1q_u8(p, vsliq_n_u8(a.val[0], a.val[1], 4));
}

static inline uint32_t plane_16(uint8x16_t a)
{
    uint8x16_t bits = vandq_u8(a, vld1q_u8(bit_of_byte));
    return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits))
                                             << 8;
}

static inline uint32_t vb_plane(vb a, int n)
{
    uint8x16_t which = vdupq_n_u8((uint8_t)(1 << n));
    return plane_16(vtstq_u8(a.val[0], which)) |
           plane_16(vtstq_u8(a.val[1], which)) << 16;
}

#endif /* GGLD_KERN_VEC_NEON_H */
