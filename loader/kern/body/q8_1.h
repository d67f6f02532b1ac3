/* SPDX-License-Identifier: MIT */
/* Q8_1: halves d and s (the sum, of no use here), 32 signed bytes. q * d */
static inline void unpack_Q8_1(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block));
    emit(out, vb_load(block + 4), d, d);
}
