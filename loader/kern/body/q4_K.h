/* SPDX-License-Identifier: MIT */
/* Q4_K: halves d and dmin, 8 pairs of 6-bit scale and minimum, 128 bytes of
 * nibbles. (d * scale) * q - dmin * minimum, in runs of 32 */
static inline void unpack_Q4_K(const uint8_t *block, uint8_t *out)
{
    pairs_k pairs = pairs_k_of(block + 4);
    vf dmin = vf_mul(vf_half(block + 2), vf_set(-1));
    float dl[8], ml[8];

    vf_store(dl, vf_mul(unit(vf_half(block)), vf_bytes(pairs.scales)));
    vf_store(ml, vf_mul(dmin, vf_bytes(pairs.minima)));
    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        vb q = vb_shr(vb_load(block + 16 + 32 * (i / 2)), 4 * (i % 2), 15);
        vf d = vf_set(dl[i]), m = vf_set(ml[i]);
        emit_affine(out, q, d, m, d, m);
    }
}
