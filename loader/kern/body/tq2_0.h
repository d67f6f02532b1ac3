/* SPDX-License-Identifier: MIT */
/* TQ2_0: 64 bytes of 2-bit numbers, half d. (q - 1) * d */
static inline void unpack_TQ2_0(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block + 64));
    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        vb q = vb_shr(vb_load(block + 32 * (i / 4)), 2 * (i % 4), 3);
        emit(out, vb_sub(q, vb_set(1)), d, d);
    }
}
