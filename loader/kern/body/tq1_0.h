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
    const vb upper_half = vb_bits(0xFFFF0000, 255);
    const vb odd_fours = vb_bits(0xF0F0F0F0, 255);
    vf d = unit(vf_half(block + 52));

    vb q = vb_load(block);
    for (int n = 0; n < 5; n++, out += VB_BYTES, q = times_3(q))
        emit(out, top_digit(q), d, d);

    /* 16 bytes twice, the upper ones times 3: two digits at a time. */
    q = vb_join(block + 32, block + 32);
    q = vb_add(q, vb_and(vb_add(q, q), upper_half));
    emit(out, top_digit(q), d, d);
    q = times_3(times_3(q));
    emit(out + VB_BYTES, top_digit(q), d, d);
    q = times_3(times_3(q));

    /* The fifth digit of the 16 bytes; then 4 bytes times 1, 3, 9 and 27. */
    vb last = vb_repeat(ggld_load_le32(block + 48));
    last = vb_add(last, vb_and(vb_add(last, last), odd_fours));
    vb nine = times_3(times_3(last));
    last = vb_select(last, nine, vb_bits(0xFF000000, 255));
    emit(out + 2 * VB_BYTES, top_digit(vb_select(q, last, upper_half)), d, d);
}
