/* SPDX-License-Identifier: MIT */
/* BF16: the top halves of 32 floats. */
static inline void unpack_BF16(const uint8_t *src, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_load_bf16(src + 16 * k));
}

/* From here on a float rounds to infinity. */
#define BF16_LIMIT 0x7F7F8000u

static inline uint32_t pack_BF16(const quants *q, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store_bf16(out + 16 * k, q->x[k]);
    return q->peak >= BF16_LIMIT ? BF16_LIMIT : 0;
}
