/* SPDX-License-Identifier: MIT */
/* Key-values and tensors of an open file, of every version and order, taken
 * over: what comes out is the version 3 image of the same content. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static char *folder;
static ggld_error err;

static void set_up(void)
{
    folder = folder_new();
}

static void tear_down(void)
{
    folder_remove(folder);
}

TestSuite(copy, .init = set_up, .fini = tear_down);

static void ok(ggld_status status)
{
    cr_assert_eq(status, GGLD_OK, "%s: %s", ggld_status_name(status),
                 err.message);
}

static ggld_file *open_image(const image *im)
{
    ggld_file *file = NULL;
    ok(ggld_open_memory(&file, im->data, im->size, NULL, &err));
    return file;
}

static ggld_writer *new_writer(uint32_t alignment)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_writer *w = NULL;
    o.alignment_bytes = alignment;
    ok(ggld_writer_new(&w, &o, &err));
    return w;
}

static void copy_all(ggld_writer *w, const ggld_file *file)
{
    for (uint64_t i = 0; i < ggld_kv_count(file); i++)
        ok(ggld_writer_copy_kv(w, ggld_kv_at(file, i), &err));
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++)
        ok(ggld_writer_copy_tensor(w, ggld_tensor_at(file, i), &err));
}

static ggld_writer *new_big_endian_writer(void)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_writer *w = NULL;
    o.alignment_bytes = 64;
    o.flags = GGLD_WRITE_BIG_ENDIAN;
    ok(ggld_writer_new(&w, &o, &err));
    return w;
}

/* Begins, finishes and compares. */
static void expect_file(ggld_writer *w, const image *want)
{
    const char *path = folder_path(folder, "out.gguf");
    ok(ggld_writer_begin(w, path, &err));
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
    image got = file_load(path);
    const char *differ =
        bytes_differ(got.data, got.size, want->data, want->size);
    cr_assert(differ == NULL, "%s", differ);
    image_free(&got);
}

/* ---- content that every version can have ---- */

static void add_values(image *im)
{
    image_key(im, "general.alignment", GGLD_VALUE_U32);
    image_number(im, 64, 4);
    image_key(im, "", GGLD_VALUE_U8); /* an empty key */
    image_number(im, 200, 1);
    image_key(im, "odd.bool", GGLD_VALUE_BOOL);
    image_number(im, 255, 1);
    image_key(im, "not.utf8", GGLD_VALUE_STRING);
    image_string_n(im, "\xC3(\xFF\0", 4);
    image_key(im, "f64", GGLD_VALUE_F64);
    image_number(im, 0x7FF4000000000001u, 8); /* a signalling NaN */
    image_key(im, "u16s", GGLD_VALUE_ARRAY);
    image_number(im, GGLD_VALUE_U16, 4);
    image_len(im, 3);
    for (int i = 0; i < 3; i++)
        image_number(im, 0x1234u + (unsigned)i, 2);
    image_key(im, "bad.key.\xFF", GGLD_VALUE_ARRAY);
    image_number(im, GGLD_VALUE_STRING, 4);
    image_len(im, 2);
    image_string(im, "one");
    image_string(im, "");
    image_key(im, "nested", GGLD_VALUE_ARRAY);
    image_number(im, GGLD_VALUE_ARRAY, 4);
    image_len(im, 2);
    image_number(im, GGLD_VALUE_I64, 4);
    image_len(im, 1);
    image_number(im, 0x1122334455667788u, 8);
    image_number(im, GGLD_VALUE_STRING, 4);
    image_len(im, 1);
    image_string(im, "x");
}

#define N_VALUES 8

/* Blocks of random numbers: single bytes as they are, wider numbers in the
 * image's order. The fields repeat what the format says of each type, apart
 * from the library's table. */
static void add_q5_1(image *im, unsigned n_blocks, uint32_t seed)
{
    for (unsigned i = 0; i < n_blocks; i++) {
        image_number(im, random_next(&seed) & 0xFFFF, 2);
        image_number(im, random_next(&seed) & 0xFFFF, 2);
        image_number(im, random_next(&seed), 4);
        for (int b = 0; b < 16; b++)
            image_number(im, random_next(&seed) & 0xFF, 1);
    }
}

static void add_q3_k(image *im, unsigned n_blocks, uint32_t seed)
{
    for (unsigned i = 0; i < n_blocks; i++) {
        for (int b = 0; b < 108; b++)
            image_number(im, random_next(&seed) & 0xFF, 1);
        image_number(im, random_next(&seed) & 0xFFFF, 2);
    }
}

#define Q5_1_BLOCKS 3000
#define Q3_K_BLOCKS 20000

static const uint64_t table_dims[][2] = {
    { 32, Q5_1_BLOCKS }, { 0, 7 }, { 3, 0 }, { 256, Q3_K_BLOCKS }
};

/* More than one chunk of Q3_K, whose blocks do not divide a chunk. */
static void add_tensors(image *im)
{
    uint64_t q5_1 = Q5_1_BLOCKS * 24;
    uint64_t second = (q5_1 + 63) / 64 * 64;
    image_tensor(im, "q5_1", 2, table_dims[0], 7, 0);
    image_tensor(im, "empty", 2, table_dims[1], 0, second);
    image_tensor(im, "f64", 1, table_dims[2], 28, second);
    image_tensor(im,
                 "a name that is longer than what ggml's buffer of 64 "
                 "bytes holds \xFF",
                 2, table_dims[3], 11, second + 64);
    image_pad(im, 64);
    add_q5_1(im, Q5_1_BLOCKS, 1);
    image_pad(im, 64);
    for (unsigned i = 0; i < 3; i++)
        image_number(im, 0x0102030405060708u * (i + 1), 8);
    image_pad(im, 64);
    add_q3_k(im, Q3_K_BLOCKS, 2);
    image_pad(im, 64);
}

static image whole_image(uint32_t version, bool big_endian)
{
    image im = image_new(version, big_endian);
    image_header(&im, 4, N_VALUES);
    add_values(&im);
    add_tensors(&im);
    return im;
}

Test(copy, files_of_every_version_and_order_become_the_same_version_3)
{
    image want = whole_image(3, false);
    for (uint32_t version = 1; version <= 3; version++)
        for (int big_endian = 0; big_endian <= 1; big_endian++) {
            image in = whole_image(version, big_endian);
            ggld_file *file = open_image(&in);
            ggld_writer *w = new_writer(64);
            copy_all(w, file);
            expect_file(w, &want);
            ggld_close(file);
            image_free(&in);
        }
    image_free(&want);
}

Test(copy, tensors_without_a_map_are_read)
{
    image in = whole_image(1, true);
    image want = whole_image(3, false);
    ggld_open_options o = ggld_open_options_init();
    ggld_file *file = NULL;
    const char *path = folder_path(folder, "in.gguf");

    file_save(path, in.data, in.size);
    o.flags = GGLD_OPEN_PREAD;
    ok(ggld_open_path(&file, path, &o, &err));
    ggld_writer *w = new_writer(64);
    copy_all(w, file);
    expect_file(w, &want);
    ggld_close(file);
    image_free(&in);
    image_free(&want);
}

Test(copy, a_file_may_replace_the_one_that_it_is_copied_from)
{
    image in = whole_image(2, true);
    image want = whole_image(3, false);
    ggld_file *file = NULL;
    const char *path = folder_path(folder, "out.gguf");

    file_save(path, in.data, in.size);
    ok(ggld_open_path(&file, path, NULL, &err));
    ggld_writer *w = new_writer(64);
    copy_all(w, file);
    expect_file(w, &want);
    ggld_close(file);
    image_free(&in);
    image_free(&want);
}

Test(copy, files_of_every_version_and_order_become_the_same_big_endian_one)
{
    image want = whole_image(3, true);
    for (uint32_t version = 1; version <= 3; version++)
        for (int big_endian = 0; big_endian <= 1; big_endian++) {
            image in = whole_image(version, big_endian);
            ggld_file *file = open_image(&in);
            ggld_writer *w = new_big_endian_writer();
            copy_all(w, file);
            expect_file(w, &want);
            ggld_close(file);
            image_free(&in);
        }
    image_free(&want);
}

Test(copy, what_is_set_and_put_into_a_big_endian_file_is_turned)
{
    const uint64_t dims[] = { 2 }, row[] = { 32 };
    const uint16_t numbers[] = { 1, 0x203 };
    const float values[] = { 1, -2 };
    float ramp[32];
    image want = image_new(3, true);
    ggld_writer *w = new_big_endian_writer();

    for (int i = 0; i < 32; i++)
        ramp[i] = (float)i * 127 / 31; /* a scale of 1, a half of 3C00 */
    ok(ggld_writer_set_array(w, "a", GGLD_VALUE_U16, numbers, 2, &err));
    ok(ggld_writer_declare_tensor(w, "f", 1, GGLD_TYPE_F32, dims, 1, &err));
    ok(ggld_writer_declare_tensor(w, "q", 1, GGLD_TYPE_Q8_0, row, 1, &err));
    ok(ggld_writer_declare_tensor(w, "b", 1, GGLD_TYPE_I16, dims, 1, &err));

    image_header(&want, 3, 2);
    image_key(&want, "a", GGLD_VALUE_ARRAY);
    image_number(&want, GGLD_VALUE_U16, 4);
    image_len(&want, 2);
    image_number(&want, 1, 2);
    image_number(&want, 0x203, 2);
    image_key(&want, "general.alignment", GGLD_VALUE_U32);
    image_number(&want, 64, 4);
    image_tensor(&want, "f", 1, dims, GGLD_TYPE_F32, 0);
    image_tensor(&want, "q", 1, row, GGLD_TYPE_Q8_0, 64);
    image_tensor(&want, "b", 1, dims, GGLD_TYPE_I16, 128);
    image_pad(&want, 64);
    image_number(&want, 0x3F800000, 4);
    image_number(&want, 0xC0000000, 4);
    image_pad(&want, 64);
    image_number(&want, 0x3C00, 2);
    for (int i = 0; i < 32; i++)
        image_number(&want, (uint64_t)(ramp[i] + 0.5f), 1);
    image_pad(&want, 64);
    image_bytes(&want, "\1\2\3\4", 4);
    image_pad(&want, 64);

    ok(ggld_writer_begin(w, folder_path(folder, "out.gguf"), &err));
    ok(ggld_writer_put_f32(w, values, 2, &err));
    ok(ggld_writer_put_f32(w, ramp, 32, &err));
    ok(ggld_writer_put_bytes(w, "\1\2\3\4", 4, &err));
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
    image got = file_load(folder_path(folder, "out.gguf"));
    const char *differ = bytes_differ(got.data, got.size, want.data, want.size);
    cr_expect(differ == NULL, "%s", differ);
    image_free(&got);
    image_free(&want);
}

/* ---- from file to file ---- */

static ggld_file *open_saved(const image *im)
{
    const char *path = folder_path(folder, "in.gguf");
    ggld_file *file = NULL;
    file_save(path, im->data, im->size);
    ok(ggld_open_path(&file, path, NULL, &err));
    return file;
}

/* Version 1's metadata is shorter: data moves. */
Test(copy, neighbours_go_as_one_range)
{
    image want = whole_image(3, false);
    for (uint32_t version = 1; version <= 3; version++) {
        image in = whole_image(version, false);
        ggld_file *file = open_saved(&in);
        ggld_writer *w = new_writer(64);
        copy_all(w, file);
        expect_file(w, &want);
        ggld_close(file);
        image_free(&in);
    }
    image_free(&want);
}

/* Two tensors of 300000 bytes, the second before the first where swapped, and
 * between them gap bytes, of which the last is odd. */
static image gap_image(bool swapped, unsigned gap, uint8_t odd)
{
    const uint64_t dims[] = { 300000 };
    image im = image_new(3, false);
    image_header(&im, 2, 0);
    image_tensor(&im, "a", 1, dims, GGLD_TYPE_I8, swapped ? 300000 + gap : 0);
    image_tensor(&im, "b", 1, dims, GGLD_TYPE_I8, swapped ? 0 : 300000 + gap);
    image_pad(&im, 32);
    for (int i = 0; i < 2; i++) {
        for (int b = 0; b < 300000; b++)
            image_number(&im, swapped == (i == 0) ? 'b' : 'a', 1);
        for (unsigned b = 1; i == 0 && b <= gap; b++)
            image_number(&im, b == gap ? odd : 0, 1);
    }
    image_pad(&im, 32);
    return im;
}

Test(copy, gaps_and_another_order_are_not_taken_over)
{
    const struct {
        bool swapped;
        unsigned gap;
        uint8_t odd;
    } cases[] = { { false, 0, 0 },    { false, 32, 0 }, { false, 32, 7 },
                  { false, 8192, 0 }, { true, 0, 0 },   { true, 4096, 1 } };
    image want = gap_image(false, 0, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        image in = gap_image(cases[i].swapped, cases[i].gap, cases[i].odd);
        ggld_file *file = open_saved(&in);
        ggld_writer *w = new_writer(0);
        copy_all(w, file);
        expect_file(w, &want);
        ggld_close(file);
        image_free(&in);
    }
    image_free(&want);
}

typedef struct heard {
    uint64_t done, total;
    unsigned calls, stop_at;
} heard;

static int hear(uint64_t done, uint64_t total, void *user)
{
    heard *h = user;
    cr_assert_geq(done, h->done);
    h->done = done;
    h->total = total;
    return ++h->calls == h->stop_at;
}

static ggld_status copy_heard(const ggld_file *file, heard *h)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_writer *w = NULL;
    o.alignment_bytes = 64;
    o.progress = hear;
    o.progress_user = h;
    ok(ggld_writer_new(&w, &o, &err));
    copy_all(w, file);
    ggld_status status =
        ggld_writer_begin(w, folder_path(folder, "out.gguf"), &err);
    ggld_writer_free(w);
    return status;
}

Test(copy, progress_is_told_and_may_cancel)
{
    const uint64_t bytes = Q5_1_BLOCKS * 24 + 3 * 8 + Q3_K_BLOCKS * 110;
    for (int big_endian = 0; big_endian <= 1; big_endian++) {
        image in = whole_image(3, big_endian);
        ggld_file *file = open_saved(&in);
        heard h = { 0 };
        cr_expect_eq(copy_heard(file, &h), GGLD_OK);
        cr_expect_eq(h.done, bytes, "%d", (int)h.done);
        cr_expect_eq(h.total, bytes, "%d", (int)h.total);
        heard stopped = { .stop_at = h.calls };
        cr_expect_eq(copy_heard(file, &stopped), GGLD_E_CANCELLED);
        cr_expect_str_eq(err.message,
                         "cancelled after 2272024 of 2272024 bytes");
        cr_expect_eq(folder_count(folder), 1, "something is left");
        ggld_close(file);
        image_free(&in);
    }
}

Test(copy, what_is_sealed_can_be_looked_at_before_it_has_its_name)
{
    image in = whole_image(2, true), want = whole_image(3, false);
    ggld_file *file = open_saved(&in), *sealed = NULL;
    ggld_file_info info = { .struct_size = sizeof info };
    const char *path = folder_path(folder, "out.gguf");
    ggld_writer *w = new_writer(64);

    cr_expect_eq(ggld_writer_reopen(w, &sealed, NULL, &err), GGLD_E_INVALID);
    copy_all(w, file);
    cr_expect_eq(ggld_writer_seal(w, &err), GGLD_E_INVALID);
    ggld_writer_free(w);
    w = new_writer(64);
    copy_all(w, file);
    ok(ggld_writer_begin(w, path, &err));
    ok(ggld_writer_seal(w, &err));
    cr_expect_not(file_exists(path));
    cr_expect_eq(ggld_writer_put_bytes(w, "x", 1, &err), GGLD_E_INVALID);
    ggld_writer_free(w);
    cr_expect_eq(folder_count(folder), 1, "free leaves what was sealed");

    w = new_writer(64);
    copy_all(w, file);
    ok(ggld_writer_begin(w, path, &err));
    ok(ggld_writer_seal(w, &err));
    ok(ggld_writer_reopen(w, &sealed, NULL, &err));
    ggld_file_get_info(sealed, &info);
    cr_expect_eq(info.file_bytes, want.size);
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
    ggld_close(sealed);
    image got = file_load(path);
    const char *differ = bytes_differ(got.data, got.size, want.data, want.size);
    cr_expect(differ == NULL, "%s", differ);
    image_free(&got);
    image_free(&want);
    ggld_close(file);
    image_free(&in);
}

/* ---- copies among other tensors, unknown types ---- */

static image unknown_image(bool big_endian)
{
    const uint64_t dims[] = { 7 };
    image im = image_new(3, big_endian);
    image_header(&im, 2, 0);
    image_tensor(&im, "unknown", 1, dims, 99, 0);
    image_tensor(&im, "known", 1, dims, GGLD_TYPE_I16, 64);
    image_pad(&im, 32);
    for (unsigned i = 0; i < 64; i++)
        image_number(&im, i + 1, 1);
    for (unsigned i = 0; i < 7; i++)
        image_number(&im, 0x0102u * i, 2);
    image_pad(&im, 32);
    return im;
}

Test(copy, a_tensor_of_unknown_type_keeps_its_whole_extent)
{
    image in = unknown_image(false);
    ggld_file *file = open_image(&in);
    ggld_writer *w = new_writer(0);
    copy_all(w, file);
    expect_file(w, &in);
    ggld_close(file);
    image_free(&in);
}

Test(copy, of_a_big_endian_file_it_is_refused)
{
    image in = unknown_image(true);
    ggld_file *file = open_image(&in);
    ggld_writer *w = new_writer(0);
    cr_expect_eq(ggld_writer_copy_tensor(w, ggld_tensor_at(file, 0), &err),
                 GGLD_E_UNSUPPORTED);
    cr_expect_str_eq(err.message,
                     "tensor 0 'unknown': type 99 is unknown, so its bytes "
                     "can't be brought from big-endian to little-endian");
    ok(ggld_writer_copy_tensor(w, ggld_tensor_at(file, 1), &err));
    ggld_writer_free(w);
    ggld_close(file);
    image_free(&in);

    in = unknown_image(false);
    file = open_image(&in);
    w = new_big_endian_writer();
    cr_expect_eq(ggld_writer_copy_tensor(w, ggld_tensor_at(file, 0), &err),
                 GGLD_E_UNSUPPORTED);
    cr_expect_str_eq(err.message,
                     "tensor 0 'unknown': type 99 is unknown, so its bytes "
                     "can't be brought from little-endian to big-endian");
    ggld_writer_free(w);
    ggld_close(file);
    image_free(&in);
}

Test(copy, copies_stand_among_tensors_that_are_put)
{
    const uint64_t dims[] = { 3 };
    const uint64_t seven[] = { 7 };
    image in = unknown_image(true);
    image want = image_new(3, false);
    ggld_file *file = open_image(&in);
    const ggld_tensor *known = ggld_tensor_find(file, "known");
    ggld_writer *w = new_writer(0);

    ok(ggld_writer_declare_tensor(w, "a", 1, GGLD_TYPE_I8, dims, 1, &err));
    ok(ggld_writer_copy_tensor(w, known, &err));
    ok(ggld_writer_declare_tensor(w, "b", 1, GGLD_TYPE_I8, dims, 1, &err));
    cr_expect_eq(ggld_writer_copy_tensor(w, known, &err), GGLD_E_DUPLICATE);
    cr_expect_str_eq(err.message, "tensor 3 'known': tensor 1 has that name");
    ok(ggld_writer_begin(w, folder_path(folder, "out.gguf"), &err));
    ok(ggld_writer_put_bytes(w, "abcdef", 6, &err));
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);

    image_header(&want, 3, 0);
    image_tensor(&want, "a", 1, dims, GGLD_TYPE_I8, 0);
    image_tensor(&want, "known", 1, seven, GGLD_TYPE_I16, 32);
    image_tensor(&want, "b", 1, dims, GGLD_TYPE_I8, 64);
    image_pad(&want, 32);
    image_bytes(&want, "abc", 3);
    image_pad(&want, 32);
    for (unsigned i = 0; i < 7; i++)
        image_number(&want, 0x0102u * i, 2);
    image_pad(&want, 32);
    image_bytes(&want, "def", 3);
    image_pad(&want, 32);
    image got = file_load(folder_path(folder, "out.gguf"));
    const char *differ = bytes_differ(got.data, got.size, want.data, want.size);
    cr_expect(differ == NULL, "%s", differ);
    image_free(&got);
    image_free(&want);
    ggld_close(file);
    image_free(&in);
}

/* ---- alignment, keys that are there ---- */

static void expect_alignment(uint32_t type, uint64_t value, unsigned width,
                             uint32_t writers, ggld_status code)
{
    image in = image_new(1, true);
    image_header(&in, 0, 1);
    image_key(&in, "general.alignment", type);
    image_number(&in, value, width);
    ggld_file *file = open_image(&in);
    ggld_writer *w = new_writer(writers);
    ggld_status got = ggld_writer_copy_kv(w, ggld_kv_at(file, 0), &err);
    cr_expect_eq(got, code, "alignment %d of type %u into a writer of %u: %s",
                 (int)value, type, writers, ggld_status_name(got));
    ggld_writer_free(w);
    ggld_close(file);
    image_free(&in);
}

Test(copy, the_alignment_is_taken_over_where_it_is_the_writers)
{
    expect_alignment(GGLD_VALUE_U32, 64, 4, 64, GGLD_OK);
    expect_alignment(GGLD_VALUE_U32, 32, 4, 0, GGLD_OK);
    expect_alignment(GGLD_VALUE_U32, 64, 4, 0, GGLD_E_ALIGNMENT);
    expect_alignment(GGLD_VALUE_U32, 32, 4, 64, GGLD_E_ALIGNMENT);
    expect_alignment(GGLD_VALUE_U64, 64, 8, 64, GGLD_E_ALIGNMENT);
    expect_alignment(GGLD_VALUE_U16, 32, 2, 0, GGLD_E_ALIGNMENT);
}

Test(copy, a_copied_key_replaces_and_is_replaced)
{
    image in = image_new(1, false);
    image want = image_new(3, false);
    ggld_writer *w = new_writer(0);

    image_header(&in, 0, 2);
    image_key(&in, "a", GGLD_VALUE_STRING);
    image_string(&in, "copied");
    image_key(&in, "b", GGLD_VALUE_U8);
    image_number(&in, 1, 1);
    ggld_file *file = open_image(&in);
    ok(ggld_writer_set_u64(w, "a", 1, &err));
    copy_all(w, file);
    ok(ggld_writer_set_u16(w, "b", 2, &err));
    ggld_close(file);
    image_free(&in);

    image_header(&want, 0, 2);
    image_key(&want, "a", GGLD_VALUE_STRING);
    image_string(&want, "copied");
    image_key(&want, "b", GGLD_VALUE_U16);
    image_number(&want, 2, 2);
    image_pad(&want, 32);
    expect_file(w, &want);
    image_free(&want);
}

Test(copy, null_is_refused)
{
    ggld_writer *w = new_writer(0);
    cr_expect_eq(ggld_writer_copy_kv(w, NULL, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_copy_tensor(w, NULL, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_copy_kv(NULL, NULL, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_copy_tensor(NULL, NULL, &err), GGLD_E_INVALID);
    ggld_writer_free(w);
}

/* ---- failures while copying ---- */

static int64_t failing_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const image *im = ctx;
    if (offset + n > im->size / 2)
        return -5; /* EIO */
    memcpy(dst, im->data + offset, n);
    return (int64_t)n;
}

Test(copy, a_source_that_fails_leaves_nothing)
{
    image in = whole_image(3, true);
    ggld_source source = { .struct_size = sizeof source,
                           .size_bytes = in.size,
                           .pread = failing_pread,
                           .ctx = &in };
    ggld_file *file = NULL;
    ok(ggld_open_source(&file, &source, NULL, &err));
    ggld_writer *w = new_writer(64);
    copy_all(w, file);
    ggld_status got =
        ggld_writer_begin(w, folder_path(folder, "out.gguf"), &err);
    cr_expect_eq(got, GGLD_E_IO, "%s: %s", ggld_status_name(got), err.message);
    cr_expect_eq(err.sys_errno, 5);
    cr_expect_eq(folder_count(folder), 0);
    ggld_writer_free(w);
    ggld_close(file);
    image_free(&in);
}

Test(copy, memory_that_runs_out_at_any_call)
{
    image in = whole_image(1, true);
    ggld_file *file = open_image(&in);
    long n = 0;

    for (ggld_status status = GGLD_E_NOMEM; status != GGLD_OK; n++) {
        faulty f;
        ggld_writer_options o = ggld_writer_options_init();
        ggld_writer *w = NULL;
        faulty_init(&f, n);
        o.allocator = &f.allocator;
        o.alignment_bytes = 64;
        o.reserve_bytes = 100;
        status = ggld_writer_new(&w, &o, &err);
        for (uint64_t i = 0; i < N_VALUES && status == GGLD_OK; i++)
            status = ggld_writer_copy_kv(w, ggld_kv_at(file, i), &err);
        for (uint64_t i = 0; i < 4 && status == GGLD_OK; i++)
            status = ggld_writer_copy_tensor(w, ggld_tensor_at(file, i), &err);
        if (status == GGLD_OK)
            status = ggld_writer_begin(w, folder_path(folder, "x/out"), &err);
        if (status == GGLD_OK)
            status = ggld_writer_finish(w, &err);
        ggld_writer_free(w);
        cr_assert_eq(f.live, 0, "call %ld: %ld blocks left", n, f.live);
        if (status == GGLD_OK)
            break;
        cr_assert_eq(status, GGLD_E_NOMEM, "call %ld: %s", n, err.message);
        cr_assert_eq(folder_count(folder), 0, "call %ld leaves something", n);
    }
    cr_assert_geq(n, 20, "only %ld allocations", n);
    ggld_close(file);
    image_free(&in);
}
