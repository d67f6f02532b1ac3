/* SPDX-License-Identifier: MIT */
/* Key-values through the public API: which getter takes which value, arrays,
 * the string index, look-up. Each in every version and byte order. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "image.h"

typedef struct form {
    uint32_t version;
    bool big_endian;
} form;

static const form forms[] = {
    { 3, false }, { 3, true }, { 2, false }, { 1, false }, { 1, true }
};
#define N_FORMS (sizeof forms / sizeof forms[0])

static ggld_file *open_image(const image *img)
{
    ggld_file *file = NULL;
    ggld_error err;
    ggld_status status =
        ggld_open_memory(&file, img->data, img->size, NULL, &err);
    cr_assert_eq(status, GGLD_OK, "%s", err.message);
    return file;
}

/* ---- widening ---- */

typedef struct number_row {
    uint32_t type;
    uint64_t bits;
    size_t width;
    bool has_u64, has_i64, has_f64;
    uint64_t u64;
    int64_t i64;
    double f64;
} number_row;

#define TWO_53 (UINT64_C(1) << 53)

static const number_row numbers[] = {
    { 0, 255, 1, 1, 1, 1, 255, 255, 255 },
    { 1, 0x80, 1, 0, 1, 1, 0, -128, -128 },
    { 1, 0x7F, 1, 1, 1, 1, 127, 127, 127 },
    { 2, 65535, 2, 1, 1, 1, 65535, 65535, 65535 },
    { 3, 0x8000, 2, 0, 1, 1, 0, -32768, -32768 },
    { 4, UINT32_MAX, 4, 1, 1, 1, UINT32_MAX, UINT32_MAX, 4294967295.0 },
    { 5, 0x80000000, 4, 0, 1, 1, 0, INT32_MIN, -2147483648.0 },
    { 5, 0, 4, 1, 1, 1, 0, 0, 0 },
    { 10, INT64_MAX, 8, 1, 1, 0, INT64_MAX, INT64_MAX, 0 },
    { 10, UINT64_C(1) << 63, 8, 1, 0, 1, UINT64_C(1) << 63, 0,
      9223372036854775808.0 },
    { 10, UINT64_MAX, 8, 1, 0, 0, UINT64_MAX, 0, 0 },
    { 10, TWO_53, 8, 1, 1, 1, TWO_53, (int64_t)TWO_53, 9007199254740992.0 },
    { 10, TWO_53 + 1, 8, 1, 1, 0, TWO_53 + 1, (int64_t)TWO_53 + 1, 0 },
    { 11, UINT64_C(1) << 63, 8, 0, 1, 1, 0, INT64_MIN, -9223372036854775808.0 },
    { 11, UINT64_MAX, 8, 0, 1, 1, 0, -1, -1 },
    { 11, 0 - (TWO_53 + 1), 8, 0, 1, 0, 0, -(int64_t)TWO_53 - 1, 0 },
    { 11, 0 - TWO_53, 8, 0, 1, 1, 0, -(int64_t)TWO_53, -9007199254740992.0 },
    { 6, 0x40400000, 4, 1, 1, 1, 3, 3, 3 },
    { 6, 0xC0400000, 4, 0, 1, 1, 0, -3, -3 },
    { 6, 0x3F000000, 4, 0, 0, 1, 0, 0, 0.5 },
    { 6, 0x3DCCCCCD, 4, 0, 0, 1, 0, 0, (double)0.1f },
    { 6, 0x7F800000, 4, 0, 0, 1, 0, 0, INFINITY },
    { 12, 0x43F0000000000000, 8, 0, 0, 1, 0, 0, 18446744073709551616.0 },
    { 12, 0x43EFFFFFFFFFFFFF, 8, 1, 0, 1, UINT64_C(18446744073709549568), 0,
      18446744073709549568.0 },
    { 12, 0x43E0000000000000, 8, 1, 0, 1, UINT64_C(1) << 63, 0,
      9223372036854775808.0 },
    { 12, 0xC3E0000000000000, 8, 0, 1, 1, 0, INT64_MIN,
      -9223372036854775808.0 },
    { 12, 0xC3E0000000000001, 8, 0, 0, 1, 0, 0, -9223372036854777856.0 },
    { 12, 0xFFF0000000000000, 8, 0, 0, 1, 0, 0, -INFINITY },
    { 12, 0x7E37E43C8800759C, 8, 0, 0, 1, 0, 0, 1e300 },
    { 12, 0x0000000000000001, 8, 0, 0, 1, 0, 0, 5e-324 },
    { 7, 1, 1, 0, 0, 0, 0, 0, 0 },
};
#define N_NUMBERS (sizeof numbers / sizeof numbers[0])

/* What the getters gave, untouched values standing for "nothing". */
static void expect_number(size_t row, bool got_u64, uint64_t u64, bool got_i64,
                          int64_t i64, bool got_f64, double f64)
{
    const number_row *n = &numbers[row];
    cr_expect_eq(got_u64, n->has_u64, "row %zu: u64", row);
    cr_expect_eq(u64, n->has_u64 ? n->u64 : 77, "row %zu: %" PRIu64, row, u64);
    cr_expect_eq(got_i64, n->has_i64, "row %zu: i64", row);
    cr_expect_eq(i64, n->has_i64 ? n->i64 : 77, "row %zu: %" PRId64, row, i64);
    cr_expect_eq(got_f64, n->has_f64, "row %zu: f64", row);
    cr_expect_eq(f64, n->has_f64 ? n->f64 : 77, "row %zu: %g", row, f64);
}

Test(getters, widen_exactly_or_leave_the_output_alone)
{
    for (size_t f = 0; f < N_FORMS; f++) {
        image img =
            image_new(forms[f].version, forms[f].big_endian, 0, N_NUMBERS);
        for (size_t i = 0; i < N_NUMBERS; i++) {
            image_kv(&img, (char[]){ 'k', (char)('0' + i), 0 },
                     numbers[i].type);
            image_number(&img, numbers[i].bits, numbers[i].width);
        }
        ggld_file *file = open_image(&img);
        for (size_t i = 0; i < N_NUMBERS; i++) {
            const ggld_kv *kv = ggld_kv_at(file, i);
            uint64_t u64 = 77;
            int64_t i64 = 77;
            double f64 = 77;
            bool got_u64 = ggld_kv_get_u64(kv, &u64);
            bool got_i64 = ggld_kv_get_i64(kv, &i64);
            bool got_f64 = ggld_kv_get_f64(kv, &f64);
            expect_number(i, got_u64, u64, got_i64, i64, got_f64, f64);
        }
        ggld_close(file);
        image_free(&img);
    }
}

Test(getters, array_elements_widen_by_the_same_rules)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        image img = image_new(3, true, 0, 1);
        image_kv(&img, "k", 9);
        image_u32(&img, numbers[i].type);
        image_len(&img, 1);
        image_number(&img, numbers[i].bits, numbers[i].width);
        ggld_file *file = open_image(&img);
        ggld_array_iter it, at[3];
        cr_assert(ggld_kv_get_array(ggld_kv_at(file, 0), &it));
        at[0] = at[1] = at[2] = it;
        uint64_t u64 = 77;
        int64_t i64 = 77;
        double f64 = 77;
        bool got_u64 = ggld_array_next_u64(&at[0], &u64);
        bool got_i64 = ggld_array_next_i64(&at[1], &i64);
        bool got_f64 = ggld_array_next_f64(&at[2], &f64);
        expect_number(i, got_u64, u64, got_i64, i64, got_f64, f64);
        cr_expect_eq(at[0].next, got_u64, "row %zu: a step without a value", i);
        cr_expect_not(ggld_array_next_u64(&at[0], &u64) && got_u64,
                      "row %zu: an element past the end", i);
        ggld_close(file);
        image_free(&img);
    }
}

Test(getters, not_a_number_is_a_number_for_f64_only)
{
    image img = image_new(3, false, 0, 1);
    image_kv(&img, "nan", 6);
    image_u32(&img, 0x7FC00001);
    ggld_file *file = open_image(&img);
    uint64_t u64;
    int64_t i64;
    double f64 = 0;
    cr_assert_not(ggld_kv_get_u64(ggld_kv_at(file, 0), &u64));
    cr_assert_not(ggld_kv_get_i64(ggld_kv_at(file, 0), &i64));
    cr_assert(ggld_kv_get_f64(ggld_kv_at(file, 0), &f64) && isnan(f64));
    ggld_close(file);
    image_free(&img);
}

/* ---- bools and strings ---- */

Test(getters, bools_are_zero_or_anything_else)
{
    image img = image_new(3, false, 0, 3);
    image_kv(&img, "no", 7);
    image_bytes(&img, "\0", 1);
    image_kv(&img, "odd", 7);
    image_bytes(&img, "\2", 1);
    image_kv(&img, "list", 9);
    image_u32(&img, 7);
    image_len(&img, 3);
    image_bytes(&img, "\0\1\xFF", 3);
    ggld_file *file = open_image(&img);
    bool b = true;
    cr_assert(ggld_kv_get_bool(ggld_kv_find(file, "no"), &b) && !b);
    cr_assert(ggld_kv_get_bool(ggld_kv_find(file, "odd"), &b));
    cr_assert_eq((int)b, 1);
    cr_assert_not(ggld_kv_get_bool(ggld_kv_find(file, "list"), &b));
    ggld_array_iter it;
    cr_assert(ggld_kv_get_array(ggld_kv_find(file, "list"), &it));
    cr_assert(ggld_array_next_bool(&it, &b) && !b);
    cr_assert(ggld_array_next_bool(&it, &b) && b);
    cr_assert(ggld_array_next_bool(&it, &b) && (int)b == 1);
    cr_assert_not(ggld_array_next_bool(&it, &b));
    ggld_close(file);
    image_free(&img);
}

Test(getters, strings_are_bytes_with_a_length)
{
    for (size_t f = 0; f < N_FORMS; f++) {
        image img = image_new(forms[f].version, forms[f].big_endian, 0, 3);
        image_kv(&img, "nul", 8);
        image_string(&img, "a\0b", 3);
        image_kv(&img, "empty", 8);
        image_string(&img, "", 0);
        image_kv_u32(&img, "number", 5);
        ggld_file *file = open_image(&img);
        ggld_string s = { NULL, 99 };
        cr_assert_not(ggld_kv_get_string(ggld_kv_find(file, "number"), &s));
        cr_assert(s.data == NULL && s.len == 99, "*out was touched");
        cr_assert(ggld_kv_get_string(ggld_kv_find(file, "nul"), &s));
        cr_assert(s.len == 3 && memcmp(s.data, "a\0b", 3) == 0);
        cr_assert(ggld_kv_get_string(ggld_kv_find(file, "empty"), &s));
        cr_assert(s.len == 0 && s.data != NULL);
        ggld_close(file);
        image_free(&img);
    }
}

/* ---- arrays ---- */

Test(arrays, nested_ones_are_walked_from_outside_in)
{
    for (size_t f = 0; f < N_FORMS; f++) {
        image img = image_new(forms[f].version, forms[f].big_endian, 0, 2);
        image_kv(&img, "nested", 9);
        image_u32(&img, 9);
        image_len(&img, 3);
        image_u32(&img, 8); /* ["x", "yz"], [], [7, 8] */
        image_len(&img, 2);
        image_string(&img, "x", 1);
        image_string(&img, "yz", 2);
        image_u32(&img, 9);
        image_len(&img, 0);
        image_u32(&img, 2);
        image_len(&img, 2);
        image_number(&img, 7, 2);
        image_number(&img, 8, 2);
        image_kv_u32(&img, "after", 1);
        ggld_file *file = open_image(&img);

        ggld_array_iter it, inner;
        ggld_string s;
        uint64_t v;
        cr_assert(ggld_kv_get_array(ggld_kv_find(file, "nested"), &it));
        cr_assert(it.elem_type == GGLD_VALUE_ARRAY && it.n_elems == 3);
        cr_assert_not(ggld_array_next_u64(&it, &v));
        cr_assert_not(ggld_array_next_string(&it, &s));
        cr_assert(ggld_array_next_array(&it, &inner));
        cr_assert(inner.elem_type == GGLD_VALUE_STRING && inner.n_elems == 2);
        cr_assert(ggld_array_next_string(&inner, &s) && s.len == 1);
        cr_assert(ggld_array_next_string(&inner, &s) && s.len == 2 &&
                  memcmp(s.data, "yz", 2) == 0);
        cr_assert_not(ggld_array_next_string(&inner, &s));
        cr_assert(ggld_array_next_array(&it, &inner));
        cr_assert(inner.elem_type == GGLD_VALUE_ARRAY && inner.n_elems == 0);
        cr_assert_not(ggld_array_next_array(&inner, &inner));
        cr_assert(ggld_array_next_array(&it, &inner));
        cr_assert(ggld_array_next_u64(&inner, &v) && v == 7);
        cr_assert(ggld_array_next_u64(&inner, &v) && v == 8);
        cr_assert_not(ggld_array_next_array(&it, &inner));
        cr_assert_eq(it.next, 3);
        ggld_close(file);
        image_free(&img);
    }
}

Test(arrays, an_iterators_copy_remembers_its_place)
{
    image img = image_sample(3, false);
    ggld_file *file = open_image(&img);
    ggld_array_iter it, mark;
    ggld_string a, b;
    cr_assert(ggld_kv_get_array(ggld_kv_find(file, "tokens"), &it));
    cr_assert(ggld_array_next_string(&it, &a));
    mark = it;
    cr_assert(ggld_array_next_string(&it, &a));
    cr_assert(ggld_array_next_string(&mark, &b));
    cr_assert(a.data == b.data && it.next == 2 && mark.next == 2);
    ggld_close(file);
    image_free(&img);
}

Test(arrays, a_string_index_finds_any_element)
{
    enum { N = 1000 };
    for (size_t f = 0; f < N_FORMS; f++) {
        image img = image_new(forms[f].version, forms[f].big_endian, 0, 1);
        char text[N];
        memset(text, 't', sizeof text);
        image_kv(&img, "tokens", 9);
        image_u32(&img, 8);
        image_len(&img, N);
        for (size_t i = 0; i < N; i++)
            image_string(&img, text, i);
        ggld_file *file = open_image(&img);
        ggld_string_index *index;
        cr_assert_eq(ggld_string_index_new(&index, ggld_kv_at(file, 0), NULL),
                     GGLD_OK);
        cr_assert_eq(ggld_string_index_count(index), N);
        for (uint64_t i = N; i-- > 0;)
            cr_assert_eq(ggld_string_index_at(index, i).len, i);
        ggld_string past = ggld_string_index_at(index, N);
        cr_assert(past.len == 0 && past.data != NULL);
        past = ggld_string_index_at(index, UINT64_MAX);
        cr_assert(past.len == 0 && past.data != NULL);
        ggld_string_index_free(index);
        ggld_string_index_free(NULL);
        ggld_close(file);
        image_free(&img);
    }
}

Test(arrays, only_arrays_of_strings_have_a_string_index)
{
    image img = image_new(3, false, 0, 3);
    image_kv(&img, "u32s", 9);
    image_u32(&img, 4);
    image_len(&img, 1);
    image_u32(&img, 5);
    image_kv_text(&img, "text", "x");
    image_kv(&img, "none", 9);
    image_u32(&img, 8);
    image_len(&img, 0);
    ggld_file *file = open_image(&img);
    ggld_string_index *index = NULL;
    ggld_error err;
    for (uint64_t i = 0; i < 2; i++) {
        cr_assert_eq(ggld_string_index_new(&index, ggld_kv_at(file, i), &err),
                     GGLD_E_VALUE_TYPE);
        cr_assert_null(index);
        cr_assert(err.section == GGLD_IN_KV && err.index == i);
    }
    cr_assert_eq(ggld_string_index_new(&index, ggld_kv_at(file, 2), NULL),
                 GGLD_OK);
    cr_assert_eq(ggld_string_index_count(index), 0);
    ggld_string_index_free(index);
    ggld_close(file);
    image_free(&img);
}

/* ---- look-up and raw values ---- */

Test(lookup, compares_lengths_and_not_only_text)
{
    image img = image_new(3, false, 2, 2);
    image_string(&img, "a\0b", 3);
    image_u32(&img, 4);
    image_u32(&img, 1);
    image_kv_u32(&img, "key", 2);
    uint64_t dim = 0;
    image_tensor(&img, "t", 1, &dim, 0, 0);
    image_tensor(&img, "tensor", 1, &dim, 0, 0);
    ggld_file *file = open_image(&img);

    cr_assert_null(ggld_kv_find(file, "a"));
    cr_assert_eq(ggld_kv_find_n(file, "a\0b", 3), ggld_kv_at(file, 0));
    cr_assert_eq(ggld_kv_find_n(file, "keys", 3), ggld_kv_at(file, 1));
    cr_assert_null(ggld_kv_find(file, "ke"));
    cr_assert_null(ggld_kv_find(file, ""));
    cr_assert_null(ggld_kv_at(file, 2));
    cr_assert_null(ggld_kv_at(file, UINT64_MAX));
    cr_assert_eq(ggld_tensor_find(file, "tensor"), ggld_tensor_at(file, 1));
    cr_assert_eq(ggld_tensor_find_n(file, "tensor", 1),
                 ggld_tensor_at(file, 0));
    cr_assert_null(ggld_tensor_find(file, "tens"));
    cr_assert_null(ggld_tensor_at(file, 2));
    cr_assert_eq(ggld_tensor_file(ggld_tensor_at(file, 0)), file);
    ggld_close(file);
    image_free(&img);
}

Test(lookup, of_a_key_that_is_there_twice_gives_the_first)
{
    image img = image_new(3, false, 0, 3);
    image_kv_u32(&img, "x", 1);
    image_kv_u32(&img, "y", 2);
    image_kv_u32(&img, "x", 3);
    ggld_file *file = open_image(&img);
    uint64_t v = 0;
    cr_assert_eq(ggld_kv_count(file), 3);
    cr_assert(ggld_kv_get_u64(ggld_kv_find(file, "x"), &v) && v == 1);
    cr_assert(ggld_kv_get_u64(ggld_kv_at(file, 2), &v) && v == 3);
    ggld_close(file);
    image_free(&img);
}

Test(lookup, in_a_file_without_records_finds_nothing)
{
    image img = image_new(3, false, 0, 0);
    ggld_file *file = open_image(&img);
    cr_assert_null(ggld_kv_find(file, "x"));
    cr_assert_null(ggld_tensor_find(file, "x"));
    cr_assert_null(ggld_kv_at(file, 0));
    cr_assert_null(ggld_tensor_at(file, 0));
    ggld_close(file);
    image_free(&img);
}

Test(raw, is_the_value_as_it_is_stored)
{
    for (size_t f = 0; f < N_FORMS; f++) {
        image img = image_sample(forms[f].version, forms[f].big_endian);
        ggld_file *file = open_image(&img);
        const ggld_kv *kv = ggld_kv_find(file, "tokens");
        ggld_raw_value raw = ggld_kv_raw(kv);
        cr_assert_eq(raw.version, forms[f].version);
        cr_assert_eq(raw.big_endian, forms[f].big_endian);
        size_t width = forms[f].version == 1 ? 4 : 8;
        cr_assert_eq(raw.bytes.len, 4 + width + 3 * width + 8);
        cr_assert_eq((const void *)raw.bytes.data,
                     img.data + raw.file_offset_bytes);
        cr_assert_eq(memcmp(raw.bytes.data + raw.bytes.len - 5, "three", 5), 0);
        ggld_close(file);
        image_free(&img);
    }
}

Test(info, of_tensors_says_what_the_table_says)
{
    for (size_t f = 0; f < N_FORMS; f++) {
        image img = image_sample(forms[f].version, forms[f].big_endian);
        ggld_file *file = open_image(&img);
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_file_info whole = { .struct_size = sizeof whole };
        ggld_file_get_info(file, &whole);
        ggld_tensor_get_info(ggld_tensor_find(file, "b"), &info);
        cr_assert(info.name.len == 1 && info.type == GGLD_TYPE_Q4_0);
        cr_assert(info.n_dims == 2 && info.dims[0] == 32 && info.dims[1] == 2);
        cr_assert(info.dims[2] == 1 && info.dims[3] == 1);
        cr_assert(info.n_elems == 64 && info.size_bytes == 36);
        cr_assert_eq(info.file_offset_bytes, whole.metadata_bytes + 32);
        cr_assert(info.index == 1 && info.shard == 0 && info.supported);
        cr_assert_eq(info.big_endian, forms[f].big_endian);
        cr_assert_eq(whole.version, forms[f].version);
        cr_assert_eq(whole.big_endian, forms[f].big_endian);
        cr_assert(whole.n_shards == 1 && whole.alignment_bytes == 32);
        cr_assert_eq(whole.n_elems, 8 + 64 + 3);
        cr_assert_eq(whole.metadata_bytes + whole.data_bytes, img.size);
        cr_assert(whole.file_bytes == img.size && whole.data_bytes == 128);
        ggld_close(file);
        image_free(&img);
    }
}

Test(info, covers_as_much_as_the_caller_knows)
{
    image img = image_sample(3, false);
    ggld_file *file = open_image(&img);
    struct {
        ggld_file_info info;
        uint64_t newer[2];
    } wide;
    memset(&wide, 0xAA, sizeof wide);
    wide.info.struct_size = sizeof wide;
    ggld_file_get_info(file, &wide.info);
    cr_assert_eq(wide.info.struct_size, sizeof wide);
    cr_assert(wide.info.version == 3 && wide.newer[1] == 0);

    ggld_file_info narrow;
    memset(&narrow, 0xAA, sizeof narrow);
    narrow.struct_size = offsetof(ggld_file_info, n_shards);
    ggld_file_get_info(file, &narrow);
    cr_assert_eq(narrow.version, 3);
    cr_assert_eq(narrow.n_shards, 0xAAAAAAAA, "written past struct_size");
    ggld_close(file);
    image_free(&img);
}
