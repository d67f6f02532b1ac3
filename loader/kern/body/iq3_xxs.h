/* SPDX-License-Identifier: MIT */
/* IQ3_XXS: half d, 64 row numbers, then for each 32 elements a word of four
 * 7-bit signs and a 4-bit scale. */
static inline void unpack_IQ3_XXS(const uint8_t *block, uint8_t *out)
{
    vf d = vf_half(block);

    for (int i = 0; i < 8; i++) {
        const uint8_t *at = block + 2 + 8 * i;
        uint32_t word = ggld_load_le32(block + 66 + 4 * i);
        vf scale = vf_mul(d, vf_set(0.5f + (float)(word >> 28)));
        vf db = vf_mul(scale, vf_set(0.5f));
        vm signs = vm_set(signs_even(word));
        for (unsigned l = 0; l < 4; l++, out += VF_BYTES) {
            vf rows = vf_load_i8_pair(ggld_grid_iq3xxs[at[2 * l]],
                                      ggld_grid_iq3xxs[at[2 * l + 1]]);
            vf_store(out, vf_mul(rows, vf_negate(db, signs, l)));
        }
    }
}
