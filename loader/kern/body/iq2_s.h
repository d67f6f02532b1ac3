/* SPDX-License-Identifier: MIT */
/* IQ2_S: half d, 32 low bytes of row numbers, 32 bytes of signs, 8 bytes of the
 * rows' upper pairs of bits, 16 4-bit scales. */
static inline void unpack_IQ2_S(const uint8_t *block, uint8_t *out)
{
    float db[16];
    scales_iq2(db, vf_half(block), block + 74);

    for (int i = 0; i < 8; i++) {
        const uint8_t *low = block + 2 + 4 * i;
        vm signs = vm_set(ggld_load_le32(block + 34 + 4 * i));
        unsigned high = block[66 + i];
        for (unsigned l = 0; l < 4; l++, out += VF_BYTES) {
            unsigned at = low[l] | (high << (8 - 2 * l) & 0x300);
            vf scale = vf_set(db[2 * i + (int)l / 2]);
            vf_store(out, vf_mul(vf_load_i8(ggld_grid_iq2s[at]),
                                 vf_negate(scale, signs, l)));
        }
    }
}
