/* SPDX-License-Identifier: MIT */
/* Q1_0: half d, 128 bits. d where the bit is set, else -d */
static inline void unpack_Q1_0(const uint8_t *block, uint8_t *out)
{
    vf d = vf_half(block);
    for (int i = 0; i < 4; i++) {
        vm clear = vm_set(~ggld_load_le32(block + 2 + 4 * i));
        for (unsigned k = 0; k < 4; k++, out += VF_BYTES)
            vf_store(out, vf_negate(d, clear, k));
    }
}
