/* SPDX-License-Identifier: MIT */
/* Q5_0: half d, 32 fifth bits, 16 bytes of nibbles. (q - 16) * d */
static inline void unpack_Q5_0(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    vb q = vb_or(vb_nibbles(block + 6), vb_bits(ggld_load_le32(block + 2), 16));
    emit(out, vb_sub(q, vb_set(16)), d, d);
}

static inline uint32_t pack_Q5_0(const quants *q, uint8_t *block)
{
    float d = vf_first_peak(q->x, q->peak) / -16.0f;
    float id = inverse(d);
    vb levels = quantize_levels(q->x, id, 16.5f, 31);
    d = id != 0 ? d : -0.0f;
    half_store(block, d);
    ggld_store_le32(block + 2, vb_plane(levels, 4));
    vb_store_nibbles(block + 6, levels);
    return past_half(d, q->peak);
}
