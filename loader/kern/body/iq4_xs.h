/* SPDX-License-Identifier: MIT */
/* IQ4_XS: half d, a number of 8 upper pairs of scale bits, 4 bytes of their low
 * nibbles, 128 bytes of nibbles. (d * (scale - 32)) * LEVELS[q] */
static inline void unpack_IQ4_XS(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    unsigned high = ggld_load_le16(block + 2);
    uint32_t low = ggld_load_le32(block + 4);

    for (unsigned i = 0; i < 8; i++, out += VB_BYTES) {
        unsigned scale = (low >> 4 * i & 15) | (high >> 2 * i & 3) << 4;
        vf dl = vf_mul(d, vf_set((float)((int)scale - 32)));
        vb q = vb_nibbles(block + 8 + 16 * i);
        emit(out, vb_table(levels_iq4, q), dl, dl);
    }
}
