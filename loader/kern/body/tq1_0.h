/* SPDX-License-Identifier: MIT */
/* TQ1_0: 32 bytes of five digits to base 3, 16 bytes likewise, 4 bytes of four
 * digits, half d. (digit - 1) * d; digit n is the top of byte * 3^n. */

static inline vb times_3(vb a)
{
    return vb_add(a, vb_add(a, a));
}

/* The top digit less 1: -1 below 86 (256 / 3), 0, and 1 from 171 (512 / 3). */
static inline vb top_digit(vb a)
{
    vb r = vb_sub(vb_set(255), vb_at_least(a, vb_set(86)));
    return vb_sub(r, vb_at_least(a, vb_set(171)));
}

static inline void unpack_TQ1_0(const uint8_t *block, uint8_t *out)
{
    vf d = unit(vf_half(block + 52));
    uint8_t rest[6]
                [16]; /* one digit each: of 16 bytes, and all of the last 4 */

    for (int i = 0; i < 16; i++)
        rest[0][i] = block[32 + i];
    for (int n = 1; n < 5; n++)
        for (int i = 0; i < 16; i++)
            rest[n][i] = (uint8_t)(3 * rest[n - 1][i]);
    uint32_t last = ggld_load_le32(block + 48);
    for (int n = 0; n < 4; n++) {
        ggld_store_le32(rest[5] + 4 * n, last);
        last = times_3_bytes(last);
    }
    vb q = vb_load(block);
    for (int n = 0; n < 5; n++, out += VB_BYTES, q = times_3(q))
        emit(out, top_digit(q), d, d);
    for (int n = 0; n < 6; n += 2, out += VB_BYTES)
        emit(out, top_digit(vb_join(rest[n], rest[n + 1])), d, d);
}
