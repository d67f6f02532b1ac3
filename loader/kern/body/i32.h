/* SPDX-License-Identifier: MIT */
/* I32: 32 numbers. */
static inline void unpack_I32(const uint8_t *src, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_load_i32(src + 32 * k));
}
