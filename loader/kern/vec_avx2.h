/* SPDX-License-Identifier: MIT */
/* The vector vocabulary (vec_scalar.h says what each word means) with AVX2 and
 * F16C, without FMA.
 *
 * A vb holds its 32 elements as eight groups g0 to g7 of four: g0 g2 g4 g6 in
 * the low lane, g1 g3 g5 g7 in the high one. Thus one byte shuffle within lanes
 * gives elements 8k to 8k + 7 as one vector of 32-bit numbers, in order; and
 * packing four such vectors gives this order back. vb_part leaves each byte at
 * the top of its 32 bits: times 2^24, but no step for the sign. */
#ifndef GGLD_KERN_VEC_AVX2_H
#define GGLD_KERN_VEC_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../base/half.h"

#define VB_UNIT 0x1p-24f
#define VF_STREAM

typedef __m256 vf;
typedef __m256i vb;
typedef __m256i vm;

/* ---- floats: loads and stores ---- */

static inline vf vf_set(float value)
{
    return _mm256_set1_ps(value);
}

static inline vf vf_load(const void *p)
{
    return _mm256_loadu_ps(p);
}

static inline void vf_store(void *p, vf a)
{
    _mm256_storeu_ps(p, a);
}

static inline vf vf_load_f32(const uint8_t *p)
{
    return vf_load(p);
}

static inline vf vf_load_f16(const uint8_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

static inline vf vf_load_bf16(const uint8_t *p)
{
    __m128i halves = _mm_loadu_si128((const __m128i *)p);
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

static inline vf vf_load_f64(const uint8_t *p)
{
    __m256d low = _mm256_loadu_pd((const double *)p);
    __m256d high = _mm256_loadu_pd((const double *)(p + 32));
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

static inline vf vf_of_i8(__m128i bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

static inline vf vf_load_i8(const void *p)
{
    return vf_of_i8(_mm_loadl_epi64(p));
}

static inline vf vf_load_i16(const uint8_t *p)
{
    __m128i numbers = _mm_loadu_si128((const __m128i *)p);
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(numbers));
}

static inline vf vf_load_i32(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)p));
}

/* There is no such instruction before AVX-512. */
static inline vf vf_load_i64(const uint8_t *p)
{
    float r[8];
    for (int i = 0; i < 8; i++)
        r[i] = (float)(int64_t)ggld_load_le64(p + 8 * i);
    return vf_load(r);
}

static inline vf vf_load_i8_pair(const void *p, const void *q)
{
    int low, high;
    memcpy(&low, p, sizeof low);
    memcpy(&high, q, sizeof high);
    return vf_of_i8(_mm_insert_epi32(_mm_cvtsi32_si128(low), high, 1));
}

static inline vf vf_bytes(uint64_t bytes)
{
    return vf_load_i8(&bytes);
}

static inline vf vf_half(const uint8_t *p)
{
    short half;
    memcpy(&half, p, sizeof half);
    return _mm256_cvtph_ps(_mm_set1_epi16(half));
}

static inline void vf_store_halves(uint8_t *p, vf a)
{
    _mm_storeu_si128((__m128i *)p,
                     _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

static inline void vf_store_f16(uint8_t *p, vf a)
{
    vf_store_halves(p, a);
}

static inline void vf_store_bf16(uint8_t *p, vf a)
{
    __m256i bits = _mm256_castps_si256(a);
    __m256i odd =
        _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF));
    bits = _mm256_srli_epi32(_mm256_add_epi32(bits, odd), 16);
    __m128i low = _mm256_castsi256_si128(bits);
    __m128i high = _mm256_extracti128_si256(bits, 1);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(low, high));
}

static inline void vf_store_f32(uint8_t *p, vf a)
{
    vf_store(p, a);
}

static inline float half_value(uint16_t bits)
{
    return _cvtsh_ss(bits);
}

static inline float half_load(const uint8_t *p)
{
    return half_value(ggld_load_le16(p));
}

static inline void half_store(uint8_t *p, float value)
{
    __m128i half = _mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT);
    ggld_store_le16(p, (uint16_t)_mm_cvtsi128_si32(half));
}

/* size bytes, a multiple of 64, to dst, which is aligned to that. */
static inline void vf_stream(uint8_t *dst, const uint8_t *src, size_t size)
{
    for (size_t i = 0; i < size; i += 64) {
        vf low = vf_load(src + i), high = vf_load(src + i + 32);
        _mm256_stream_ps((float *)(dst + i), low);
        _mm256_stream_ps((float *)(dst + i + 32), high);
    }
}

static inline void vf_stream_end(void)
{
    _mm_sfence();
}

/* ---- floats: arithmetic ---- */

static inline vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

static inline vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

static inline vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

static inline vm vm_set(uint32_t bits)
{
    return _mm256_set1_epi32((int)bits);
}

static inline vf vf_negate(vf a, vm m, unsigned k)
{
    /* Bit 8k + i to the top. */
    int top = 31 - 8 * (int)k;
    __m256i shift = _mm256_setr_epi32(top, top - 1, top - 2, top - 3, top - 4,
                                      top - 5, top - 6, top - 7);
    __m256 sign = _mm256_castsi256_ps(_mm256_sllv_epi32(m, shift));
    return _mm256_blendv_ps(a, _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)), sign);
}

/* ---- 32 floats at a time, for quantisers ---- */

static inline __m256i magnitude_bits(vf a)
{
    return _mm256_and_si256(_mm256_castps_si256(a),
                            _mm256_set1_epi32(0x7FFFFFFF));
}

static inline uint32_t vf_peak(const vf x[4])
{
    __m256i a = _mm256_max_epi32(magnitude_bits(x[0]), magnitude_bits(x[1]));
    __m256i b = _mm256_max_epi32(magnitude_bits(x[2]), magnitude_bits(x[3]));
    a = _mm256_max_epi32(a, b);
    __m128i c = _mm_max_epi32(_mm256_castsi256_si128(a),
                              _mm256_extracti128_si256(a, 1));
    c = _mm_max_epi32(c, _mm_shuffle_epi32(c, 0x4E));
    c = _mm_max_epi32(c, _mm_shuffle_epi32(c, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(c);
}

/* The sign bits of four vectors: those of masks, or of numbers. */
static inline uint32_t sign_bits(vf a, vf b, vf c, vf d)
{
    return (uint32_t)_mm256_movemask_ps(a) |
           (uint32_t)_mm256_movemask_ps(b) << 8 |
           (uint32_t)_mm256_movemask_ps(c) << 16 |
           (uint32_t)_mm256_movemask_ps(d) << 24;
}

/* The sign of the first element that is marked, or 0. */
static inline uint32_t sign_of_first(const vf x[4], uint32_t marked)
{
    uint32_t first = marked & -marked;
    return (sign_bits(x[0], x[1], x[2], x[3]) & first) != 0 ? 0x80000000 : 0;
}

static inline float vf_first_peak(const vf x[4], uint32_t bits)
{
    vf equal[4];
    for (int k = 0; k < 4; k++)
        equal[k] = _mm256_castsi256_ps(_mm256_cmpeq_epi32(
            magnitude_bits(x[k]), _mm256_set1_epi32((int)bits)));
    uint32_t marked = sign_bits(equal[0], equal[1], equal[2], equal[3]);
    return ggld_float_of_bits(bits | sign_of_first(x, marked));
}

static inline float vf_lowest(const vf x[4])
{
    vf a = _mm256_min_ps(_mm256_min_ps(x[0], x[1]), _mm256_min_ps(x[2], x[3]));
    __m128 b =
        _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_min_ps(b, _mm_movehl_ps(b, b));
    b = _mm_min_ss(b, _mm_movehdup_ps(b));
    float low = _mm_cvtss_f32(b);
    if (__builtin_expect(low != 0, 1))
        return low;
    vf zero[4];
    for (int k = 0; k < 4; k++)
        zero[k] = _mm256_cmp_ps(x[k], _mm256_setzero_ps(), _CMP_EQ_OQ);
    uint32_t marked = sign_bits(zero[0], zero[1], zero[2], zero[3]);
    return ggld_float_of_bits(sign_of_first(x, marked));
}

static inline float vf_highest(const vf x[4])
{
    vf a = _mm256_max_ps(_mm256_max_ps(x[0], x[1]), _mm256_max_ps(x[2], x[3]));
    __m128 b =
        _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

/* ---- bytes ---- */

static inline vb vb_set(uint8_t value)
{
    return _mm256_set1_epi8((char)value);
}

/* From the order of memory. */
static inline vb vb_grouped(__m256i bytes)
{
    return _mm256_permutevar8x32_epi32(
        bytes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}

/* To the order of memory. */
static inline __m256i vb_in_order(vb a)
{
    return _mm256_permutevar8x32_epi32(
        a, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline vb vb_load(const uint8_t *p)
{
    return vb_grouped(_mm256_loadu_si256((const __m256i *)p));
}

static inline vb vb_join(const uint8_t *p, const uint8_t *q)
{
    return vb_grouped(
        _mm256_loadu2_m128i((const __m128i_u *)q, (const __m128i_u *)p));
}

static inline __m256i load_twice(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

static inline vb vb_nibbles(const uint8_t *p)
{
    const __m256i groups = _mm256_setr_epi8(
        0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11, /* low lane */
        4, 5, 6, 7, 12, 13, 14, 15, 4, 5, 6, 7, 12, 13, 14, 15);
    const __m256i shift = _mm256_setr_epi32(0, 0, 4, 4, 0, 0, 4, 4);
    __m256i bytes = _mm256_shuffle_epi8(load_twice(p), groups);
    return _mm256_and_si256(_mm256_srlv_epi32(bytes, shift), vb_set(15));
}

static inline vb vb_nibbles_runs(const uint8_t *p)
{
    const __m256i groups = _mm256_setr_epi8(
        0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11, /* low lane */
        4, 5, 6, 7, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15);
    const __m256i shift = _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4);
    __m256i bytes = _mm256_shuffle_epi8(load_twice(p), groups);
    return _mm256_and_si256(_mm256_srlv_epi32(bytes, shift), vb_set(15));
}

static inline vb vb_repeat(uint32_t bytes)
{
    return _mm256_set1_epi32((int)bytes);
}

static inline vb vb_select(vb a, vb b, vb mask)
{
    return _mm256_blendv_epi8(a, b, mask);
}

static inline vb vb_and(vb a, vb b)
{
    return _mm256_and_si256(a, b);
}

static inline vb vb_or(vb a, vb b)
{
    return _mm256_or_si256(a, b);
}

static inline vb vb_add(vb a, vb b)
{
    return _mm256_add_epi8(a, b);
}

static inline vb vb_sub(vb a, vb b)
{
    return _mm256_sub_epi8(a, b);
}

static inline vb vb_min(vb a, vb b)
{
    return _mm256_min_epu8(a, b);
}

static inline vb vb_at_least(vb a, vb b)
{
    return _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a);
}

static inline vb vb_shr(vb a, int n, uint8_t mask)
{
    return _mm256_and_si256(_mm256_srli_epi32(a, n), vb_set(mask));
}

static inline vb vb_shl(vb a, int n, uint8_t mask)
{
    return _mm256_and_si256(_mm256_slli_epi32(a, n), vb_set(mask));
}

static inline vb vb_table(const int8_t table[16], vb a)
{
    return _mm256_shuffle_epi8(load_twice((const uint8_t *)table), a);
}

/* A byte holds four pairs; each of its four copies keeps one, which is at one
 * of four places. Folding the upper nibble onto the lower one leaves two. */
static inline vb vb_pairs(const uint8_t *p)
{
    static const int8_t pair[16] = { 0, 1, 2, 3, 1, 0, 0, 0,
                                     2, 0, 0, 0, 3, 0, 0, 0 };
    const __m256i copies = _mm256_setr_epi8(
        0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, /* low lane */
        1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7);
    __m256i bytes = _mm256_broadcastq_epi64(_mm_loadl_epi64((const void *)p));
    bytes = _mm256_and_si256(_mm256_shuffle_epi8(bytes, copies),
                             _mm256_set1_epi32((int)0xC0300C03));
    return vb_table(pair,
                    vb_shr(vb_or(bytes, _mm256_srli_epi32(bytes, 4)), 0, 15));
}

static inline vb vb_bits(uint32_t bits, uint8_t value)
{
    const __m256i copies = _mm256_setr_epi8(
        0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, /* low lane */
        0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const __m256i which = _mm256_setr_epi32(
        0x08040201, 0x08040201, 0x08040201, 0x08040201, /* low lane */
        (int)0x80402010, (int)0x80402010, (int)0x80402010, (int)0x80402010);
    __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), copies);
    bytes = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, which), which);
    return _mm256_and_si256(bytes, vb_set(value));
}

static inline __m256i vb_tops(vb a, unsigned k)
{
    const int top = 0x00808080 | (int)(4 * k) << 24;
    const int next = 0x01000000;
    return _mm256_shuffle_epi8(
        a, _mm256_setr_epi32(top, top + next, top + 2 * next, top + 3 * next,
                             top, top + next, top + 2 * next, top + 3 * next));
}

static inline vf vb_part(vb a, unsigned k)
{
    return _mm256_cvtepi32_ps(vb_tops(a, k));
}

static inline vf vb_exact(vb a, unsigned k)
{
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(vb_tops(a, k), 24));
}

/* ---- 32 floats to bytes ---- */

static inline vb vb_of(const vf x[4])
{
    __m256i low = _mm256_packs_epi32(_mm256_cvttps_epi32(x[0]),
                                     _mm256_cvttps_epi32(x[1]));
    __m256i high = _mm256_packs_epi32(_mm256_cvttps_epi32(x[2]),
                                      _mm256_cvttps_epi32(x[3]));
    return _mm256_packs_epi16(low, high);
}

/* Halves go away from zero if what is added before the cut is the float just
 * below 0.5: for 0.5 itself the sum rounds to 1, for the float below it does
 * not. */
static inline vb vb_nearest(const vf x[4])
{
    const vf sign = vf_set(-0.0f);
    const vf below_half = vf_set(0x1.FFFFFEp-2f);
    vf moved[4];
    for (int k = 0; k < 4; k++)
        moved[k] =
            vf_add(x[k], _mm256_or_ps(_mm256_and_ps(x[k], sign), below_half));
    return vb_of(moved);
}

static inline void vb_store(uint8_t *p, vb a)
{
    _mm256_storeu_si256((__m256i *)p, vb_in_order(a));
}

static inline void vb_store_nibbles(uint8_t *p, vb a)
{
    /* Per lane: two groups of low nibbles, then two of high ones. */
    a = vb_shr(a, 0, 15);
    __m256i high = _mm256_slli_epi32(_mm256_srli_si256(a, 8), 4);
    a = _mm256_or_si256(a, high);
    _mm_storeu_si128((__m128i *)p,
                     _mm_unpacklo_epi32(_mm256_castsi256_si128(a),
                                        _mm256_extracti128_si256(a, 1)));
}

static inline uint32_t vb_plane(vb a, int n)
{
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_slli_epi32(vb_in_order(a), 7 - n));
}

#endif /* GGLD_KERN_VEC_AVX2_H */
