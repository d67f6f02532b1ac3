/* SPDX-License-Identifier: MIT */
/* IQ1_M: 32 low bytes of row numbers, 32 nibbles of their upper bits and the
 * sign of delta, then four numbers: 16 3-bit scales, and in the top nibbles the
 * half d. (d * (2 * scale + 1)) * (row + delta) */
static inline void unpack_IQ1_M(const uint8_t *block, uint8_t *out)
{
    uint64_t scales = ggld_load_le64(block + 48);
    vf d = vf_set(half_value(
        (uint16_t)((scales >> 12 & 0x000F) | (scales >> 24 & 0x00F0) |
                   (scales >> 36 & 0x0F00) | (scales >> 48 & 0xF000))));

    for (int i = 0; i < 4; i++, scales >>= 16) {
        for (int k = 0; k < 4; k++, out += 2 * VF_BYTES) {
            const uint8_t *low = block + 8 * i + 2 * k;
            unsigned high = block[32 + 4 * i + k];
            vf dl = vf_mul(d, vf_set(odd_numbers[scales >> 3 * k & 7]));
            vf row0 = vf_load_i8(ggld_grid_iq1s[low[0] | (high & 7) << 8]);
            vf row1 = vf_load_i8(ggld_grid_iq1s[low[1] | (high & 0x70) << 4]);
            row0 = vf_add(row0, vf_set(eighths[high & 15]));
            row1 = vf_add(row1, vf_set(eighths[high >> 4]));
            vf_store(out, vf_mul(dl, row0));
            vf_store(out + VF_BYTES, vf_mul(dl, row1));
        }
    }
}
