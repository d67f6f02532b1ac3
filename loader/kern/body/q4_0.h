/* SPDX-License-Identifier: MIT */
/* Q4_0: half d, 16 bytes of nibbles. (q - 8) * d */
static inline void unpack_Q4_0(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    emit(out, vb_sub(vb_nibbles(block + 2), vb_set(8)), d, d);
}

static inline uint32_t pack_Q4_0(const quants *q, uint8_t *block)
{
    float d = vf_first_peak(q->x, q->peak) / -8.0f;
    float id = inverse(d);
    d = id != 0 ? d : -0.0f;
    half_store(block, d);
    vb_store_nibbles(block + 2, quantize_levels(q->x, id, 8.5f, 15));
    return past_half(d, q->peak);
}
