/* SPDX-License-Identifier: MIT */
/* Q5_K: as Q4_K, with 8 planes of fifth bits before the nibbles. */
static inline void unpack_Q5_K(const uint8_t *block, uint8_t *out)
{
    pairs_k pairs = pairs_k_of(block + 4);
    vf dmin = vf_mul(vf_half(block + 2), vf_set(-1));
    vb fifth = vb_load(block + 16);
    float dl[8], ml[8];

    vf_store(dl, vf_mul(unit(vf_half(block)), vf_bytes(pairs.scales)));
    vf_store(ml, vf_mul(dmin, vf_bytes(pairs.minima)));
    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        vb q = vb_shr(vb_load(block + 48 + 32 * (i / 2)), 4 * (i % 2), 15);
        vb top = i < 4 ? vb_shl(fifth, 4 - i, 16) : vb_shr(fifth, i - 4, 16);
        vf d = vf_set(dl[i]), m = vf_set(ml[i]);
        emit_affine(out, vb_or(q, top), d, m, d, m);
    }
}
