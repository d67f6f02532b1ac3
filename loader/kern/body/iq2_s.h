/* SPDX-License-Identifier: MIT */
/* IQ2_S: half d, 32 low bytes of row numbers, 32 bytes of signs, 8 bytes of the
 * rows' upper pairs of bits, 16 4-bit scales. (d * (0.5 + scale)) * 0.25 * row */
static inline void unpack_IQ2_S(const uint8_t *block, uint8_t *out)
{
    vf d = vf_mul(vf_half(block), vf_set(0.125f));

    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        const uint8_t *low = block + 2 + 4 * i;
        unsigned high = block[66 + i];
        vf db[2] = { vf_mul(d, vf_set(odd_numbers[block[74 + i] & 15])),
                     vf_mul(d, vf_set(odd_numbers[block[74 + i] >> 4])) };
        vm m = vm_set(ggld_load_le32(block + 34 + 4 * i));
        for (unsigned l = 0; l < 4; l++) {
            unsigned at = low[l] | (high << (8 - 2 * l) & 0x300);
            vf row = vf_load_i8(ggld_grid_iq2s[at]);
            vf scale = vf_negate(db[l / 2], m, l);
            vf_store(out + VF_BYTES * l, vf_mul(row, scale));
        }
    }
}
