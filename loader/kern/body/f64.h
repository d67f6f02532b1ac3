/* SPDX-License-Identifier: MIT */
/* F64: 32 doubles. */
static inline void unpack_F64(const uint8_t *src, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_load_f64(src + 64 * k));
}
