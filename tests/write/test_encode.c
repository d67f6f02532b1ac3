/* SPDX-License-Identifier: MIT */
/* The encoding half of the record codec: bytes against bytes built by hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "spec/encode.h"
#include "spec/transcode.h"
#include "support.h"

static ggld_string text_of(const char *s)
{
    ggld_string text = { s, strlen(s) };
    return text;
}

static void encode_sample(ggld_encoder *e)
{
    const uint64_t dims[] = { 64, 3 };
    ggld_encode_header(e, 1, 2);
    ggld_encode_kv(e, text_of("a"), GGLD_VALUE_U8, "\x07", 1);
    ggld_encode_kv(e, text_of(""), GGLD_VALUE_BOOL, "\x01", 1);
    ggld_encode_tensor_info(e, text_of("t.weight"), dims, 2, GGLD_TYPE_Q8_0,
                            0x1122334455667788u);
}

static image image_of(uint32_t version, bool big_endian)
{
    const uint64_t dims[] = { 64, 3 };
    image im = image_new(version, big_endian);
    image_header(&im, 1, 2);
    image_key(&im, "a", 0);
    image_number(&im, 7, 1);
    image_key(&im, "", 7);
    image_number(&im, 1, 1);
    image_tensor(&im, "t.weight", 2, dims, 8, 0x1122334455667788u);
    return im;
}

static image sample_image(void)
{
    return image_of(3, false);
}

Test(encode, any_version_and_order)
{
    for (uint32_t version = 1; version <= 3; version++)
        for (int big_endian = 0; big_endian <= 1; big_endian++) {
            uint8_t bytes[256];
            image want = image_of(version, big_endian);
            ggld_encoder e = ggld_encoder_into(bytes, sizeof bytes);
            e.version = version;
            e.big_endian = big_endian;
            encode_sample(&e);
            const char *differ =
                bytes_differ(bytes, e.pos, want.data, want.size);
            cr_assert(differ == NULL, "version %u, big-endian %d: %s",
                      (unsigned)version, big_endian, differ);
            image_free(&want);
        }
}

Test(encode, what_version_1_can_not_say_does_not_fit)
{
    ggld_encoder e = ggld_encoder_counting();
    e.version = 1;
    ggld_encode_len(&e, UINT32_MAX);
    cr_assert(!e.full);
    ggld_encode_len(&e, UINT64_C(1) << 32);
    cr_assert(e.full);
}

Test(encode, counting_and_writing_agree_with_bytes_built_by_hand)
{
    uint8_t bytes[256];
    image want = sample_image();
    ggld_encoder count = ggld_encoder_counting();
    ggld_encoder e = ggld_encoder_into(bytes, sizeof bytes);

    encode_sample(&count);
    encode_sample(&e);
    cr_assert(!count.full && !e.full);
    cr_assert_eq(count.pos, want.size, "expected %zu, counted %llu", want.size,
                 (unsigned long long)count.pos);
    const char *differ = bytes_differ(bytes, e.pos, want.data, want.size);
    cr_assert(differ == NULL, "%s", differ);
    image_free(&want);
}

Test(encode, nothing_is_written_past_the_end_at_any_size)
{
    image want = sample_image();
    for (size_t cap = 0; cap < want.size; cap++) {
        uint8_t bytes[256];
        memset(bytes, 0xEE, sizeof bytes);
        ggld_encoder e = ggld_encoder_into(bytes, cap);
        encode_sample(&e);
        cr_assert(e.full, "cap %zu: expected full", cap);
        cr_assert_leq(e.pos, cap);
        cr_assert(bytes_differ(bytes, e.pos, want.data, e.pos) == NULL);
        for (size_t i = cap; i < sizeof bytes; i++)
            cr_assert_eq(bytes[i], 0xEE, "cap %zu: byte %zu written", cap, i);
    }
    image_free(&want);
}

Test(encode, a_size_that_wraps_is_full_not_small)
{
    ggld_encoder e = ggld_encoder_counting();
    ggld_encode_u32(&e, 1);
    ggld_encode_numbers(&e, NULL, 8, UINT64_MAX / 8 + 2, false);
    cr_assert(e.full);
    ggld_encoder f = ggld_encoder_counting();
    ggld_encode_u32(&f, 1);
    ggld_encode_bytes(&f, NULL, UINT64_MAX - 3);
    cr_assert(f.full);
    cr_assert_eq(f.pos, 4);
}

/* ---- transcode: the same values in any version and order ---- */

static void number_value(image *im, uint32_t type)
{
    static const unsigned widths[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
    cr_assert_lt(type, sizeof widths / sizeof widths[0]);
    /* cppcheck-suppress arrayIndexOutOfBoundsCond; ends above */
    image_number(im, 0x8877665544332211u, widths[type]);
}

static void array_value(image *im, uint32_t type)
{
    image_number(im, type, 4);
    image_len(im, 3);
    for (int i = 0; i < 3; i++) {
        if (type == GGLD_VALUE_STRING)
            image_string_n(im, "x\0y\xFF", (size_t)i + 2);
        else
            number_value(im, type);
    }
}

/* [[u16 x 3, strings x 3], [], [[bool x 3]]] and an empty array of arrays. */
static void nested_value(image *im)
{
    image_number(im, GGLD_VALUE_ARRAY, 4);
    image_len(im, 4);
    image_number(im, GGLD_VALUE_ARRAY, 4);
    image_len(im, 2);
    array_value(im, GGLD_VALUE_U16);
    array_value(im, GGLD_VALUE_STRING);
    image_number(im, GGLD_VALUE_F64, 4);
    image_len(im, 0);
    image_number(im, GGLD_VALUE_ARRAY, 4);
    image_len(im, 1);
    array_value(im, GGLD_VALUE_BOOL);
    image_number(im, GGLD_VALUE_ARRAY, 4);
    image_len(im, 0);
}

#define NESTED 100

/* type: a value type; 16 and more: an array of type - 16; or NESTED. */
static void build_value(image *im, unsigned type)
{
    if (type == NESTED)
        nested_value(im);
    else if (type >= 16)
        array_value(im, type - 16);
    else if (type == GGLD_VALUE_STRING)
        image_string_n(im, "A\0\xFFz", 4);
    else
        number_value(im, type);
}

static void check_transcode(unsigned type, uint32_t version, bool big_endian)
{
    image in = image_new(version, big_endian);
    image want = image_new(3, false);
    build_value(&in, type);
    build_value(&want, type);

    uint8_t bytes[512];
    ggld_fault fault;
    uint32_t value_type = type >= 16 ? GGLD_VALUE_ARRAY : type;
    ggld_cursor c = { { in.data, in.size }, 0, big_endian, version == 1 };
    ggld_cursor again = c;
    ggld_encoder count = ggld_encoder_counting();
    ggld_encoder e = ggld_encoder_into(bytes, sizeof bytes);
    cr_assert(ggld_transcode_value(&c, value_type, &count, &fault));
    cr_assert(ggld_transcode_value(&again, value_type, &e, &fault));
    cr_assert_eq(c.pos, in.size);
    cr_assert_eq(count.pos, want.size);
    const char *differ = bytes_differ(bytes, e.pos, want.data, want.size);
    cr_assert(differ == NULL, "value %u of version %u%s: %s", type, version,
              big_endian ? ", big-endian" : "", differ);

    /* Cut anywhere it is no value, and nothing is read past the cut. */
    for (size_t cut = 0; cut < in.size; cut++) {
        uint8_t *part = malloc(cut != 0 ? cut : 1);
        memcpy(part, in.data, cut);
        ggld_cursor p = { { part, cut }, 0, big_endian, version == 1 };
        ggld_encoder ignored = ggld_encoder_counting();
        cr_assert(!ggld_transcode_value(&p, value_type, &ignored, &fault),
                  "value %u cut at %zu passed", type, cut);
        free(part);
    }
    image_free(&in);
    image_free(&want);
}

Test(transcode, every_value_of_any_version_and_order_becomes_version_3)
{
    for (uint32_t version = 1; version <= 3; version++)
        for (int big_endian = 0; big_endian <= 1; big_endian++) {
            for (unsigned type = 0; type <= 12; type++) {
                if (type == GGLD_VALUE_ARRAY)
                    continue;
                check_transcode(type, version, big_endian);
                check_transcode(16 + type, version, big_endian);
            }
            check_transcode(NESTED, version, big_endian);
        }
}

static bool transcode_nested(unsigned depth)
{
    image im = image_new(1, true);
    ggld_fault fault;

    for (unsigned i = 1; i < depth; i++) {
        image_number(&im, GGLD_VALUE_ARRAY, 4);
        image_len(&im, 1);
    }
    array_value(&im, GGLD_VALUE_U32);
    ggld_cursor c = { { im.data, im.size }, 0, true, true };
    ggld_encoder e = ggld_encoder_counting();
    bool ok = ggld_transcode_value(&c, GGLD_VALUE_ARRAY, &e, &fault);
    cr_assert(ok || fault.kind == GGLD_FAULT_DEPTH);
    image_free(&im);
    return ok;
}

Test(transcode, nesting_is_followed_to_8_and_refused_past_it)
{
    cr_assert(transcode_nested(8));
    cr_assert(!transcode_nested(9));
    cr_assert(!transcode_nested(3000));
}
