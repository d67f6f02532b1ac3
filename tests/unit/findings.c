/* SPDX-License-Identifier: MIT */
/* What a check has to say of files that open, and behind faults. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "hearing.h"
#include "image.h"
#include "read/hints.h"

static findings check(const image *img, uint32_t flags)
{
    findings f;
    cr_assert_eq(findings_of(img, flags, &f), GGLD_OK);
    cr_assert_not(f.overfull);
    return f;
}

/* ---- findings ---- */

Test(findings, of_a_good_file_are_none)
{
    for (uint32_t version = 2; version <= 3; version++) {
        image img = image_sample(version, false);
        findings f = check(&img, 0);
        cr_assert_eq(f.count, 0, "%s", f.error[0].message);
        f = check(&img, GGLD_OPEN_STRICT);
        cr_assert_eq(f.count, 0, "%s", f.error[0].message);
        image_free(&img);
    }
}

typedef struct expected {
    ggld_severity severity;
    ggld_status code;
    ggld_section section;
    const char *says;
} expected;

static void expect_findings(const char *what, const findings *f,
                            const expected *rows, size_t n)
{
    cr_expect_eq(f->count, n, "%s: %zu findings", what, f->count);
    for (size_t i = 0; i < f->count && i < n; i++) {
        cr_expect(f->severity[i] == rows[i].severity &&
                      f->error[i].code == rows[i].code &&
                      f->error[i].section == rows[i].section,
                  "%s, finding %zu: %s", what, i, f->error[i].message);
        cr_expect_not_null(strstr(f->error[i].message, rows[i].says),
                           "%s, finding %zu says: %s", what, i,
                           f->error[i].message);
    }
}

/* All that can be odd about key-values, in one file, in its order. */
Test(findings, come_in_the_files_order_with_their_severities)
{
    image img = image_new(3, false, 0, 9);
    image_kv_u32(&img, "", 1);
    image_kv_text(&img, "x", "a");
    image_kv_u32(&img, "x", 2);
    image_string(&img, "k\xFF\0", 3);
    image_u32(&img, 4);
    image_u32(&img, 1);
    image_kv(&img, "text", 8);
    image_string(&img, "a\0\xFE", 3);
    image_kv(&img, "bool", 7);
    image_bytes(&img, "\2", 1);
    image_kv(&img, "texts", 9);
    image_u32(&img, 8);
    image_len(&img, 3);
    image_string(&img, "\xC3(", 2);
    image_string(&img, "good", 4);
    image_string(&img, "\xFF", 1);
    image_kv(&img, "nested", 9);
    image_u32(&img, 9);
    image_len(&img, 1);
    image_u32(&img, 7);
    image_len(&img, 3);
    image_bytes(&img, "\0\1\xFF", 3);
    image_kv_u32(&img, "general.alignment", 4);
    image_pad(&img, 4);
    findings f = check(&img, 0);
    static const expected rows[] = {
        { GGLD_WARNING, GGLD_E_STRING, GGLD_IN_KV, "the key is empty" },
        { GGLD_WARNING, GGLD_E_DUPLICATE, GGLD_IN_KV,
          "kv 2 'x': the key is there already, as kv 1 at byte " },
        { GGLD_WARNING, GGLD_E_STRING, GGLD_IN_KV, "not UTF-8 from byte 1" },
        { GGLD_WARNING, GGLD_E_STRING, GGLD_IN_KV, "a NUL at byte 2" },
        { GGLD_WARNING, GGLD_E_STRING, GGLD_IN_KV,
          "kv 4 'text': 1 of 1 strings are not UTF-8" },
        { GGLD_WARNING, GGLD_E_STRING, GGLD_IN_KV,
          "1 of 1 strings hold a NUL" },
        { GGLD_WARNING, GGLD_E_VALUE, GGLD_IN_KV, "1 of 1 bools" },
        { GGLD_WARNING, GGLD_E_STRING, GGLD_IN_KV,
          "kv 6 'texts': 2 of 3 strings are not UTF-8" },
        { GGLD_WARNING, GGLD_E_VALUE_TYPE, GGLD_IN_KV, "an array of arrays" },
        { GGLD_WARNING, GGLD_E_VALUE, GGLD_IN_KV, "1 of 3 bools" },
        { GGLD_NOTE, GGLD_E_ALIGNMENT, GGLD_IN_KV, "no multiple of 8" },
    };
    expect_findings("kvs", &f, rows, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < f.count; i++)
        cr_expect_lt(f.error[i].offset, img.size);
    image_free(&img);
}

Test(findings, of_padding_and_tail)
{
    image img = image_sample(3, false);
    size_t data = img.size - 128;
    static const expected padding[] = {
        { GGLD_WARNING, GGLD_E_VALUE, GGLD_IN_FILE, "is not zero" },
    };
    /* Before the data, between tensors, behind the last. */
    const size_t at[] = { data - 1, data + 95, data + 127 };
    for (size_t i = 0; i < 3; i++) {
        img.data[at[i]] = 0x5A;
        findings f = check(&img, GGLD_OPEN_STRICT);
        expect_findings("padding", &f, padding, 1);
        cr_expect_eq(f.error[0].offset, at[i]);
        img.data[at[i]] = 0;
    }

    static const expected cut[] = {
        { GGLD_NOTE, GGLD_E_UNSUPPORTED, GGLD_IN_FILE, "padding is missing" },
    };
    img.size -= 26;
    findings f = check(&img, 0);
    expect_findings("no last padding", &f, cut, 1);
    img.size += 26;

    static const struct {
        const char *bytes;
        expected row;
    } tails[] = {
        { "\0\0\0\0",
          { GGLD_NOTE, GGLD_E_UNSUPPORTED, GGLD_IN_FILE, "zeros" } },
        { "GGUF",
          { GGLD_NOTE, GGLD_E_UNSUPPORTED, GGLD_IN_FILE, "another GGUF" } },
        { "\xAA\xAA\xAA\xAA",
          { GGLD_NOTE, GGLD_E_UNSUPPORTED, GGLD_IN_FILE, "4 bytes from" } },
    };
    for (size_t i = 0; i < 3; i++) {
        size_t whole = img.size;
        image_bytes(&img, tails[i].bytes, 4);
        f = check(&img, GGLD_OPEN_STRICT);
        expect_findings("tail", &f, &tails[i].row, 1);
        img.size = whole;
    }
    image_free(&img);
}

Test(findings, go_on_behind_what_open_refuses)
{
    image img = image_new(3, false, 4, 1);
    image_kv(&img, "b", 7);
    image_bytes(&img, "\3", 1);
    image_tensor(&img, "rows", 2, (uint64_t[]){ 8, 64 }, 8, 0);
    image_tensor(&img, "a", 1, (uint64_t[]){ 8 }, 0, 544);
    image_tensor(&img, "a", 1, (uint64_t[]){ 8 }, 0, 576);
    image_tensor(&img, "cut", 1, (uint64_t[]){ 80 }, 0, 608);
    image_pad(&img, 32);
    image_data(&img, 640);
    findings f = check(&img, 0);
    static const expected rows[] = {
        { GGLD_WARNING, GGLD_E_VALUE, GGLD_IN_KV, "bools" },
        { GGLD_ERROR, GGLD_E_SHAPE, GGLD_IN_TENSOR_INFO, "rows of 8" },
        { GGLD_ERROR, GGLD_E_DUPLICATE, GGLD_IN_TENSOR_INFO, "tensor 1" },
        { GGLD_ERROR, GGLD_E_TRUNCATED, GGLD_IN_TENSOR_DATA,
          "tensors whole: 2 of 4" },
    };
    expect_findings("many faults", &f, rows, 4);
    image_free(&img);
}

Test(findings, end_with_what_cannot_be_passed_over)
{
    image img = image_new(3, false, 1, 2);
    image_kv(&img, "b", 7);
    image_bytes(&img, "\3", 1);
    image_kv_u32(&img, "n", 1);
    image_string(&img, "t", 1);
    image_u32(&img, 5);
    image_data(&img, 100);
    findings f = check(&img, 0);
    static const expected rows[] = {
        { GGLD_WARNING, GGLD_E_VALUE, GGLD_IN_KV, "bools" },
        { GGLD_ERROR, GGLD_E_SHAPE, GGLD_IN_TENSOR_INFO,
          "tensor 0 't': 5 dimensions, more than 4" },
    };
    expect_findings("five dimensions", &f, rows, 2);
    image_free(&img);
}

Test(findings, need_someone_to_hear_them)
{
    ggld_error err;
    cr_assert_eq(ggld_check_fd(0, NULL, NULL, NULL, &err), GGLD_E_INVALID);
    findings f = { 0 };
    cr_assert_eq(ggld_check_fd(-1, NULL, findings_hear, &f, &err), GGLD_E_IO);
    cr_assert_eq(ggld_check_fd(-1, NULL, findings_hear, &f, NULL), GGLD_E_IO);
    cr_assert_eq(ggld_check_path("/", NULL, NULL, NULL, &err), GGLD_E_INVALID);
    cr_assert_eq(ggld_check_path("/none/such", NULL, findings_hear, &f, &err),
                 GGLD_E_IO);
    cr_assert_eq(f.count, 0);
}

/* What has no bytes to read has a finding all the same. */
Test(findings, of_what_is_no_file_are_one)
{
    static const expected rows[] = {
        { GGLD_ERROR, GGLD_E_MAGIC, GGLD_IN_FILE, "not a GGUF file" },
    };
    findings f = { 0 };
    ggld_error err;

    cr_assert_eq(ggld_check_path("/", NULL, findings_hear, &f, &err), GGLD_OK,
                 "%s", err.message);
    expect_findings("a folder", &f, rows, 1);
}

Test(findings, say_once_that_there_is_no_architecture)
{
    image img = image_new(3, false, 0, 0);
    findings f = check(&img, GGLD_OPEN_STRICT);
    cr_assert(f.no_architecture && f.count == 0);
    image_free(&img);
    img = image_sample(3, false);
    f = check(&img, 0);
    cr_assert_not(f.no_architecture);
    image_free(&img);
    img = image_new(3, false, 0, 5); /* cut off: who knows */
    f = check(&img, 0);
    cr_assert(!f.no_architecture && f.count == 2);
    image_free(&img);
}

/* Two bytes, over and over, behind a tensor table that asks for 256 bytes. */
static image image_of_pairs(const char *even, const char *odd, size_t pairs)
{
    image img = image_new(3, false, 1, 1);
    image_kv_text(&img, "general.architecture", "llama");
    image_tensor(&img, "t", 1, (uint64_t[]){ 256 }, 24, 0);
    image_pad(&img, 32);
    for (size_t i = 0; i < pairs; i++)
        image_bytes(&img, i % 2 == 0 ? even : odd, 2);
    return img;
}

Test(findings, of_line_ends_say_which_way_they_went)
{
    static const struct {
        const char *even, *odd;
        size_t pairs;
        const char *says; /* NULL: nothing of line ends */
    } rows[] = {
        { "\r\n", "\r\n", 150, "each of the 150 bytes 0A from byte 128 on" },
        { "\r\n", "\r\n", 64, "turned LF to CR LF; fetch it again" },
        { "\r\n", "\r\n", 63, NULL },  /* too few */
        { "\r\n", "\r\n", 128, NULL }, /* nothing else is wrong */
        { "\r\n", "x\n", 150, NULL },
        { "\x0B\n", "\x0C\n", 64, "none of the 64 bytes 0A from byte 128 on" },
        { "\x0E\n", "\x0F\n", 64, "turned CR LF to LF; fetch it again" },
        { "\x0E\n", "\x0F\n", 63, NULL },
        { "\x0E\n", "\x0F\n", 128, NULL },
        { "\x0E\n", "\r\n", 150, NULL },
        { "\x10\n", "\x0A\x0A", 150, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image img = image_of_pairs(rows[i].even, rows[i].odd, rows[i].pairs);
        findings f = check(&img, 0);
        const ggld_error *last = f.count != 0 ? &f.error[f.count - 1] : NULL;
        bool said = last != NULL && strstr(last->message, " 0A from ") != NULL;
        cr_expect_eq(said, rows[i].says != NULL, "row %zu: got %s", i,
                     last != NULL ? last->message : "nothing");
        cr_expect(!said || rows[i].says == NULL ||
                      strstr(last->message, rows[i].says) != NULL,
                  "row %zu: expected %s, got %s", i, rows[i].says,
                  last->message);
        image_free(&img);
    }
}

/* The finding that says so; NULL: there is none. */
static const ggld_error *finding_of(const findings *f, const char *says)
{
    for (size_t i = 0; i < f->count; i++)
        if (strstr(f->error[i].message, says) != NULL)
            return &f->error[i];
    return NULL;
}

typedef enum cut_field {
    A_KEY,
    A_STRING,
    AN_ARRAY,
    TENSOR_NAME,
    N_TENSORS,
    N_KVS
} cut_field;

/* says: NULL where nothing is to be said of a cut. */
static void expect_cut_hint(const findings *f, size_t row, const char *says)
{
    const ggld_error *cut = finding_of(f, "the file ends inside its ");
    const char *got = cut == NULL ? "nothing" : cut->message;
    if (says == NULL)
        cr_expect_null(cut, "row %zu: expected no hint, got %s", row, got);
    else
        cr_expect_not_null(strstr(got, says), "row %zu: expected %s, got %s",
                           row, says, got);
}

/* A header with one thing to come, of which the file has 40 bytes; number is
 * how long it is, or how many there are. */
static image image_that_ends_in(cut_field what, uint64_t number)
{
    static const uint8_t rest[40] = { 1 };
    bool tensors = what == TENSOR_NAME;
    image img =
        image_new(3, false, what == N_TENSORS ? number : (uint64_t)tensors,
                  what == N_KVS ? number : 2 - (uint64_t)tensors);

    if (what != N_TENSORS && what != N_KVS)
        image_kv_u32(&img, "whole", 1);
    if (what == A_STRING)
        image_kv(&img, "cut", 8);
    if (what == AN_ARRAY) {
        image_kv(&img, "cut", 9);
        image_u32(&img, 0);
    }
    if (what != N_TENSORS && what != N_KVS)
        image_len(&img, number);
    image_bytes(&img, rest, sizeof rest);
    return img;
}

Test(findings, of_metadata_that_is_cut_off_say_what_to_do)
{
    static const struct {
        cut_field what;
        uint64_t number;
        const char *says; /* NULL: the number is damaged, the file not cut */
    } rows[] = {
        { A_KEY, 41, "(1 of 2 key-values are whole)" },
        { A_STRING, 41, "(1 of 2 key-values are whole)" },
        { A_STRING, 1 << 30, "a download that stopped? resume it, or fetch" },
        { A_STRING, (1 << 30) + 1, NULL },
        { A_STRING, UINT64_C(1) << 40, NULL },
        { A_STRING, UINT64_MAX, NULL },
        { AN_ARRAY, 41, "(1 of 2 key-values are whole)" },
        { AN_ARRAY, 1 << 30, "(1 of 2 key-values are whole)" },
        { AN_ARRAY, (1 << 30) + 1, NULL },
        { TENSOR_NAME, 41, "(0 of 1 tensor records are whole)" },
        { TENSOR_NAME, UINT64_C(1) << 33, NULL },
        { N_TENSORS, 291, "the file ends inside its metadata: a download" },
        { N_TENSORS, (1 << 30) + 1, NULL },
        { N_KVS, 35, "the file ends inside its metadata: a download" },
        { N_KVS, UINT64_C(1) << 62, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image img = image_that_ends_in(rows[i].what, rows[i].number);
        findings f = check(&img, 0);
        cr_expect_not_null(findings_first_error(&f), "row %zu: no error", i);
        expect_cut_hint(&f, i, rows[i].says);
        image_free(&img);
    }
}

Test(findings, of_data_that_is_cut_off_say_what_to_do)
{
    static const struct {
        uint64_t elems[2];  /* of f32 */
        uint64_t offset;    /* of the second */
        size_t there_bytes; /* of data */
        const char *says;   /* NULL: nothing */
    } rows[] = {
        { { 8, 8 }, 32, 64, NULL },
        { { 8, 8 }, 32, 63, "inside its data, 1 bytes are missing: a down" },
        { { 8, 8 }, 32, 20, "44 bytes are missing: a download that stopped?" },
        { { 8, UINT64_C(1) << 41 }, 32, 20, "bytes are missing" },
        { { 8, UINT64_C(1) << 42 }, 32, 20, NULL }, /* no file is as large */
        { { 8, 8 }, 1024, 64, NULL },               /* that offset is damaged */
        { { 80, 8 }, 32, 64, NULL },                /* or that dimension */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image img = image_new(3, false, 2, 0);
        image_tensor(&img, "a", 1, &rows[i].elems[0], 0, 0);
        image_tensor(&img, "b", 1, &rows[i].elems[1], 0, rows[i].offset);
        image_pad(&img, 32);
        image_data(&img, rows[i].there_bytes);
        findings f = check(&img, 0);
        expect_cut_hint(&f, i, rows[i].says);
        image_free(&img);
    }
}

/* What to do stands at a message's end: names give way to it. */
Test(findings, with_long_names_still_end_in_their_hints)
{
    static const struct {
        const char *fill;
        size_t size;
    } rows[] = { { "n", 300 }, { "\x01", 300 }, { "\xC3\xA9", 300 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image img = image_new(3, false, 0, 2);
        char key[300];
        image_kv_text(&img, "t", "\r\n");
        for (size_t k = 0; k < sizeof key; k++)
            key[k] = rows[i].fill[k % strlen(rows[i].fill)];
        image_string(&img, key, sizeof key);
        image_u32(&img, 9);
        image_u32(&img, 8);
        image_len(&img, 3000000);
        image_data(&img, 40);
        ggld_error err;
        cr_assert_eq(image_opens(&img, 0, &err), GGLD_E_TRUNCATED);
        const char *hint = ggld_error_hint(&err);
        cr_expect(hint != NULL && strstr(hint, "fetch it again as") != NULL,
                  "row %zu: expected the hint, got %s", i, err.message);
        cr_expect_not_null(strstr(err.message, "...': array count 3000000,"),
                           "row %zu: expected a shorter name, got %s", i,
                           err.message);
        image_free(&img);
    }
}

/* Where a field that is wrong tells of them, data need not again. */
Test(findings, of_line_ends_are_one)
{
    image img = image_new(3, false, 0, 2);
    image_kv_text(&img, "t", "\r\n");
    image_string(&img, "k", 1);
    image_u32(&img, 8);
    image_len(&img, UINT64_C(1) << 40);
    for (size_t i = 0; i < 200; i++)
        image_bytes(&img, "\r\n", 2);
    findings f = check(&img, 0);
    size_t n = 0;
    for (size_t i = 0; i < f.count; i++)
        n += ggld_error_hint(&f.error[i]) != NULL;
    cr_expect_eq(n, 1, "expected one hint, got %zu", n);
    image_free(&img);
}

/* ---- hints ---- */

static const char *hint_of(const char *path, uint64_t file_bytes)
{
    return ggld_hint_part((ggld_part){ path, file_bytes });
}

Test(hints, know_the_names_of_parts)
{
    static const char *const parts[] = {
        "m.gguf.part1of2", "m.gguf.partaa", "m.part",    "m.gguf-split-a",
        "dir/m.gguf.001",  "m.gguf.ab",     "m.gguf-aa", "m.ggufab",
        "dir.gguf/xaa",    "m.gguf_00",     "xab",       "x00",
    };
    static const char *const whole[] = {
        "",
        "m.gguf",
        "m-00001-of-00002.gguf",
        "m.gguf.gz",
        "m.gguf.xz",
        "m.gguf.bak",
        "dir.part1/m.gguf",
        "m.gguf.1",
        "aa",
        "xyz",
        "xa",
        "m.v1.gguf.tmp",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        cr_expect_neq(hint_of(parts[i], 1)[0], '\0', "%s", parts[i]);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        cr_expect_str_eq(hint_of(whole[i], 1), "", "%s", whole[i]);
    cr_expect_str_eq(hint_of(NULL, 1), "");
}

Test(hints, know_sizes_that_people_split_at)
{
    static const uint64_t round[] = { 1000000, UINT64_C(50000000000), 1 << 20,
                                      UINT64_C(1) << 32 };
    static const uint64_t others[] = { 0, 1, 999999, (1 << 20) + 1, 1024 };
    for (size_t i = 0; i < sizeof round / sizeof round[0]; i++)
        cr_expect_neq(hint_of(NULL, round[i])[0], '\0');
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_str_eq(hint_of(NULL, others[i]), "");
}
