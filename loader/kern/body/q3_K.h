/* SPDX-License-Identifier: MIT */
/* Q3_K: 8 planes of third bits, 64 bytes of 2-bit numbers, 16 6-bit scales, half
 * d. (d * (scale - 32)) * (q - 4), in runs of 16 */
static inline void unpack_Q3_K(const uint8_t *block, uint8_t *out)
{
    const uint8_t *packed = block + 96;
    uint64_t low = ggld_load_le64(packed);
    uint64_t high = ggld_load_le32(packed + 8);
    uint64_t top0 =
        (high << 4 & 0x30303030) | (high << 34 & 0x3030303000000000);
    uint64_t top1 = (high & 0x30303030) | (high << 30 & 0x3030303000000000);
    vf d = unit(vf_half(block + 108));
    vf bias = vf_set(32);
    vb third = vb_load(block);
    float dl[16];

    vf_store(dl, vf_mul(d, vf_sub(vf_bytes((low & 0x0F0F0F0F0F0F0F0F) | top0),
                                  bias)));
    vf_store(dl + 8,
             vf_mul(d, vf_sub(vf_bytes((low >> 4 & 0x0F0F0F0F0F0F0F0F) | top1),
                              bias)));
    for (int i = 0; i < 8; i++, out += VB_BYTES) {
        vb q = vb_shr(vb_load(block + 32 + 32 * (i / 4)), 2 * (i % 4), 3);
        vb top = i < 2 ? vb_shl(third, 2 - i, 4) : vb_shr(third, i - 2, 4);
        emit(out, vb_sub(vb_or(q, top), vb_set(4)), vf_set(dl[2 * i]),
             vf_set(dl[2 * i + 1]));
    }
}
