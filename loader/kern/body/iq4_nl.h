/* SPDX-License-Identifier: MIT */
/* IQ4_NL: half d, 16 bytes of nibbles. d * LEVELS[q] */
static inline void unpack_IQ4_NL(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    emit(out, vb_table(levels_iq4, vb_nibbles(block + 2)), d, d);
}
