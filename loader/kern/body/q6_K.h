/* SPDX-License-Identifier: MIT */
/* Q6_K: 128 bytes of low nibbles, 64 bytes of upper pairs of bits, 16 signed
 * scales, half d. (d * scale) * (q - 32), in runs of 16 */
static inline void unpack_Q6_K(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block + 208));
    vb bias = vb_set(32);
    float dl[16];

    vf_store(dl, vf_mul(d, vf_load_i8(block + 192)));
    vf_store(dl + 8, vf_mul(d, vf_load_i8(block + 200)));
    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        /* Per half: low nibbles of 64 bytes, then their high ones. */
        const uint8_t *low = block + 64 * (i / 4) + 32 * (i % 2);
        vb upper = vb_load(block + 128 + 32 * (i / 4));
        int s = 2 * (i % 4);
        vb q = vb_shr(vb_load(low), 4 * (i / 2 % 2), 15);
        vb top = s < 4 ? vb_shl(upper, 4 - s, 48) : vb_shr(upper, s - 4, 48);
        emit(out, vb_sub(vb_or(q, top), bias), vf_set(dl[2 * i]),
             vf_set(dl[2 * i + 1]));
    }
}
