/* SPDX-License-Identifier: MIT */
/* Q8_0: half d, 32 signed bytes. q * d */
static inline void unpack_Q8_0(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    emit(out, vb_load(block + 2), d, d);
}

static inline uint32_t pack_Q8_0(const quants *q, uint8_t *block)
{
    float d = ggld_float_of_bits(q->peak) / 127.0f;
    float id = inverse(d);
    vf level[4];
    for (int k = 0; k < 4; k++)
        level[k] = vf_mul(q->x[k], vf_set(id));
    d = id != 0 ? d : 0.0f;
    half_store(block, d);
    vb_store(block + 2, vb_nearest(level));
    return past_half(d, q->peak);
}
