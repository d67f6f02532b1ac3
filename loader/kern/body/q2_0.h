/* SPDX-License-Identifier: MIT */
/* Q2_0: half d, 16 bytes of four 2-bit numbers. (q - 1) * d */
static inline void unpack_Q2_0(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    emit(out, vb_sub(vb_pairs(block + 2), vb_set(1)), d, d);
    emit(out + VB_BYTES, vb_sub(vb_pairs(block + 10), vb_set(1)), d, d);
}
