/* SPDX-License-Identifier: MIT */
/* NVFP4: four scales, then for each 16 elements 8 bytes of nibbles.
 * LEVELS[q] * scale */

/* Half of an E4M3 float without sign: bit 7 is ignored, but that 127, which
 * would be NaN, means 0 and 255 does not. The other seven bits are the middle
 * of a half whose exponent counts from 8 more. */
static inline float half_of_e4m3(uint8_t byte)
{
    float value = half_value((uint16_t)((byte & 127) << 7)) * 0x1p7f;
    return byte == 127 ? 0 : value;
}

static inline void unpack_NVFP4(const uint8_t *block, uint8_t *out)
{
    for (int i = 0; i < 2; i++, out += VB_BYTES) {
        vb q = vb_table(levels_fp4, vb_nibbles_runs(block + 4 + 16 * i));
        emit(out, q, unit(vf_set(half_of_e4m3(block[2 * i]))),
             unit(vf_set(half_of_e4m3(block[2 * i + 1]))));
    }
}
