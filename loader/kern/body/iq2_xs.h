/* SPDX-License-Identifier: MIT */
/* IQ2_XS: half d, 32 numbers of 9-bit row and 7-bit signs, 16 4-bit scales.
 * (d * (0.5 + scale)) * 0.25 * row */
static inline void unpack_IQ2_XS(const uint8_t *block, uint8_t *out)
{
    vf d = vf_mul(vf_half(block), vf_set(0.125f));

    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        uint64_t q = ggld_load_le64(block + 2 + 8 * i);
        vf db[2] = { vf_mul(d, vf_set(odd_numbers[block[66 + i] & 15])),
                     vf_mul(d, vf_set(odd_numbers[block[66 + i] >> 4])) };
        vm m = vm_set(signs_even_of_4(q));
        for (unsigned l = 0; l < 4; l++) {
            vf row = vf_load_i8(ggld_grid_iq2xs[q >> 16 * l & 511]);
            vf scale = vf_negate(db[l / 2], m, l);
            vf_store(out + VF_BYTES * l, vf_mul(row, scale));
        }
    }
}
