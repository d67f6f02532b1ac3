/* SPDX-License-Identifier: MIT */
/* The public calls from buffer to buffer: what they refuse and in which words,
 * and that refused calls leave the output alone. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <ggld/codec.h>

typedef struct refusal {
    uint32_t type;
    uint64_t n_elems;
    size_t buffer_bytes;
    ggld_status status;
    const char *words;
} refusal;

static void expect_refusal(const char *call, const refusal *r,
                           ggld_status status, const ggld_error *err)
{
    cr_expect(status == r->status && err->code == r->status,
              "%s of type %" PRIu32 ": expected %s, got %s", call, r->type,
              ggld_status_name(r->status), ggld_status_name(status));
    cr_expect(strstr(err->message, r->words) != NULL,
              "%s of type %" PRIu32 ": expected '%s' in '%s'", call, r->type,
              r->words, err->message);
}

Test(codec, dequantise_refuses_what_does_not_fit)
{
    const refusal refusals[] = {
        { GGLD_TYPE_Q4_0, 33, 64, GGLD_E_INVALID, "33 elements" },
        { GGLD_TYPE_Q4_0, 64, 35, GGLD_E_INVALID, "the buffer has 35 bytes" },
        { GGLD_TYPE_F64, UINT64_MAX / 8 + 2, 64, GGLD_E_INVALID, "f64" },
        { GGLD_TYPE_Q6_K, 255, 300, GGLD_E_INVALID, "q6_K" },
        { 4, 32, 64, GGLD_E_TENSOR_TYPE, "q4_2" },
        { 38, 32, 64, GGLD_E_TENSOR_TYPE, "iq4_nl_8_8" },
        { 43, 32, 64, GGLD_E_TENSOR_TYPE, "43" },
        { UINT32_MAX, 32, 64, GGLD_E_TENSOR_TYPE, "4294967295" },
    };
    uint8_t blocks[64] = { 0 };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *r = &refusals[i];
        float floats[64];
        uint16_t halves[64];
        ggld_error err;
        memset(floats, 0x5A, sizeof floats);
        memset(halves, 0x5A, sizeof halves);
        expect_refusal("dequantize_f32", r,
                       ggld_dequantize_f32(r->type, blocks, r->buffer_bytes,
                                           floats, r->n_elems, &err),
                       &err);
        expect_refusal("dequantize_f16", r,
                       ggld_dequantize_f16(r->type, blocks, r->buffer_bytes,
                                           halves, r->n_elems, &err),
                       &err);
        cr_expect(halves[0] == 0x5A5A && memcmp(floats, halves, 4) == 0,
                  "type %" PRIu32 ": the output was touched", r->type);
    }
}

Test(codec, quantise_refuses_what_does_not_fit)
{
    const refusal refusals[] = {
        { GGLD_TYPE_Q4_0, 31, 64, GGLD_E_INVALID, "31 elements" },
        { GGLD_TYPE_Q8_0, 64, 67, GGLD_E_INVALID, "the buffer has 67 bytes" },
        { GGLD_TYPE_Q4_K, 256, 1024, GGLD_E_UNSUPPORTED, "q4_K" },
        { GGLD_TYPE_I32, 1, 1024, GGLD_E_UNSUPPORTED, "i32" },
        { 31, 32, 64, GGLD_E_TENSOR_TYPE, "q4_0_4_4" },
        { 99, 32, 64, GGLD_E_TENSOR_TYPE, "99" },
    };
    float floats[256] = { 0 };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *r = &refusals[i];
        uint8_t blocks[1024];
        ggld_error err;
        memset(blocks, 0x5A, sizeof blocks);
        expect_refusal("quantize_f32", r,
                       ggld_quantize_f32(r->type, floats, r->n_elems, blocks,
                                         r->buffer_bytes, &err),
                       &err);
        cr_expect(blocks[0] == 0x5A, "type %" PRIu32 ": the output was touched",
                  r->type);
    }
}

Test(codec, swap_refuses_what_is_no_blocks)
{
    const refusal refusals[] = {
        { GGLD_TYPE_Q4_0, 0, 35, GGLD_E_INVALID, "35 bytes" },
        { GGLD_TYPE_F64, 0, 4, GGLD_E_INVALID, "f64" },
        { 4, 0, 18, GGLD_E_TENSOR_TYPE, "q4_2" },
        { 99, 0, 18, GGLD_E_TENSOR_TYPE, "99" },
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *r = &refusals[i];
        uint8_t blocks[64] = { 1, 2, 3 };
        ggld_error err;
        expect_refusal("swap_bytes", r,
                       ggld_swap_bytes(r->type, blocks, r->buffer_bytes, &err),
                       &err);
        cr_expect(blocks[0] == 1 && blocks[1] == 2,
                  "type %" PRIu32 ": the blocks were touched", r->type);
    }
}

Test(codec, swap_reverses_the_numbers_of_every_block)
{
    /* q5_1: two halves, 32 bits, and bytes. */
    uint8_t blocks[48], expected[48];
    ggld_error err;
    for (uint8_t i = 0; i < 48; i++)
        blocks[i] = expected[i] = i;
    for (size_t at = 0; at < 48; at += 24)
        for (size_t i = 0; i < 8; i++)
            expected[at + i] = (uint8_t)(at + (i < 4 ? (i ^ 1u) : 4 + (7 - i)));
    ggld_status status = ggld_swap_bytes(GGLD_TYPE_Q5_1, blocks, 48, &err);
    cr_expect(status == GGLD_OK, "expected GGLD_OK, got %s", err.message);
    for (size_t i = 0; i < 48; i++)
        cr_expect(blocks[i] == expected[i], "byte %zu: expected %u, got %u", i,
                  expected[i], blocks[i]);
    status = ggld_swap_bytes(GGLD_TYPE_Q5_1, blocks, 0, &err);
    cr_expect(status == GGLD_OK, "nothing: expected GGLD_OK, got %s",
              err.message);
}

/* The element is told, and everything is written, bad values as zero. */
Test(codec, quantise_tells_the_first_element_that_cannot_be_stored)
{
    const struct {
        uint32_t type;
        float value;
    } cases[] = {
        { GGLD_TYPE_F32, NAN },        { GGLD_TYPE_F16, -INFINITY },
        { GGLD_TYPE_F16, 65520.0f },   { GGLD_TYPE_BF16, 3.4e38f },
        { GGLD_TYPE_Q4_0, NAN },       { GGLD_TYPE_Q4_0, 524160.0f },
        { GGLD_TYPE_Q4_1, -65520.0f }, { GGLD_TYPE_Q4_1, 1e6f },
        { GGLD_TYPE_Q5_0, INFINITY },  { GGLD_TYPE_Q5_0, -1048320.0f },
        { GGLD_TYPE_Q5_1, 3e6f },      { GGLD_TYPE_Q8_0, 8321041.0f },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float src[96];
        uint8_t dst[96 * 4];
        ggld_error err;
        for (int k = 0; k < 96; k++)
            src[k] = (float)k * 0.5f;
        src[41] = src[42] = src[90] = cases[i].value;
        ggld_status status =
            ggld_quantize_f32(cases[i].type, src, 96, dst, sizeof dst, &err);
        cr_expect(status == GGLD_E_VALUE && err.offset == 41,
                  "case %zu: expected element 41 and GGLD_E_VALUE, got %" PRIu64
                  " and %s (%s)",
                  i, err.offset, ggld_status_name(status), err.message);
    }
}

Test(codec, quantise_takes_the_largest_that_a_type_can_hold)
{
    const struct {
        uint32_t type;
        float value;
    } cases[] = {
        { GGLD_TYPE_F16, -65519.996f },  { GGLD_TYPE_BF16, 3.3961773e38f },
        { GGLD_TYPE_Q4_0, -524159.97f }, { GGLD_TYPE_Q4_1, -65519.996f },
        { GGLD_TYPE_Q5_0, 1048319.94f }, { GGLD_TYPE_Q8_0, 8321038.0f },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float src[32] = { 0 };
        uint8_t dst[32 * 4];
        ggld_error err;
        src[7] = cases[i].value;
        ggld_status status =
            ggld_quantize_f32(cases[i].type, src, 32, dst, sizeof dst, &err);
        cr_expect(status == GGLD_OK, "case %zu: %s", i, err.message);
    }
}

Test(codec, halves_are_the_floats_rounded)
{
    uint8_t block[34] = { 0xFF, 0x7B }; /* 65504 */
    float floats[32];
    uint16_t halves[32];
    for (int i = 0; i < 32; i++)
        block[2 + i] = (uint8_t)(i - 16);
    cr_assert(ggld_dequantize_f32(GGLD_TYPE_Q8_0, block, 34, floats, 32,
                                  NULL) == GGLD_OK);
    cr_assert(ggld_dequantize_f16(GGLD_TYPE_Q8_0, block, 34, halves, 32,
                                  NULL) == GGLD_OK);
    cr_expect(floats[18] == 131008.0f && halves[18] == 0x7C00,
              "2 * 65504: got %g and %04x", (double)floats[18], halves[18]);
    cr_expect(floats[15] == -65504.0f && halves[15] == 0xFBFF,
              "-1 * 65504: got %g and %04x", (double)floats[15], halves[15]);
}

Test(codec, no_elements_are_no_error)
{
    cr_expect(ggld_dequantize_f32(GGLD_TYPE_Q4_K, NULL, 0, NULL, 0, NULL) ==
              GGLD_OK);
    cr_expect(ggld_quantize_f32(GGLD_TYPE_Q8_0, NULL, 0, NULL, 0, NULL) ==
              GGLD_OK);
}
