/* SPDX-License-Identifier: MIT */
/* IQ1_S: half d, 32 low bytes of row numbers, then for each 32 elements a
 * number: four times three upper bits, a 3-bit scale, the sign of delta.
 * (d * (2 * scale + 1)) * (row + delta) */
static inline void unpack_IQ1_S(const uint8_t *block, uint8_t *out)
{
    vf d = vf_half(block);

    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        const uint8_t *low = block + 2 + 4 * i;
        unsigned h = ggld_load_le16(block + 34 + 2 * i);
        vf dl = vf_mul(d, vf_set(odd_numbers[h >> 12 & 7]));
        vf delta = vf_set(eighths[h >> 12]);
        for (unsigned l = 0; l < 4; l++) {
            unsigned at = low[l] | (h >> 3 * l & 7) << 8;
            vf row = vf_load_i8(ggld_grid_iq1s[at]);
            vf_store(out + VF_BYTES * l, vf_mul(dl, vf_add(row, delta)));
        }
    }
}
