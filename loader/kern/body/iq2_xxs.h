/* SPDX-License-Identifier: MIT */
/* IQ2_XXS: half d; for each 32 elements four row numbers, then a word of four
 * 7-bit signs and a 4-bit scale. */
static inline void unpack_IQ2_XXS(const uint8_t *block, uint8_t *out)
{
    vf d = vf_half(block);

    for (const uint8_t *p = block + 2; p < block + 66; p += 8) {
        uint32_t word = ggld_load_le32(p + 4);
        vf scale = vf_mul(d, vf_set(0.5f + (float)(word >> 28)));
        vf db = vf_mul(scale, vf_set(0.25f));
        vm signs = vm_set(signs_even(word));
        for (unsigned l = 0; l < 4; l++, out += VF_BYTES) {
            vf row = vf_load_i8(ggld_grid_iq2xxs[p[l]]);
            vf_store(out, vf_mul(row, vf_negate(db, signs, l)));
        }
    }
}
