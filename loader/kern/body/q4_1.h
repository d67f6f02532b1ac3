/* SPDX-License-Identifier: MIT */
/* Q4_1: halves d and m, 16 bytes of nibbles. q * d + m */
static inline void unpack_Q4_1(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    vf m = vf_half(block + 2);
    emit_affine(out, vb_nibbles(block + 4), d, m, d, m);
}

static inline uint32_t pack_Q4_1(const quants *q, uint8_t *block)
{
    affine a = quantize_affine(q, 15);
    half_store(block, a.step);
    half_store(block + 2, a.low);
    vb_store_nibbles(block + 4, a.levels);
    return past_half_affine(&a, q->peak);
}
