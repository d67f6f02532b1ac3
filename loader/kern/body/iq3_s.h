/* SPDX-License-Identifier: MIT */
/* IQ3_S: half d, 64 low bytes of row numbers, 8 bytes of their ninth bits, 32
 * bytes of signs, 8 4-bit scales. (d * (1 + 2 * scale)) * row */
static inline void unpack_IQ3_S(const uint8_t *block, uint8_t *out)
{
    vf d = vf_half(block);

    for (unsigned i = 0; i < 8; i++, out += VB_BYTES) {
        const uint8_t *low = block + 2 + 8 * i;
        unsigned high = block[66 + i];
        unsigned scale = block[106 + i / 2] >> 4 * (i % 2) & 15;
        vf db = vf_mul(d, vf_set(odd_numbers[scale]));
        vm m = vm_set(ggld_load_le32(block + 74 + 4 * i));
        for (unsigned l = 0; l < 4; l++) {
            unsigned a = low[2 * l] | (high << (8 - 2 * l) & 256);
            unsigned b = low[2 * l + 1] | (high << (7 - 2 * l) & 256);
            vf rows = vf_load_i8_pair(ggld_grid_iq3s[a], ggld_grid_iq3s[b]);
            vf_store(out + VF_BYTES * l, vf_mul(rows, vf_negate(db, m, l)));
        }
    }
}
