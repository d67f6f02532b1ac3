/* SPDX-License-Identifier: MIT */
/* Key-values: every type against bytes built by hand, keys set again, and what
 * is refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static char *folder;
static ggld_writer *w;
static ggld_error err;

static void set_up(void)
{
    folder = folder_new();
    cr_assert_eq(ggld_writer_new(&w, NULL, &err), GGLD_OK);
}

static void tear_down(void)
{
    ggld_writer_free(w);
    folder_remove(folder);
}

TestSuite(values, .init = set_up, .fini = tear_down);

static void ok(ggld_status status)
{
    cr_assert_eq(status, GGLD_OK, "%s: %s", ggld_status_name(status),
                 err.message);
}

/* Writes what w has and compares it with want, padded to the alignment. */
static void expect_file(ggld_writer *writer, image *want, size_t alignment)
{
    const char *path = folder_path(folder, "out.gguf");
    ok(ggld_writer_begin(writer, path, &err));
    ok(ggld_writer_finish(writer, &err));
    image_pad(want, alignment);
    image got = file_load(path);
    const char *differ =
        bytes_differ(got.data, got.size, want->data, want->size);
    cr_assert(differ == NULL, "%s", differ);
    cr_assert_eq(folder_count(folder), 1);
    image_free(&got);
    image_free(want);
}

Test(values, every_type)
{
    ok(ggld_writer_set_u8(w, "u8", 0xFE, &err));
    ok(ggld_writer_set_i8(w, "i8", -2, &err));
    ok(ggld_writer_set_u16(w, "u16", 0xFEDC, &err));
    ok(ggld_writer_set_i16(w, "i16", -300, &err));
    ok(ggld_writer_set_u32(w, "u32", 0xFEDCBA98u, &err));
    ok(ggld_writer_set_i32(w, "i32", -70000, &err));
    ok(ggld_writer_set_f32(w, "f32", 1.5f, &err));
    ok(ggld_writer_set_bool(w, "yes", true, &err));
    ok(ggld_writer_set_bool(w, "no", false, &err));
    ok(ggld_writer_set_string(w, "string", "a\0\xE2\x96\x81", 5, &err));
    ok(ggld_writer_set_string(w, "empty", NULL, 0, &err));
    ok(ggld_writer_set_u64(w, "u64", 0xFEDCBA9876543210u, &err));
    ok(ggld_writer_set_i64(w, "i64", INT64_MIN, &err));
    ok(ggld_writer_set_f64(w, "f64", -0.5, &err));

    image want = image_new(3, false);
    image_header(&want, 0, 14);
    image_key(&want, "u8", 0);
    image_number(&want, 0xFE, 1);
    image_key(&want, "i8", 1);
    image_number(&want, 0xFE, 1);
    image_key(&want, "u16", 2);
    image_number(&want, 0xFEDC, 2);
    image_key(&want, "i16", 3);
    image_number(&want, (uint64_t)-300, 2);
    image_key(&want, "u32", 4);
    image_number(&want, 0xFEDCBA98u, 4);
    image_key(&want, "i32", 5);
    image_number(&want, (uint64_t)-70000, 4);
    image_key(&want, "f32", 6);
    image_number(&want, 0x3FC00000, 4);
    image_key(&want, "yes", 7);
    image_number(&want, 1, 1);
    image_key(&want, "no", 7);
    image_number(&want, 0, 1);
    image_key(&want, "string", 8);
    image_string_n(&want, "a\0\xE2\x96\x81", 5);
    image_key(&want, "empty", 8);
    image_string(&want, "");
    image_key(&want, "u64", 10);
    image_number(&want, 0xFEDCBA9876543210u, 8);
    image_key(&want, "i64", 11);
    image_number(&want, 1ull << 63, 8);
    image_key(&want, "f64", 12);
    image_number(&want, 0xBFE0000000000000u, 8);
    expect_file(w, &want, 32);
}

/* The same two numbers in every element type, and empty arrays of each. */
Test(values, arrays_of_every_type)
{
    static const unsigned widths[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
    const uint8_t u8[] = { 1, 0 };
    const uint16_t u16[] = { 1, 0xFEDC };
    const uint32_t u32[] = { 1, 0xFEDCBA98u };
    const uint64_t u64[] = { 1, 0xFEDCBA9876543210u };
    char key[16];

    image want = image_new(3, false);
    image_header(&want, 0, 23);
    for (uint32_t type = 0; type <= 12; type++) {
        if (type == GGLD_VALUE_STRING || type == GGLD_VALUE_ARRAY)
            continue;
        unsigned width = widths[type];
        const void *data = width == 1   ? (const void *)u8
                           : width == 2 ? (const void *)u16
                           : width == 4 ? (const void *)u32
                                        : (const void *)u64;
        snprintf(key, sizeof key, "a%u", type);
        ok(ggld_writer_set_array(w, key, type, data, 2, &err));
        image_key(&want, key, GGLD_VALUE_ARRAY);
        image_number(&want, type, 4);
        image_number(&want, 2, 8);
        image_number(&want, 1, width);
        image_number(&want,
                     width == 1   ? u8[1]
                     : width == 2 ? u16[1]
                     : width == 4 ? u32[1]
                                  : u64[1],
                     width);
        snprintf(key, sizeof key, "e%u", type);
        ok(ggld_writer_set_array(w, key, type, NULL, 0, &err));
        image_key(&want, key, GGLD_VALUE_ARRAY);
        image_number(&want, type, 4);
        image_number(&want, 0, 8);
    }
    ok(ggld_writer_set_array(w, "e8", GGLD_VALUE_STRING, NULL, 0, &err));
    image_key(&want, "e8", GGLD_VALUE_ARRAY);
    image_number(&want, GGLD_VALUE_STRING, 4);
    image_number(&want, 0, 8);
    expect_file(w, &want, 32);
}

Test(values, arrays_of_strings)
{
    const ggld_string strings[] = { { "b", 1 }, { NULL, 0 }, { "c\0d", 3 } };
    ok(ggld_writer_set_strings(w, "s", strings, 3, &err));
    ok(ggld_writer_set_strings(w, "none", NULL, 0, &err));

    image want = image_new(3, false);
    image_header(&want, 0, 2);
    image_key(&want, "s", 9);
    image_number(&want, 8, 4);
    image_number(&want, 3, 8);
    image_string(&want, "b");
    image_string(&want, "");
    image_string_n(&want, "c\0d", 3);
    image_key(&want, "none", 9);
    image_number(&want, 8, 4);
    image_number(&want, 0, 8);
    expect_file(w, &want, 32);
}

Test(values, a_key_set_again_keeps_its_place_and_takes_the_new_type)
{
    ok(ggld_writer_set_u8(w, "a", 1, &err));
    ok(ggld_writer_set_string(w, "b", "long text here", 14, &err));
    ok(ggld_writer_set_u8(w, "c", 3, &err));
    ok(ggld_writer_set_u64(w, "a", 10, &err));
    ok(ggld_writer_set_bool(w, "b", true, &err));
    ok(ggld_writer_set_u64(w, "a", 11, &err));

    image want = image_new(3, false);
    image_header(&want, 0, 3);
    image_key(&want, "a", 10);
    image_number(&want, 11, 8);
    image_key(&want, "b", 7);
    image_number(&want, 1, 1);
    image_key(&want, "c", 0);
    image_number(&want, 3, 1);
    expect_file(w, &want, 32);
}

Test(values, a_thousand_keys_set_twice)
{
    char key[16];
    image want = image_new(3, false);
    image_header(&want, 0, 1000);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(key, sizeof key, "key.%u", i);
            ok(ggld_writer_set_u32(w, key, i + round, &err));
        }
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "key.%u", i);
        image_key(&want, key, 4);
        image_number(&want, i + 1, 4);
    }
    expect_file(w, &want, 32);
}

Test(values, keys_and_text_are_copied)
{
    char key[] = "key";
    char text[] = "text";
    ok(ggld_writer_set_string(w, key, text, 4, &err));
    memset(key, 'x', 3);
    memset(text, 'x', 4);

    image want = image_new(3, false);
    image_header(&want, 0, 1);
    image_key(&want, "key", 8);
    image_string(&want, "text");
    expect_file(w, &want, 32);
}

/* ---- alignment and room for edits ---- */

static ggld_writer *new_aligned(uint32_t alignment, uint64_t reserve)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_writer *writer = NULL;
    o.alignment_bytes = alignment;
    o.reserve_bytes = reserve;
    ok(ggld_writer_new(&writer, &o, &err));
    return writer;
}

Test(values, an_alignment_of_its_own_becomes_a_key)
{
    for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2) {
        ggld_writer *writer = new_aligned(alignment, 0);
        ok(ggld_writer_set_u8(writer, "a", 1, &err));
        image want = image_new(3, false);
        image_header(&want, 0, alignment == 32 ? 1 : 2);
        image_key(&want, "a", 0);
        image_number(&want, 1, 1);
        if (alignment != 32) {
            image_key(&want, "general.alignment", 4);
            image_number(&want, alignment, 4);
        }
        expect_file(writer, &want, alignment);
        ggld_writer_free(writer);
    }
}

Test(values, the_alignment_stands_where_the_caller_sets_it)
{
    ggld_writer *writer = new_aligned(64, 0);
    ok(ggld_writer_set_u32(writer, "general.alignment", 64, &err));
    ok(ggld_writer_set_u8(writer, "a", 1, &err));
    image want = image_new(3, false);
    image_header(&want, 0, 2);
    image_key(&want, "general.alignment", 4);
    image_number(&want, 64, 4);
    image_key(&want, "a", 0);
    image_number(&want, 1, 1);
    expect_file(writer, &want, 64);
    ggld_writer_free(writer);
}

Test(values, thirty_two_may_be_said_too)
{
    ok(ggld_writer_set_u32(w, "general.alignment", 32, &err));
    image want = image_new(3, false);
    image_header(&want, 0, 1);
    image_key(&want, "general.alignment", 4);
    image_number(&want, 32, 4);
    expect_file(w, &want, 32);
}

static void reserve_image(image *want, uint64_t n)
{
    image_key(want, "ggld.padding", 8);
    image_number(want, n, 8);
    for (uint64_t i = 0; i < n; i++)
        image_bytes(want, " ", 1);
}

Test(values, room_for_edits_is_a_string_of_spaces_behind_the_others)
{
    ggld_writer *writer = new_aligned(64, 100);
    ok(ggld_writer_set_u8(writer, "a", 1, &err));
    image want = image_new(3, false);
    image_header(&want, 0, 3);
    image_key(&want, "a", 0);
    image_number(&want, 1, 1);
    image_key(&want, "general.alignment", 4);
    image_number(&want, 64, 4);
    reserve_image(&want, 100);
    expect_file(writer, &want, 64);
    ggld_writer_free(writer);
}

Test(values, room_for_edits_takes_the_place_of_old_room)
{
    ggld_writer *writer = new_aligned(0, 7);
    ok(ggld_writer_set_string(writer, "ggld.padding", "old", 3, &err));
    ok(ggld_writer_set_u8(writer, "a", 1, &err));
    image want = image_new(3, false);
    image_header(&want, 0, 2);
    reserve_image(&want, 7);
    image_key(&want, "a", 0);
    image_number(&want, 1, 1);
    expect_file(writer, &want, 32);
    ggld_writer_free(writer);
}

/* ---- refusals ---- */

static void refused(ggld_status status, ggld_status code, uint64_t index,
                    const char *message)
{
    cr_expect_eq(status, code, "expected %s, got %s: %s",
                 ggld_status_name(code), ggld_status_name(status), err.message);
    cr_expect_str_eq(err.message, message);
    cr_expect_eq(err.code, code);
    cr_expect_eq(err.index, index, "%s: index %d", message, (int)err.index);
}

Test(values, refusals_name_the_key_and_leave_the_writer_as_it_was)
{
    const uint8_t odd[] = { 0, 1, 2 };
    const ggld_string bad[] = { { "ok", 2 }, { "a\xFFz", 3 } };
    const ggld_string null[] = { { NULL, 3 } };
    static char long_key[65537];
    memset(long_key, 'k', 65536);

    ok(ggld_writer_set_u8(w, "a", 1, &err));
    refused(ggld_writer_set_u8(w, NULL, 1, &err), GGLD_E_INVALID, GGLD_NO_INDEX,
            "the key is NULL");
    refused(ggld_writer_set_u8(w, "", 1, &err), GGLD_E_STRING, 1,
            "the key is empty");
    refused(ggld_writer_set_u8(w, "b\xFF\xFE", 1, &err), GGLD_E_STRING, 1,
            "key 'b\\xFF\\xFE' is not UTF-8 from byte 1 on");
    cr_expect_eq(ggld_writer_set_u8(w, long_key, 1, &err), GGLD_E_STRING);
    cr_expect(strstr(err.message, "has 65536 bytes, more than 65535") != NULL,
              "%s", err.message);
    refused(ggld_writer_set_string(w, "a", "x\xC3(", 3, &err), GGLD_E_STRING, 0,
            "key 'a': text 'x\\xC3(' is not UTF-8 from byte 1 on");
    refused(ggld_writer_set_string(w, "b", NULL, 3, &err), GGLD_E_INVALID, 1,
            "key 'b': a text of 3 bytes is NULL");
    refused(ggld_writer_set_strings(w, "b", bad, 2, &err), GGLD_E_STRING, 1,
            "key 'b': text 'a\\xFFz' is not UTF-8 from byte 1 on");
    refused(ggld_writer_set_strings(w, "b", null, 1, &err), GGLD_E_INVALID, 1,
            "key 'b': a text of 3 bytes is NULL");
    refused(ggld_writer_set_strings(w, "b", NULL, 2, &err), GGLD_E_INVALID, 1,
            "key 'b': the data of 2 strings is NULL");
    refused(ggld_writer_set_array(w, "b", GGLD_VALUE_BOOL, odd, 3, &err),
            GGLD_E_VALUE, 1, "key 'b': element 2 is 2; a bool is 0 or 1");
    refused(ggld_writer_set_array(w, "b", GGLD_VALUE_U8, NULL, 3, &err),
            GGLD_E_INVALID, 1, "key 'b': the data of 3 elements is NULL");
    refused(ggld_writer_set_array(w, "b", GGLD_VALUE_STRING, odd, 1, &err),
            GGLD_E_VALUE_TYPE, 1,
            "key 'b': an array of element type 8 can't be set from numbers; "
            "call ggld_writer_set_strings");
    refused(ggld_writer_set_array(w, "b", GGLD_VALUE_ARRAY, NULL, 0, &err),
            GGLD_E_VALUE_TYPE, 1,
            "key 'b': an array of element type 9 can't be set from numbers");
    refused(ggld_writer_set_array(w, "b", 13, odd, 1, &err), GGLD_E_VALUE_TYPE,
            1,
            "key 'b': an array of element type 13 can't be set from numbers");
    cr_expect_eq(ggld_writer_set_array(w, "b", GGLD_VALUE_U64, odd,
                                       UINT64_MAX / 8 + 2, &err),
                 GGLD_E_NOMEM);
    refused(ggld_writer_set_u32(w, "general.alignment", 64, &err),
            GGLD_E_ALIGNMENT, 1,
            "'general.alignment': 64 is not the writer's alignment, 32: it is "
            "set by alignment_bytes in the options");
    refused(ggld_writer_set_u64(w, "general.alignment", 32, &err),
            GGLD_E_ALIGNMENT, 1,
            "'general.alignment': its type is u64; it must be u32");
    cr_expect_eq(ggld_writer_set_u8(NULL, "a", 1, NULL), GGLD_E_INVALID);

    image want = image_new(3, false);
    image_header(&want, 0, 1);
    image_key(&want, "a", 0);
    image_number(&want, 1, 1);
    expect_file(w, &want, 32);
    refused(ggld_writer_set_u8(w, "b", 1, &err), GGLD_E_INVALID, GGLD_NO_INDEX,
            "writer: it has finished: make a new one for another file");
}

Test(values, options_that_are_not_ours_are_refused)
{
    ggld_writer *untouched = w;
    for (int i = 0; i < 7; i++) {
        ggld_writer_options o = ggld_writer_options_init();
        ggld_status want = GGLD_E_ABI;
        if (i == 0)
            o.struct_size = 8;
        else if (i == 1)
            o.reserved[3] = 1;
        else if (i == 2)
            o.flags = 1u << 31;
        else if (i == 3)
            o.alignment_bytes = 24, want = GGLD_E_ALIGNMENT;
        else if (i == 4)
            o.alignment_bytes = 2u << 20, want = GGLD_E_ALIGNMENT;
        else if (i == 5)
            o.reserve_bytes = (1u << 30) + 1, want = GGLD_E_LIMIT;
        else
            o.struct_size = 0;
        ggld_status got = ggld_writer_new(&untouched, &o, &err);
        cr_expect_eq(got, want, "case %d: expected %s, got %s", i,
                     ggld_status_name(want), ggld_status_name(got));
        cr_expect_eq(untouched, w);
    }
}
