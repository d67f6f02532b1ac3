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

    for (unsigned i = 0; i < 16; i++, out += 2 * VF_BYTES) {
        unsigned scale = scales >> (16 * (i / 4) + 3 * (i % 4)) & 7;
        unsigned high = block[32 + i];
        vf dl = vf_mul(d, vf_set(odd_numbers[scale]));
        for (unsigned l = 0; l < 2; l++, high >>= 4) {
            unsigned at = block[2 * i + l] | (high & 7) << 8;
            vf row = vf_load_i8(ggld_grid_iq1s[at]);
            vf delta = vf_set(eighths[high & 15]);
            vf_store(out + VF_BYTES * l, vf_mul(dl, vf_add(row, delta)));
        }
    }
}
