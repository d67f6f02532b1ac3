/* SPDX-License-Identifier: MIT */
/* The spec layer: the tables against the format's own numbers, shapes, and the
 * decoder's faults. */
#include <inttypes.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/bytes.h"
#include "image.h"
#include "spec/decode.h"
#include "spec/limits.h"
#include "spec/shape.h"
#include "spec/types.h"

/* ---- tables ---- */

Test(types, tensor_types_have_the_formats_blocks)
{
    static const struct {
        uint32_t id;
        const char *name;
        uint32_t elems, bytes;
    } rows[] = {
        { 0, "f32", 1, 4 },         { 1, "f16", 1, 2 },
        { 2, "q4_0", 32, 18 },      { 3, "q4_1", 32, 20 },
        { 6, "q5_0", 32, 22 },      { 7, "q5_1", 32, 24 },
        { 8, "q8_0", 32, 34 },      { 9, "q8_1", 32, 36 },
        { 10, "q2_K", 256, 84 },    { 11, "q3_K", 256, 110 },
        { 12, "q4_K", 256, 144 },   { 13, "q5_K", 256, 176 },
        { 14, "q6_K", 256, 210 },   { 15, "q8_K", 256, 292 },
        { 16, "iq2_xxs", 256, 66 }, { 17, "iq2_xs", 256, 74 },
        { 18, "iq3_xxs", 256, 98 }, { 19, "iq1_s", 256, 50 },
        { 20, "iq4_nl", 32, 18 },   { 21, "iq3_s", 256, 110 },
        { 22, "iq2_s", 256, 82 },   { 23, "iq4_xs", 256, 136 },
        { 24, "i8", 1, 1 },         { 25, "i16", 1, 2 },
        { 26, "i32", 1, 4 },        { 27, "i64", 1, 8 },
        { 28, "f64", 1, 8 },        { 29, "iq1_m", 256, 56 },
        { 30, "bf16", 1, 2 },       { 34, "tq1_0", 256, 54 },
        { 35, "tq2_0", 256, 66 },   { 39, "mxfp4", 32, 17 },
        { 40, "nvfp4", 64, 36 },    { 41, "q1_0", 128, 18 },
        { 42, "q2_0", 64, 18 },
    };
    size_t n_rows = sizeof rows / sizeof rows[0], n_known = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const ggld_type_traits *t = ggld_type_traits_of(rows[i].id);
        uint32_t id = UINT32_MAX;
        cr_assert_not_null(t, "type %u", rows[i].id);
        cr_expect_str_eq(t->name, rows[i].name);
        cr_expect_eq(t->block_elems, rows[i].elems, "%s", t->name);
        cr_expect_eq(t->block_bytes, rows[i].bytes, "%s", t->name);
        cr_expect(ggld_type_from_name(rows[i].name, &id) && id == rows[i].id);
    }
    for (uint32_t id = 0; id < 300; id++)
        n_known += ggld_type_traits_of(id) != NULL;
    cr_assert_eq(n_known, n_rows);
    cr_assert_null(ggld_type_traits_of(UINT32_MAX));
}

Test(types, names_are_found_in_any_case)
{
    uint32_t id = 99;
    cr_assert(ggld_type_from_name("Q4_k", &id) && id == 12);
    cr_assert_not(ggld_type_from_name("q4_2", &id));
    cr_assert_not(ggld_type_from_name("", &id));
    cr_assert_eq(id, 12, "*out was touched");
}

Test(types, removed_types_have_names_and_no_rows)
{
    static const uint32_t removed[] = { 4, 5, 31, 32, 33, 36, 37, 38 };
    size_t n = 0;
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++) {
        cr_expect_not_null(ggld_removed_type_name(removed[i]));
        cr_expect_null(ggld_type_row_of(removed[i]));
    }
    for (uint32_t id = 0; id < 300; id++)
        n += ggld_removed_type_name(id) != NULL;
    cr_assert_eq(n, sizeof removed / sizeof removed[0]);
    cr_assert_str_eq(ggld_removed_type_name(31), "q4_0_4_4");
}

Test(types, value_types_have_names_and_sizes)
{
    static const struct {
        const char *name;
        uint32_t size;
    } rows[] = { { "u8", 1 },     { "i8", 1 },    { "u16", 2 }, { "i16", 2 },
                 { "u32", 4 },    { "i32", 4 },   { "f32", 4 }, { "bool", 1 },
                 { "string", 0 }, { "array", 0 }, { "u64", 8 }, { "i64", 8 },
                 { "f64", 8 } };
    for (uint32_t i = 0; i < 13; i++) {
        cr_expect(ggld_value_type_known(i));
        cr_expect_str_eq(ggld_value_type_name(i), rows[i].name);
        cr_expect_eq(ggld_value_size(i), rows[i].size, "%s", rows[i].name);
    }
    cr_assert_not(ggld_value_type_known(13));
    cr_assert_null(ggld_value_type_name(UINT32_MAX));
    cr_assert_eq(ggld_value_size(13), 0);
}

Test(types, fields_lie_within_their_blocks)
{
    for (uint32_t id = 0; id < GGLD_TYPE_LIMIT; id++) {
        const ggld_type_row *row = ggld_type_row_of(id);
        if (row == NULL)
            continue;
        for (int f = 0; f < GGLD_MAX_FIELDS; f++) {
            const ggld_block_field *field = &row->fields[f];
            cr_expect_leq(
                (uint32_t)field->offset + (uint32_t)field->width * field->count,
                row->traits.block_bytes, "%s field %d", row->traits.name, f);
        }
    }
}

Test(types, swapping_twice_changes_nothing)
{
    uint8_t block[600], before[600];
    for (uint32_t id = 0; id < GGLD_TYPE_LIMIT; id++) {
        const ggld_type_row *row = ggld_type_row_of(id);
        if (row == NULL)
            continue;
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = before[i] = (uint8_t)(i * 37 + id);
        ggld_swap_blocks(row, block, 2);
        ggld_swap_blocks(row, block, 2);
        cr_expect_arr_eq(block, before, sizeof block, "%s", row->traits.name);
    }
    uint8_t q5_0[22] = { 1, 2, 3, 4, 5, 6, 7 };
    ggld_swap_blocks(ggld_type_row_of(6), q5_0, 1);
    cr_assert_arr_eq(q5_0, ((uint8_t[]){ 2, 1, 6, 5, 4, 3, 7 }), 7);
}

/* ---- shapes ---- */

#define HUGE (UINT64_C(1) << 62)

Test(shape, elements_are_counted_without_wrapping)
{
    static const struct {
        uint32_t n_dims;
        uint64_t dims[4];
        ggld_shape_verdict verdict;
        uint64_t n_elems;
    } rows[] = {
        { 0, { 0 }, GGLD_SHAPE_OK, 1 },
        { 1, { 7 }, GGLD_SHAPE_OK, 7 },
        { 4, { 2, 3, 4, 5 }, GGLD_SHAPE_OK, 120 },
        { 2, { 0, 5 }, GGLD_SHAPE_OK, 0 },
        { 3, { HUGE, 0, HUGE }, GGLD_SHAPE_OK, 0 },
        { 1, { INT64_MAX }, GGLD_SHAPE_OK, INT64_MAX },
        { 1, { UINT64_C(1) << 63 }, GGLD_SHAPE_ELEMS_OVERFLOW, 0 },
        { 1, { UINT64_MAX }, GGLD_SHAPE_ELEMS_OVERFLOW, 0 },
        { 2, { HUGE, 2 }, GGLD_SHAPE_ELEMS_OVERFLOW, 0 },
        { 2, { HUGE, 3 }, GGLD_SHAPE_ELEMS_OVERFLOW, 0 },
        { 2, { HUGE, 4 }, GGLD_SHAPE_ELEMS_OVERFLOW, 0 },
        { 2,
          { UINT64_C(1) << 32, UINT64_C(1) << 32 },
          GGLD_SHAPE_ELEMS_OVERFLOW,
          0 },
        { 3,
          { UINT64_C(1) << 21, UINT64_C(1) << 21, UINT64_C(1) << 22 },
          GGLD_SHAPE_ELEMS_OVERFLOW,
          0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t n = 0;
        ggld_shape_verdict verdict =
            ggld_shape_elems(rows[i].dims, rows[i].n_dims, &n);
        cr_expect_eq(verdict, rows[i].verdict, "row %zu: %d", i, verdict);
        if (verdict == GGLD_SHAPE_OK)
            cr_expect_eq(n, rows[i].n_elems, "row %zu: %" PRIu64, i, n);
    }
}

Test(shape, bytes_are_whole_rows_of_blocks)
{
    static const struct {
        uint32_t type;
        uint32_t n_dims;
        uint64_t dims[4];
        ggld_shape_verdict verdict;
        uint64_t n_bytes;
    } rows[] = {
        { 0, 1, { 8 }, GGLD_SHAPE_OK, 32 },
        { 0, 0, { 0 }, GGLD_SHAPE_OK, 4 },
        { 2, 0, { 0 }, GGLD_SHAPE_ROW, 0 },
        { 2, 2, { 64, 3 }, GGLD_SHAPE_OK, 108 },
        { 8, 2, { 8, 64 }, GGLD_SHAPE_ROW, 0 },
        { 8, 2, { 172, 2 }, GGLD_SHAPE_ROW, 0 },
        { 8, 2, { 8, 0 }, GGLD_SHAPE_ROW, 0 },
        { 8, 2, { 0, 8 }, GGLD_SHAPE_OK, 0 },
        { 13, 2, { 256, 3 }, GGLD_SHAPE_OK, 528 },
        { 14, 2, { 8, 64 }, GGLD_SHAPE_ROW, 0 },
        { 0, 1, { HUGE }, GGLD_SHAPE_BYTES_OVERFLOW, 0 },
        { 27, 2, { 1, HUGE }, GGLD_SHAPE_BYTES_OVERFLOW, 0 },
        { 24, 1, { INT64_MAX }, GGLD_SHAPE_OK, INT64_MAX },
        { 1, 1, { HUGE }, GGLD_SHAPE_BYTES_OVERFLOW, 0 },
        { 1, 1, { HUGE - 1 }, GGLD_SHAPE_OK, 2 * (HUGE - 1) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t n_elems, n = 0;
        cr_assert_eq(ggld_shape_elems(rows[i].dims, rows[i].n_dims, &n_elems),
                     GGLD_SHAPE_OK);
        ggld_shape_verdict verdict =
            ggld_shape_bytes(ggld_type_traits_of(rows[i].type), rows[i].dims,
                             rows[i].n_dims, n_elems, &n);
        cr_expect_eq(verdict, rows[i].verdict, "row %zu: %d", i, verdict);
        if (verdict == GGLD_SHAPE_OK)
            cr_expect_eq(n, rows[i].n_bytes, "row %zu: %" PRIu64, i, n);
    }
}

/* ---- decoding ---- */

static ggld_cursor cursor_on(const image *img)
{
    ggld_cursor c = {
        { img->data, img->size }, 0, img->big_endian, img->version == 1
    };
    return c;
}

static image blank(uint32_t version, bool big_endian)
{
    image img = { NULL, 0, 0, version, big_endian };
    return img;
}

/* Every version's and order's form of a value that has everything in it, and
 * every prefix of it. */
Test(decode, a_value_is_passed_whole_or_not_at_all)
{
    for (uint32_t form = 0; form < 4; form++) {
        image img = blank(form < 2 ? 1 : 3, form % 2 != 0);
        image_u32(&img, 9); /* an array of arrays: of strings, of u16 */
        image_len(&img, 2);
        image_u32(&img, 8);
        image_len(&img, 2);
        image_string(&img, "ab", 2);
        image_string(&img, "", 0);
        image_u32(&img, 2);
        image_len(&img, 3);
        image_bytes(&img, "123456", 6);
        size_t whole = img.size;
        image_bytes(&img, "rest", 4);

        ggld_fault fault;
        ggld_cursor c = cursor_on(&img);
        cr_assert(ggld_decode_skip_value(&c, GGLD_VALUE_ARRAY, 0, &fault));
        cr_assert_eq(c.pos, whole, "form %u ends at %" PRIu64, form, c.pos);
        for (size_t size = 0; size < whole; size++) {
            c = cursor_on(&img);
            c.span.size = size;
            cr_assert_not(
                ggld_decode_skip_value(&c, GGLD_VALUE_ARRAY, 0, &fault));
            cr_assert_gt(fault.span_needed, size, "form %u, %zu bytes", form,
                         size);
            cr_assert_leq(fault.span_needed, whole);
        }
        image_free(&img);
    }
}

typedef struct fault_row {
    const char *what;
    uint32_t type;
    uint64_t words[4]; /* of 8 bytes; the first is written as 4 */
    size_t n_words;
    ggld_fault_kind kind;
    const char *field;
    uint64_t offset, number, left, span_needed;
} fault_row;

Test(decode, faults_say_field_place_and_numbers)
{
    static const fault_row rows[] = {
        { "short value",
          GGLD_VALUE_U64,
          { 1 },
          1,
          GGLD_FAULT_END,
          "value",
          0,
          8,
          4,
          8 },
        { "count of u64 that wraps",
          GGLD_VALUE_ARRAY,
          { 10, (UINT64_C(1) << 61) + 1, 7 },
          3,
          GGLD_FAULT_LENGTH,
          "array count",
          4,
          (UINT64_C(1) << 61) + 1,
          8,
          UINT64_MAX },
        { "count of u8",
          GGLD_VALUE_ARRAY,
          { 0, 100, 7 },
          3,
          GGLD_FAULT_LENGTH,
          "array count",
          4,
          100,
          8,
          112 },
        { "count of strings",
          GGLD_VALUE_ARRAY,
          { 8, 3, 0 },
          3,
          GGLD_FAULT_LENGTH,
          "array count",
          4,
          3,
          8,
          36 },
        { "length of a string in an array",
          GGLD_VALUE_ARRAY,
          { 8, 1, 9 },
          3,
          GGLD_FAULT_LENGTH,
          "string length",
          12,
          9,
          0,
          29 },
        { "length that wraps",
          GGLD_VALUE_ARRAY,
          { 8, 1, UINT64_MAX },
          3,
          GGLD_FAULT_LENGTH,
          "string length",
          12,
          UINT64_MAX,
          0,
          UINT64_MAX },
        { "element type",
          GGLD_VALUE_ARRAY,
          { 13, 0 },
          2,
          GGLD_FAULT_VALUE_TYPE,
          "array element type",
          0,
          13,
          0,
          0 },
        { "no count",
          GGLD_VALUE_ARRAY,
          { 4 },
          1,
          GGLD_FAULT_END,
          "array count",
          4,
          8,
          0,
          12 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const fault_row *row = &rows[i];
        image img = blank(3, false);
        ggld_fault fault;
        image_u32(&img, (uint32_t)row->words[0]);
        for (size_t w = 1; w < row->n_words; w++)
            image_u64(&img, row->words[w]);
        ggld_cursor c = cursor_on(&img);
        cr_assert_not(ggld_decode_skip_value(&c, row->type, 0, &fault), "%s",
                      row->what);
        cr_expect_eq(fault.kind, row->kind, "%s: %d", row->what, fault.kind);
        cr_expect_str_eq(fault.field, row->field, "%s: %s", row->what,
                         fault.field);
        cr_expect_eq(fault.offset, row->offset, "%s: %" PRIu64, row->what,
                     fault.offset);
        cr_expect_eq(fault.number, row->number, "%s: %" PRIu64, row->what,
                     fault.number);
        cr_expect_eq(fault.left, row->left, "%s: %" PRIu64, row->what,
                     fault.left);
        cr_expect_eq(fault.span_needed, row->span_needed, "%s: %" PRIu64,
                     row->what, fault.span_needed);
        image_free(&img);
    }
}

Test(decode, arrays_nest_to_eight_and_no_deeper)
{
    for (int depth = 1; depth <= 3000; depth = depth < 12 ? depth + 1 : 3000) {
        image img = blank(3, false);
        ggld_fault fault;
        for (int d = 1; d < depth; d++) {
            image_u32(&img, 9);
            image_u64(&img, 1);
        }
        image_u32(&img, 4);
        image_u64(&img, 1);
        image_u32(&img, 5);
        ggld_cursor c = cursor_on(&img);
        bool good = ggld_decode_skip_value(&c, GGLD_VALUE_ARRAY, 0, &fault);
        cr_expect_eq(good, depth <= GGLD_MAX_ARRAY_DEPTH, "depth %d", depth);
        if (!good)
            cr_expect_eq(fault.kind, GGLD_FAULT_DEPTH, "depth %d", depth);
        image_free(&img);
        if (depth == 3000)
            break;
    }
}

Test(decode, strings_past_the_limit_are_told_from_strings_past_the_end)
{
    image img = blank(3, false);
    ggld_fault fault;
    ggld_string s;
    image_string(&img, "12345678", 8);

    ggld_cursor c = cursor_on(&img);
    cr_assert(ggld_decode_string(&c, "key length", 8, &s, &fault));
    cr_assert(s.len == 8 && memcmp(s.data, "12345678", 8) == 0);
    c = cursor_on(&img);
    cr_assert_not(ggld_decode_string(&c, "key length", 7, &s, &fault));
    cr_assert_eq(fault.kind, GGLD_FAULT_STRING);
    cr_assert_eq(fault.span_needed, 0, "more bytes would not help");
    c = cursor_on(&img);
    c.span.size = 15;
    cr_assert_not(ggld_decode_string(&c, "key length", 0, &s, &fault));
    cr_assert_eq(fault.kind, GGLD_FAULT_LENGTH);
    image_free(&img);
}
