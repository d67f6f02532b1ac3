/* SPDX-License-Identifier: MIT */
/* I8: 32 bytes. */
static inline void unpack_I8(const uint8_t *src, uint8_t *out)
{
    for (int k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_load_i8(src + 8 * k));
}
