/* SPDX-License-Identifier: MIT */
/* Q8_K: float d, 256 signed bytes, sums (of no use here). d * q; d may be so
 * small that units would not do. */
static inline void unpack_Q8_K(const uint8_t *block, uint8_t *out)
{
    vf d = vf_set(ggld_float_of_bits(ggld_load_le32(block)));
    for (int i = 0; i < 32; i++)
        vf_store(out + VF_BYTES * i, vf_mul(d, vf_load_i8(block + 4 + 8 * i)));
}
