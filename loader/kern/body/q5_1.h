/* SPDX-License-Identifier: MIT */
/* Q5_1: halves d and m, 32 fifth bits, 16 bytes of nibbles. q * d + m */
static inline void unpack_Q5_1(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    vf m = vf_half(block + 2);
    vb q = vb_or(vb_nibbles(block + 8), vb_bits(ggld_load_le32(block + 4), 16));
    emit_affine(out, q, d, m, d, m);
}

static inline uint32_t pack_Q5_1(const quants *q, uint8_t *block)
{
    affine a = quantize_affine(q, 31);
    half_store(block, a.step);
    half_store(block + 2, a.low);
    ggld_store_le32(block + 4, vb_plane(a.levels, 4));
    vb_store_nibbles(block + 8, a.levels);
    return past_half_affine(&a, q->peak);
}
