/* SPDX-License-Identifier: MIT */
/* IQ3_XXS: half d, 64 row numbers, then for each 32 elements a word of four
 * 7-bit signs and a 4-bit scale. (d * (0.5 + scale)) * 0.5 * row */
static inline void unpack_IQ3_XXS(const uint8_t *block, uint8_t *out)
{
    vf d = vf_mul(vf_half(block), vf_set(0.25f));

    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        const uint8_t *at = block + 2 + 8 * i;
        vf db = vf_mul(d, vf_set(odd_numbers[block[69 + 4 * i] >> 4]));
        vm m = vm_set(signs_even(ggld_load_le32(block + 66 + 4 * i)));
        for (unsigned l = 0; l < 4; l++) {
            vf rows = vf_load_i8_pair(ggld_grid_iq3xxs[at[2 * l]],
                                      ggld_grid_iq3xxs[at[2 * l + 1]]);
            vf_store(out + VF_BYTES * l, vf_mul(rows, vf_negate(db, m, l)));
        }
    }
}
