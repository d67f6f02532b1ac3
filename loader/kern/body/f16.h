/* SPDX-License-Identifier: MIT */
/* F16: 32 halves. */
static inline void unpack_F16(const uint8_t *src, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_load_f16(src + 16 * k));
}

static inline uint32_t pack_F16(const quants *q, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store_f16(out + 16 * k, q->x[k]);
    return q->peak >= HALF_LIMIT ? HALF_LIMIT : 0;
}
