/* SPDX-License-Identifier: MIT */
/* MXFP4: exponent e, 16 bytes of nibbles. LEVELS[q] * 2^(e - 128), which is
 * subnormal for e < 2: too small for units. */
static inline void unpack_MXFP4(const uint8_t *block, uint8_t *out)
{
    uint32_t e = block[0];
    uint32_t bits = e < 2 ? 0x200000u << e : (e - 1) << 23;
    vf d = vf_set(ggld_float_of_bits(bits));
    vb q = vb_table(levels_fp4, vb_nibbles(block + 1));
    for (unsigned k = 0; k < 4; k++)
        vf_store(out + VF_BYTES * k, vf_mul(vb_exact(q, k), d));
}
