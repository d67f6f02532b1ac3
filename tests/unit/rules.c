/* SPDX-License-Identifier: MIT */
/* What is refused, in which mode, with which words; and that a check says what
 * open does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "hearing.h"
#include "image.h"

static findings check(const image *img, uint32_t flags)
{
    findings f;
    cr_assert_eq(findings_of(img, flags, &f), GGLD_OK);
    cr_assert_not(f.overfull);
    return f;
}

/* ---- the table ---- */

#define D1(a) \
    1,        \
    {         \
        a     \
    }
#define D2(a, b) \
    2,           \
    {            \
        a, b     \
    }

typedef struct tensor_row {
    const char *name;
    uint32_t n_dims;
    uint64_t dims[4];
    uint32_t type;
    uint64_t offset;
} tensor_row;

typedef struct rule_row {
    const char *what;
    ggld_status in_default, in_strict; /* GGLD_OK: it opens */
    tensor_row tensors[4];             /* up to one without a name */
    size_t data_bytes;
    const char *says;       /* the whole message of the strict refusal */
    ggld_severity severity; /* of what is heard first in default mode */
} rule_row;

static const rule_row rule_rows[] = {
    { "one tensor", 0, 0, { { "a", D1(8), 0, 0 } }, 32, NULL, 0 },
    { "data cut off",
      GGLD_E_TRUNCATED,
      GGLD_E_TRUNCATED,
      { { "a", D1(8), 0, 0 }, { "blk.0.attn_q.weight", D2(32, 4), 2, 32 } },
      64,
      "tensor 1 'blk.0.attn_q.weight': data at 160 + 72 bytes ends at 232, "
      "past the end of the file (192 bytes); missing: 40 bytes, tensors whole: "
      "1 of 2",
      GGLD_ERROR },
    { "off the alignment",
      0,
      GGLD_E_ALIGNMENT,
      { { "a", D1(7), 0, 4 } },
      64,
      "tensor 0 'a': data offset 4 is no multiple of the alignment 32",
      GGLD_WARNING },
    { "first not at 0",
      0,
      GGLD_E_UNSUPPORTED,
      { { "a", D1(8), 0, 32 } },
      64,
      "tensor 0 'a': 32 bytes before its data at 96 are unused (the first "
      "data is not at 0); ggml takes no gaps",
      GGLD_WARNING },
    { "a gap",
      0,
      GGLD_E_UNSUPPORTED,
      { { "a", D1(7), 0, 0 }, { "b", D1(8), 0, 96 } },
      128,
      "tensor 1 'b': 64 bytes before its data at 192 are unused; ggml takes no "
      "gaps",
      GGLD_WARNING },
    { "another order",
      0,
      GGLD_E_UNSUPPORTED,
      { { "a", D1(8), 0, 32 }, { "b", D1(8), 0, 0 } },
      64,
      "tensor 0 'a': data at 128 lies behind that of tensor 1 'b', which comes "
      "later in the table; ggml takes one order only",
      GGLD_WARNING },
    { "the same extent",
      GGLD_E_OVERLAP,
      GGLD_E_OVERLAP,
      { { "a", D1(8), 0, 0 }, { "b", D1(8), 0, 0 } },
      32,
      "tensor 1 'b': data at 96 + 32 bytes shares 32 bytes with tensor 0 'a'",
      GGLD_ERROR },
    { "an overlap in order",
      GGLD_E_OVERLAP,
      GGLD_E_OVERLAP,
      { { "a", D1(16), 0, 0 }, { "b", D1(8), 0, 32 } },
      96,
      "tensor 1 'b': data at 128 + 32 bytes shares 32 bytes with tensor 0 'a'",
      GGLD_ERROR },
    { "an overlap past the next",
      GGLD_E_OVERLAP,
      GGLD_E_OVERLAP,
      { { "a", D1(64), 0, 0 }, { "b", D1(0), 0, 32 }, { "c", D1(8), 0, 64 } },
      256,
      NULL,
      GGLD_WARNING },
    { "nothing at a place that is taken",
      0,
      0,
      { { "z", D1(0), 0, 0 }, { "a", D1(8), 0, 0 }, { "y", D1(0), 0, 32 } },
      32,
      NULL,
      0 },
    { "nothing within another",
      0,
      GGLD_E_OVERLAP,
      { { "a", D1(16), 0, 0 }, { "z", D1(0), 0, 32 } },
      64,
      "tensor 1 'z': it has no bytes and lies at 128, within tensor 0 'a'",
      GGLD_WARNING },
    { "nothing, behind in the table",
      0,
      GGLD_E_UNSUPPORTED,
      { { "a", D1(8), 0, 0 }, { "z", D1(0), 0, 0 } },
      32,
      NULL,
      GGLD_WARNING },
    { "nothing, past the end",
      GGLD_E_TRUNCATED,
      GGLD_E_UNSUPPORTED,
      { { "z", D1(0), 0, 320 } },
      32,
      NULL,
      GGLD_WARNING },
    { "one name twice",
      GGLD_E_DUPLICATE,
      GGLD_E_DUPLICATE,
      { { "t", D1(8), 0, 0 }, { "t", D1(8), 0, 32 } },
      64,
      "tensor 1 't': the name is that of tensor 0 at byte 24 too",
      GGLD_ERROR },
    { "no name", 0, 0, { { "", D1(8), 0, 0 } }, 32, NULL, GGLD_WARNING },
    { "64 bytes of name",
      0,
      GGLD_E_STRING,
      { { "0123456789012345678901234567890123456789012345678901234567890123",
          D1(8), 0, 0 } },
      32,
      "tensor 0 "
      "'0123456789012345678901234567890123456789012345678901234567890123': "
      "the name has 64 bytes; ggml takes 63, the format 64",
      GGLD_WARNING },
    { "63 bytes of name",
      0,
      0,
      { { "012345678901234567890123456789012345678901234567890123456789012",
          D1(8), 0, 0 } },
      32,
      NULL,
      0 },
    { "a removed type",
      0,
      GGLD_E_TENSOR_TYPE,
      { { "a", D1(256), 36, 0 } },
      256,
      "tensor 0 'a': type 36 (iq4_nl_4_4) was removed from the format: "
      "re-quantise the model; repacking now happens at load time",
      GGLD_WARNING },
    { "an unknown type",
      0,
      GGLD_E_TENSOR_TYPE,
      { { "a", D1(8), 43, 0 } },
      32,
      "tensor 0 'a': type 43 is not known: this tensor can't be read; the "
      "others can",
      GGLD_WARNING },
    { "rows that are no blocks",
      GGLD_E_SHAPE,
      GGLD_E_SHAPE,
      { { "a", D2(172, 2), 8, 0 } },
      374,
      "tensor 0 'a': rows of 172 elements are not whole blocks of q8_0 (32 "
      "elements)",
      GGLD_ERROR },
    { "a product that wraps",
      GGLD_E_OVERFLOW,
      GGLD_E_OVERFLOW,
      { { "a", D2(UINT64_C(1) << 32, UINT64_C(1) << 32), 24, 0 } },
      32,
      NULL,
      GGLD_ERROR },
    { "a wild dimension beside 0",
      0,
      GGLD_E_OVERFLOW,
      { { "a", D2(0, UINT64_C(1) << 63), 24, 0 } },
      32,
      NULL,
      GGLD_WARNING },
    { "an offset that wraps",
      GGLD_E_OVERFLOW,
      GGLD_E_OVERFLOW,
      { { "a", D1(8), 0, UINT64_MAX - 15 } },
      32,
      "tensor 0 'a': data offset 18446744073709551600 lies past the end of any "
      "file (this one has 96 bytes)",
      GGLD_ERROR },
    { "sizes whose sum wraps",
      GGLD_E_TRUNCATED,
      GGLD_E_TRUNCATED,
      { { "a", D1(0x7FFFFFFFFFFFFFC0), 24, 0 },
        { "b", D1(0x7FFFFFFFFFFFFFC0), 24, 0x7FFFFFFFFFFFFFC0 } },
      32,
      NULL,
      GGLD_ERROR },
};
#define N_RULES (sizeof rule_rows / sizeof rule_rows[0])

static image image_of(const rule_row *row)
{
    uint64_t n = 0;
    while (n < 4 && row->tensors[n].name != NULL)
        n++;
    image img = image_new(3, false, n, 0);
    for (uint64_t i = 0; i < n; i++)
        image_tensor(&img, row->tensors[i].name, row->tensors[i].n_dims,
                     row->tensors[i].dims, row->tensors[i].type,
                     row->tensors[i].offset);
    image_pad(&img, 32);
    image_data(&img, row->data_bytes);
    return img;
}

Test(rules, refuse_and_open_by_the_table)
{
    for (size_t i = 0; i < N_RULES; i++) {
        const rule_row *row = &rule_rows[i];
        image img = image_of(row);
        ggld_error err;
        ggld_status status = image_opens(&img, 0, &err);
        cr_expect_eq(status, row->in_default, "%s: %s", row->what,
                     status == 0 ? "opens" : err.message);
        status = image_opens(&img, GGLD_OPEN_STRICT, &err);
        cr_expect_eq(status, row->in_strict, "%s, strict: %s", row->what,
                     status == 0 ? "opens" : err.message);
        if (row->says != NULL)
            cr_expect_str_eq(err.message, row->says, "%s: %s", row->what,
                             err.message);
        image_free(&img);
    }
}

Test(rules, a_checks_first_error_is_the_one_open_fails_with)
{
    for (size_t i = 0; i < N_RULES; i++)
        for (uint32_t flags = 0; flags < 2; flags++) {
            image img = image_of(&rule_rows[i]);
            ggld_error err;
            ggld_status status = image_opens(&img, flags, &err);
            findings f = check(&img, flags);
            const ggld_error *heard = findings_first_error(&f);
            if (status == GGLD_OK)
                cr_expect_null(heard, "%s", rule_rows[i].what);
            else
                cr_expect(heard != NULL && memcmp(heard, &err, sizeof err) == 0,
                          "%s: open: %s, check: %s", rule_rows[i].what,
                          err.message, heard == NULL ? "-" : heard->message);
            if (flags == 0 && rule_rows[i].severity != 0)
                cr_expect(f.count > 0 && f.severity[0] == rule_rows[i].severity,
                          "%s", rule_rows[i].what);
            image_free(&img);
        }
}

/* ---- names up to their NUL ---- */

static image two_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
    image img = image_new(3, false, 2, 0);
    for (int i = 0; i < 2; i++) {
        image_string(&img, i == 0 ? a : b, i == 0 ? a_len : b_len);
        image_u32(&img, 1);
        image_len(&img, 8);
        image_u32(&img, 0);
        image_u64(&img, i == 0 ? 0 : 32);
    }
    image_pad(&img, 32);
    image_data(&img, 64);
    return img;
}

Test(names, that_differ_behind_a_nul_are_one_for_ggml)
{
    static const struct {
        const char *a, *b;
        size_t a_len, b_len;
        ggld_status in_default, in_strict;
    } rows[] = {
        { "t\0a", "t\0b", 3, 3, GGLD_OK, GGLD_E_DUPLICATE },
        { "t", "t\0b", 1, 3, GGLD_OK, GGLD_E_DUPLICATE },
        { "t\0b", "t", 3, 1, GGLD_OK, GGLD_E_DUPLICATE },
        { "t\0b", "u\0b", 3, 3, GGLD_OK, GGLD_OK },
        { "\0", "", 1, 0, GGLD_OK, GGLD_E_DUPLICATE },
        { "t\0b", "t\0b", 3, 3, GGLD_E_DUPLICATE, GGLD_E_DUPLICATE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image img =
            two_names(rows[i].a, rows[i].a_len, rows[i].b, rows[i].b_len);
        ggld_error err;
        cr_expect_eq(image_opens(&img, 0, &err), rows[i].in_default, "row %zu",
                     i);
        cr_expect_eq(image_opens(&img, GGLD_OPEN_STRICT, &err),
                     rows[i].in_strict, "row %zu", i);
        cr_expect(rows[i].in_strict == GGLD_OK || err.index == 1, "row %zu", i);
        image_free(&img);
    }
}

/* ---- extents of tensors that have no known size ---- */

Test(extents, of_unknown_types_end_at_the_next_data_or_the_end)
{
    image img = image_new(3, false, 3, 0);
    image_tensor(&img, "last", 1, (uint64_t[]){ 256 }, 99, 160);
    image_tensor(&img, "first", 1, (uint64_t[]){ 256 }, 31, 0);
    image_tensor(&img, "known", 1, (uint64_t[]){ 8 }, 0, 96);
    image_pad(&img, 32);
    image_data(&img, 205);
    ggld_file *file;
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_file_info whole = { .struct_size = sizeof whole };
    cr_assert_eq(ggld_open_memory(&file, img.data, img.size, NULL, NULL),
                 GGLD_OK);
    ggld_tensor_get_info(ggld_tensor_find(file, "last"), &info);
    cr_assert(info.size_bytes == 45 && !info.supported && info.type == 99);
    ggld_tensor_get_info(ggld_tensor_find(file, "first"), &info);
    cr_assert(info.size_bytes == 96 && !info.supported);
    ggld_tensor_get_info(ggld_tensor_find(file, "known"), &info);
    cr_assert(info.size_bytes == 32 && info.supported);
    ggld_file_get_info(file, &whole);
    cr_assert_eq(whole.n_elems, 8, "tensors of known types only");
    ggld_close(file);
    image_free(&img);
}

/* ---- order and overlap against a slow oracle ---- */

static bool any_overlap(const uint64_t (*extents)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (extents[i][0] < extents[j][0] + extents[j][1] &&
                extents[j][0] < extents[i][0] + extents[i][1])
                return true;
    return false;
}

Test(placement, finds_overlaps_in_any_order)
{
    enum { N = 40 };
    uint32_t seed = 12345;
    unsigned n_overlaps = 0;
    for (int round = 0; round < 400; round++) {
        uint64_t extents[N][2];
        image img = image_new(3, false, N, 0);
        for (size_t i = 0; i < N; i++) {
            char name[8];
            seed = seed * 1664525 + 1013904223;
            uint64_t slot = seed >> 8, size = seed >> 28;
            /* Each in a slot of its own, or seldom in another's. */
            slot = slot % 4096 < 20 ? slot % N : (i * 7 + 3) % N;
            extents[i][0] = slot * 32;
            extents[i][1] = size;
            snprintf(name, sizeof name, "t%zu", i);
            image_tensor(&img, name, 1, &size, 24, slot * 32);
        }
        image_pad(&img, 32);
        image_data(&img, N * 32);
        bool overlap = any_overlap((const uint64_t(*)[2])extents, N);
        n_overlaps += overlap;
        ggld_error err;
        ggld_status status = image_opens(&img, 0, &err);
        cr_assert_eq(status, overlap ? GGLD_E_OVERLAP : GGLD_OK, "round %d: %s",
                     round, err.message);
        image_free(&img);
    }
    cr_assert(n_overlaps > 20 && n_overlaps < 380, "%u", n_overlaps);
}

/* ---- alignment ---- */

Test(alignment, is_judged_by_value_and_type)
{
    static const struct {
        uint32_t type;
        uint64_t value;
        size_t width;
        ggld_status in_default, in_strict;
    } rows[] = {
        { 4, 1, 4, GGLD_OK, GGLD_OK },
        { 4, 2, 4, GGLD_OK, GGLD_OK },
        { 4, 64, 4, GGLD_OK, GGLD_OK },
        { 4, 24, 4, GGLD_OK, GGLD_E_ALIGNMENT },
        { 4, 0, 4, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT },
        { 4, 13, 4, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT },
        { 0, 32, 1, GGLD_OK, GGLD_E_ALIGNMENT },
        { 5, 32, 4, GGLD_OK, GGLD_E_ALIGNMENT },
        { 5, 0xFFFFFFE0, 4, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT },
        { 11, 32, 8, GGLD_OK, GGLD_E_ALIGNMENT },
        { 10, UINT64_C(1) << 63, 8, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT },
        { 10, UINT64_MAX - 7, 8, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT },
        { 6, 0x42000000, 4, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT }, /* 32.0 */
        { 7, 1, 1, GGLD_E_ALIGNMENT, GGLD_E_ALIGNMENT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image img = image_new(3, false, 1, 1);
        image_kv(&img, "general.alignment", rows[i].type);
        image_number(&img, rows[i].value, rows[i].width);
        image_tensor(&img, "t", 1, (uint64_t[]){ 8 }, 0, 0);
        size_t alignment = rows[i].value > 0 && rows[i].value < 1000
                               ? (size_t)rows[i].value
                               : 32;
        image_pad(&img, alignment);
        image_data(&img, 32);
        image_pad(&img, alignment);
        ggld_error err;
        cr_expect_eq(image_opens(&img, 0, &err), rows[i].in_default,
                     "row %zu: %s", i, err.message);
        cr_expect_eq(image_opens(&img, GGLD_OPEN_STRICT, &err),
                     rows[i].in_strict, "row %zu: %s", i, err.message);
        image_free(&img);
    }
}

Test(alignment, of_a_file_without_data_may_be_any)
{
    static const uint64_t values[] = { 1 << 20, UINT64_C(1) << 63,
                                       UINT64_MAX - 7 };
    for (size_t i = 0; i < 3; i++) {
        image img = image_new(3, false, 0, 1);
        image_kv(&img, "general.alignment", 10);
        image_u64(&img, values[i]);
        ggld_file *file;
        ggld_file_info info = { .struct_size = sizeof info };
        cr_assert_eq(ggld_open_memory(&file, img.data, img.size, NULL, NULL),
                     GGLD_OK);
        ggld_file_get_info(file, &info);
        cr_assert(info.metadata_bytes == img.size && info.data_bytes == 0);
        ggld_close(file);
        image_free(&img);
    }
}
