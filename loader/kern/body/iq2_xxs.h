/* SPDX-License-Identifier: MIT */
/* IQ2_XXS: half d; for each 32 elements four row numbers, then a word of four
 * 7-bit signs and a 4-bit scale. (d * (0.5 + scale)) * 0.25 * row */
static inline void unpack_IQ2_XXS(const uint8_t *block, uint8_t *out)
{
    vf d = vf_mul(vf_half(block), vf_set(0.125f));

    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        const uint8_t *at = block + 2 + 8 * i;
        vf db = vf_mul(d, vf_set(odd_numbers[at[7] >> 4]));
        vm m = vm_set(signs_even(ggld_load_le32(at + 4)));
        for (unsigned l = 0; l < 4; l++) {
            vf row = vf_load_i8(ggld_grid_iq2xxs[at[l]]);
            vf_store(out + VF_BYTES * l, vf_mul(row, vf_negate(db, m, l)));
        }
    }
}
