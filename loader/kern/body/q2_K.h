/* SPDX-License-Identifier: MIT */
/* Q2_K: 16 bytes of scale and minimum, 64 bytes of 2-bit numbers, halves d and
 * dmin. (d * scale) * q - dmin * minimum, in runs of 16 */
static inline void unpack_Q2_K(const uint8_t *block, uint8_t *out)
{
    vf d = unit(unit(vf_half(block + 80)));
    vf dmin = vf_mul(vf_half(block + 82), vf_set(-VB_UNIT));
    vb packed = vb_join(block, block);
    vb scales = vb_shr(packed, 0, 15);
    vb minima = vb_shr(packed, 4, 15);
    float dl[16], ml[16];

    for (unsigned k = 0; k < 2; k++) {
        vf_store(dl + 8 * k, vf_mul(d, vb_part(scales, k)));
        vf_store(ml + 8 * k, vf_mul(dmin, vb_part(minima, k)));
    }
    for (int i = 0; i < 16; i += 8) {
        vb q = vb_load(block + 16 + 4 * i);
        for (int s = 0; s < 8; s += 2, out += VB_BYTES)
            emit_affine(out, vb_shr(q, s, 3), vf_set(dl[i + s]),
                        vf_set(ml[i + s]), vf_set(dl[i + s + 1]),
                        vf_set(ml[i + s + 1]));
    }
}
