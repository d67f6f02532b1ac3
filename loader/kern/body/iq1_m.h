/* SPDX-License-Identifier: MIT */
/* IQ1_M: 32 low bytes of row numbers, 32 nibbles of their upper bits and the
 * sign of delta, then four numbers: 16 3-bit scales, and in the top nibbles the
 * half d. (d * (2 * scale + 1)) * (row + delta) */
static inline void unpack_IQ1_M(const uint8_t *block, uint8_t *out)
{
    uint64_t scales = ggld_load_le64(block + 48);
    uint8_t half[2];
    ggld_store_le16(
        half, (uint16_t)((scales >> 12 & 0x000F) | (scales >> 24 & 0x00F0) |
                         (scales >> 36 & 0x0F00) | (scales >> 48 & 0xF000)));
    vf d = vf_half(half);

    for (unsigned i = 0; i < 16; i++) { /* 16 elements each */
        unsigned scale = scales >> (16 * (i / 4) + 3 * (i % 4)) & 7;
        vf dl = vf_mul(d, vf_set((float)(2 * scale + 1)));
        for (unsigned l = 0; l < 2; l++, out += VF_BYTES) {
            unsigned high = block[32 + i] >> 4 * l;
            vf row =
                vf_load_i8(ggld_grid_iq1s[block[2 * i + l] | (high & 7) << 8]);
            vf delta = vf_set(eighth(high << 12 & 0x8000));
            vf_store(out, vf_mul(dl, vf_add(row, delta)));
        }
    }
}
