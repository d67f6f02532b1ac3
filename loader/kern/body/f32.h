/* SPDX-License-Identifier: MIT */
/* F32: 32 floats. */
static inline void unpack_F32(const uint8_t *src, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_load_f32(src + 32 * k));
}

static inline uint32_t pack_F32(const quants *q, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store_f32(out + 32 * k, q->x[k]);
    return 0;
}
