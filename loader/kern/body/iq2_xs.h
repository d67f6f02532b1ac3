/* SPDX-License-Identifier: MIT */
/* IQ2_XS: half d, 32 numbers of 9-bit row and 7-bit signs, 16 4-bit scales. */
static inline void unpack_IQ2_XS(const uint8_t *block, uint8_t *out)
{
    float db[16];
    scales_iq2(db, vf_half(block), block + 66);

    for (int i = 0; i < 8; i++) {
        uint64_t q = ggld_load_le64(block + 2 + 8 * i);
        vm signs = vm_set(signs_even(
            (uint32_t)((q >> 9 & 0x7F) | (q >> 18 & 0x3F80) |
                       (q >> 27 & 0x1FC000) | (q >> 36 & 0xFE00000))));
        for (unsigned l = 0; l < 4; l++, out += VF_BYTES) {
            vf row = vf_load_i8(ggld_grid_iq2xs[q >> 16 * l & 511]);
            vf scale = vf_set(db[2 * i + (int)l / 2]);
            vf_store(out, vf_mul(row, vf_negate(scale, signs, l)));
        }
    }
}
