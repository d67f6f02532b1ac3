/* SPDX-License-Identifier: MIT */
/* Tensors declared and their data put in every way there is: the same file
 * comes out, or a refusal that says what is wrong. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

TestSuite(tensors, .init = set_up, .fini = tear_down);

static void ok(ggld_status status)
{
    cr_assert_eq(status, GGLD_OK, "%s: %s", ggld_status_name(status),
                 err.message);
}

static ggld_writer *new_writer(uint32_t flags, uint32_t alignment)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_writer *w = NULL;
    o.flags = flags;
    o.alignment_bytes = alignment;
    ok(ggld_writer_new(&w, &o, &err));
    return w;
}

static void declare(ggld_writer *w, const char *name, uint32_t type,
                    uint64_t d0, uint64_t d1)
{
    const uint64_t dims[] = { d0, d1 };
    ok(ggld_writer_declare_tensor(w, name, strlen(name), type, dims,
                                  d1 != 0 ? 2 : 1, &err));
}

static void begin(ggld_writer *w)
{
    ok(ggld_writer_begin(w, folder_path(folder, "out.gguf"), &err));
}

static image finished(ggld_writer *w)
{
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
    image got = file_load(folder_path(folder, "out.gguf"));
    cr_assert_eq(folder_count(folder), 1);
    remove(folder_path(folder, "out.gguf"));
    return got;
}

static void expect_image(ggld_writer *w, image *want)
{
    image got = finished(w);
    const char *differ =
        bytes_differ(got.data, got.size, want->data, want->size);
    cr_assert(differ == NULL, "%s", differ);
    image_free(&got);
}

/* ---- bytes ---- */

/* Five tensors with data and one without, 180 bytes of data between them. */
static void declare_six(ggld_writer *w)
{
    declare(w, "empty", GGLD_TYPE_F32, 0, 3);
    declare(w, "five", GGLD_TYPE_I8, 5, 0);
    declare(w, "odd", GGLD_TYPE_I32, 11, 3);
    declare(w, "none", GGLD_TYPE_Q8_0, 32, 0);
    ok(ggld_writer_declare_tensor(w, "scalar", 6, GGLD_TYPE_F64, NULL, 0,
                                  &err));
    declare(w, "one", GGLD_TYPE_I8, 1, 0);
}

static image image_of_six(uint32_t alignment, bool padded)
{
    const uint64_t dims[][2] = { { 0, 3 },  { 5, 0 }, { 11, 3 },
                                 { 32, 0 }, { 0, 0 }, { 1, 0 } };
    const uint64_t sizes[] = { 0, 5, 33 * 4, 34, 8, 1 };
    static const char *const names[] = { "empty", "five",   "odd",
                                         "none",  "scalar", "one" };
    const uint32_t types[] = { 0, 24, 26, 8, 28, 24 };
    const uint32_t n_dims[] = { 2, 1, 2, 1, 0, 1 };
    image im = image_new(3, false);
    uint64_t offset = 0;
    uint8_t byte = 0;

    image_header(&im, 6, alignment == 32 ? 0 : 1);
    if (alignment != 32) {
        image_key(&im, "general.alignment", 4);
        image_number(&im, alignment, 4);
    }
    for (int i = 0; i < 6; i++) {
        image_tensor(&im, names[i], n_dims[i], dims[i], types[i], offset);
        offset += sizes[i];
        offset = (offset + alignment - 1) / alignment * alignment;
    }
    for (int i = 0; i < 6; i++) {
        image_pad(&im, alignment);
        for (uint64_t b = 0; b < sizes[i]; b++, byte++)
            image_number(&im, byte, 1);
    }
    if (padded)
        image_pad(&im, alignment);
    return im;
}

#define SIX_BYTES (5 + 33 * 4 + 34 + 8 + 1)

Test(tensors, bytes_in_every_chunking_at_every_alignment)
{
    uint8_t data[SIX_BYTES];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;

    for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2)
        for (uint32_t flags = 0; flags <= 3; flags++) {
            image want = image_of_six(alignment, (flags & 1) == 0);
            /* Every chunking where it may matter; each is a sync to disk. */
            bool all = alignment == 32 && flags == 0;
            for (size_t chunk = all ? 1 : 7; chunk <= sizeof data;
                 chunk += all && chunk < 8 ? 1 : 57) {
                if (!all && chunk > 7)
                    chunk = sizeof data;
                ggld_writer *w = new_writer(flags, alignment);
                declare_six(w);
                begin(w);
                for (size_t at = 0; at < sizeof data; at += chunk) {
                    size_t n = sizeof data - at;
                    n = n < chunk ? n : chunk;
                    ok(ggld_writer_put_bytes(w, data + at, n, &err));
                }
                expect_image(w, &want);
            }
            image_free(&want);
        }
}

Test(tensors, more_than_the_buffer_holds_in_large_and_small_pieces)
{
    const size_t sizes[] = { 1, 777, 1u << 20, (1u << 20) - 1, 3000001 };
    const size_t total = 3000001;
    uint8_t *data = malloc(total);
    uint32_t seed = 1;
    for (size_t i = 0; i < total; i++)
        data[i] = (uint8_t)random_next(&seed);

    for (size_t s = 1; s < sizeof sizes / sizeof sizes[0]; s++) {
        ggld_writer *w = new_writer(0, 0);
        declare(w, "t", GGLD_TYPE_I8, total, 0);
        begin(w);
        ok(ggld_writer_put_bytes(w, data, sizes[0], &err));
        for (size_t at = sizes[0]; at < total; at += sizes[s]) {
            size_t n = total - at < sizes[s] ? total - at : sizes[s];
            ok(ggld_writer_put_bytes(w, data + at, n, &err));
        }
        image got = finished(w);
        cr_assert_eq(got.size % 32, 0);
        const char *differ =
            bytes_differ(got.data + got.size - total - 31, total, data, total);
        cr_assert(differ == NULL, "pieces of %zu: %s", sizes[s], differ);
        image_free(&got);
    }
    free(data);
}

Test(tensors, zeros_are_zeros_and_take_no_room_in_a_sparse_file)
{
    const uint64_t big = 64u << 20;
    for (uint32_t flags = 0; flags <= GGLD_WRITE_SPARSE;
         flags += GGLD_WRITE_SPARSE) {
        ggld_writer *w = new_writer(flags, 0);
        struct stat st;
        declare(w, "a", GGLD_TYPE_I8, 3, 0);
        declare(w, "b", GGLD_TYPE_I8, big, 0);
        declare(w, "c", GGLD_TYPE_I8, big, 0);
        begin(w);
        ok(ggld_writer_put_bytes(w, "abc", 3, &err));
        ok(ggld_writer_put_zeros(w, 100, &err));
        ok(ggld_writer_put_bytes(w, "x", 1, &err));
        ok(ggld_writer_put_zeros(w, big - 101 + big, &err));
        ok(ggld_writer_finish(w, &err));
        ggld_writer_free(w);
        cr_assert_eq(stat(folder_path(folder, "out.gguf"), &st), 0);
        uint64_t disk = (uint64_t)st.st_blocks * 512;
        if (flags == 0)
            cr_assert_geq(disk, 2 * big, "expected room taken, got %d blocks",
                          (int)st.st_blocks);
        else
            cr_assert_leq(disk, 1u << 20, "expected a hole, got %d blocks",
                          (int)st.st_blocks);
        image got = file_load(folder_path(folder, "out.gguf"));
        uint64_t data = got.size - 32 - 2 * big;
        cr_assert_eq(memcmp(got.data + data, "abc\0", 4), 0);
        for (uint64_t i = data + 3; i < got.size; i++)
            cr_assert_eq(got.data[i], i == data + 132 ? 'x' : 0, "byte %d",
                         (int)i);
        image_free(&got);
    }
}

/* ---- values ---- */

static const uint32_t value_types[] = { GGLD_TYPE_F32,  GGLD_TYPE_F16,
                                        GGLD_TYPE_BF16, GGLD_TYPE_Q4_0,
                                        GGLD_TYPE_Q4_1, GGLD_TYPE_Q5_0,
                                        GGLD_TYPE_Q5_1, GGLD_TYPE_Q8_0 };
#define N_VALUE_TYPES (sizeof value_types / sizeof value_types[0])
#define N_VALUES      (32 * 9)

Test(tensors, values_in_odd_chunks_are_quantised_as_a_whole)
{
    const size_t chunks[] = { 1, 3, 31, 32, 33, 64, 100, N_VALUES };
    float values[N_VALUES];
    uint32_t seed = 7;
    for (size_t i = 0; i < N_VALUES; i++)
        values[i] = (float)random_next(&seed) / 8388608.0f - 1.0f;

    for (size_t t = 0; t < N_VALUE_TYPES; t++) {
        const ggld_type_traits *traits = ggld_type_traits_of(value_types[t]);
        uint8_t want[4 * N_VALUES];
        size_t n_bytes = N_VALUES / traits->block_elems * traits->block_bytes;
        ok(ggld_quantize_f32(value_types[t], values, N_VALUES, want, n_bytes,
                             &err));
        for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) {
            ggld_writer *w = new_writer(GGLD_WRITE_UNPADDED_END, 0);
            declare(w, "first", GGLD_TYPE_I8, 3, 0);
            declare(w, "t", value_types[t], 96, 3);
            begin(w);
            ok(ggld_writer_put_bytes(w, "abc", 3, &err));
            for (size_t at = 0; at < N_VALUES; at += chunks[c]) {
                size_t n = N_VALUES - at;
                n = n < chunks[c] ? n : chunks[c];
                ok(ggld_writer_put_f32(w, values + at, n, &err));
            }
            image got = finished(w);
            const char *differ = bytes_differ(got.data + got.size - n_bytes,
                                              n_bytes, want, n_bytes);
            cr_assert(differ == NULL, "%s in chunks of %zu: %s", traits->name,
                      chunks[c], differ);
            image_free(&got);
        }
    }
}

Test(tensors, values_and_bytes_take_turns_at_whole_blocks)
{
    float values[96];
    uint8_t want[3 * 34];
    for (int i = 0; i < 96; i++)
        values[i] = (float)i;
    ok(ggld_quantize_f32(GGLD_TYPE_Q8_0, values, 96, want, sizeof want, &err));

    ggld_writer *w = new_writer(GGLD_WRITE_UNPADDED_END, 0);
    declare(w, "t", GGLD_TYPE_Q8_0, 96, 0);
    begin(w);
    ok(ggld_writer_put_f32(w, values, 32, &err));
    ok(ggld_writer_put_bytes(w, want + 34, 34, &err));
    ok(ggld_writer_put_f32(w, values + 64, 32, &err));
    image got = finished(w);
    const char *differ = bytes_differ(got.data + got.size - sizeof want,
                                      sizeof want, want, sizeof want);
    cr_assert(differ == NULL, "%s", differ);
    image_free(&got);
}

Test(tensors, more_values_than_the_buffer_holds)
{
    const uint64_t n = 1u << 21;
    float *values = malloc(n * sizeof *values);
    uint8_t *want = malloc(n / 32 * 34);
    uint32_t seed = 3;
    for (uint64_t i = 0; i < n; i++)
        values[i] = (float)random_next(&seed) / 256.0f;
    ok(ggld_quantize_f32(GGLD_TYPE_Q8_0, values, n, want, n / 32 * 34, &err));

    ggld_writer *w = new_writer(GGLD_WRITE_UNPADDED_END, 0);
    declare(w, "t", GGLD_TYPE_Q8_0, n, 0);
    begin(w);
    ok(ggld_writer_put_f32(w, values, 5, &err));
    ok(ggld_writer_put_f32(w, values + 5, n - 5, &err));
    image got = finished(w);
    const char *differ = bytes_differ(got.data + got.size - n / 32 * 34,
                                      n / 32 * 34, want, n / 32 * 34);
    cr_assert(differ == NULL, "%s", differ);
    image_free(&got);
    free(values);
    free(want);
}

/* ---- refusals ---- */

static void refused(ggld_status status, ggld_status code, uint64_t index,
                    uint64_t offset, const char *message)
{
    cr_expect_eq(status, code, "expected %s, got %s: %s",
                 ggld_status_name(code), ggld_status_name(status), err.message);
    cr_expect_str_eq(err.message, message);
    cr_expect_eq(err.index, index, "%s: index %d", message, (int)err.index);
    cr_expect_eq(err.offset, offset, "%s: offset %d", message, (int)err.offset);
}

/* Nothing is left, and every further call but free is refused. */
static void given_up(ggld_writer *w)
{
    const char *want = "writer: a call has failed: free it and make a new one";
    cr_expect_eq(folder_count(folder), 0);
    refused(ggld_writer_put_bytes(w, "x", 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, want);
    refused(ggld_writer_finish(w, &err), GGLD_E_INVALID, GGLD_NO_INDEX, 0,
            want);
    refused(ggld_writer_set_u8(w, "k", 1, &err), GGLD_E_INVALID, GGLD_NO_INDEX,
            0, want);
    ggld_writer_free(w);
    cr_expect_eq(folder_count(folder), 0);
}

static const struct {
    uint32_t type;
    float value;
    const char *what;
} bad_values[] = {
    { GGLD_TYPE_Q8_0, NAN, "NaN, which q8_0 cannot hold" },
    { GGLD_TYPE_Q8_0, INFINITY, "infinity, which q8_0 cannot hold" },
    { GGLD_TYPE_Q8_0, -INFINITY, "-infinity, which q8_0 cannot hold" },
    { GGLD_TYPE_Q8_0, 1e7f, "10000000, which q8_0 cannot hold" },
    { GGLD_TYPE_Q4_0, NAN, "NaN, which q4_0 cannot hold" },
    { GGLD_TYPE_Q4_0, -6e5f, "-600000, which q4_0 cannot hold" },
    { GGLD_TYPE_F16, 70000.0f, "70000, which f16 cannot hold" },
    { GGLD_TYPE_F16, NAN, "NaN, which is no weight; put f16 bytes to keep it" },
    { GGLD_TYPE_BF16, INFINITY,
      "infinity, which is no weight; put bf16 bytes to keep it" },
    { GGLD_TYPE_F32, NAN, "NaN, which is no weight; put f32 bytes to keep it" },
};

/* The bad value first of a put, in the middle, and where a block is put
 * together from two puts. */
Test(tensors, values_a_type_cannot_hold_are_refused_by_tensor_and_element)
{
    const uint64_t places[] = { 0, 17, 63, 64, 70, 127 };
    const uint64_t chunks[] = { 1, 40, 128 };
    char message[256];

    for (size_t i = 0; i < sizeof bad_values / sizeof bad_values[0]; i++)
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++)
            for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) {
                float values[128] = { 0 };
                values[places[p]] = bad_values[i].value;
                ggld_writer *w = new_writer(0, 0);
                declare(w, "a", GGLD_TYPE_I8, 1, 0);
                declare(w, "blk.0.attn_q.weight", bad_values[i].type, 64, 2);
                begin(w);
                ok(ggld_writer_put_bytes(w, "x", 1, &err));
                ggld_status status = GGLD_OK;
                for (uint64_t at = 0; at < 128 && status == GGLD_OK;
                     at += chunks[c]) {
                    uint64_t n = 128 - at < chunks[c] ? 128 - at : chunks[c];
                    status = ggld_writer_put_f32(w, values + at, n, &err);
                }
                snprintf(message, sizeof message,
                         "tensor 1 'blk.0.attn_q.weight': element %d is %s",
                         (int)places[p], bad_values[i].what);
                refused(status, GGLD_E_VALUE, 1, places[p], message);
                cr_expect_eq(err.section, GGLD_IN_TENSOR_DATA);
                given_up(w);
            }
}

Test(tensors, names_types_and_shapes_that_are_not_allowed)
{
    const uint64_t dims[] = { 33, 2, 3, 4, 5 };
    const uint64_t huge[] = { 1ull << 32, 1ull << 31 };
    const uint64_t wide[] = { 1ull << 61 };
    const char *long_name =
        "0123456789012345678901234567890123456789012345678901234567890123";
    ggld_writer *w = new_writer(0, 0);

    declare(w, "t", GGLD_TYPE_F32, 1, 0);
    refused(ggld_writer_declare_tensor(w, "t", 1, GGLD_TYPE_F16, dims, 1, &err),
            GGLD_E_DUPLICATE, 1, 0, "tensor 1 't': tensor 0 has that name");
    refused(ggld_writer_declare_tensor(w, "", 0, GGLD_TYPE_F16, dims, 1, &err),
            GGLD_E_STRING, 1, 0, "tensor 1: the name is empty");
    refused(ggld_writer_declare_tensor(w, NULL, 3, 0, dims, 1, &err),
            GGLD_E_INVALID, GGLD_NO_INDEX, 0, "tensor 1: the name is NULL");
    refused(ggld_writer_declare_tensor(w, long_name, 64, 0, dims, 1, &err),
            GGLD_E_STRING, 1, 0,
            "tensor 1 "
            "'0123456789012345678901234567890123456789012345678901234567890123'"
            ": the name has 64 bytes, more than 63");
    refused(ggld_writer_declare_tensor(w, "x\xC0", 2, 0, dims, 1, &err),
            GGLD_E_STRING, 1, 0,
            "tensor 1 'x\\xC0': the name is not UTF-8 from byte 1 on");
    refused(ggld_writer_declare_tensor(w, "u", 1, 31, dims, 1, &err),
            GGLD_E_TENSOR_TYPE, 1, 0,
            "tensor 1 'u': type 31 q4_0_4_4 was removed from the format");
    refused(ggld_writer_declare_tensor(w, "u", 1, 43, dims, 1, &err),
            GGLD_E_TENSOR_TYPE, 1, 0, "tensor 1 'u': type 43 is unknown");
    refused(ggld_writer_declare_tensor(w, "u", 1, 0, dims, 5, &err),
            GGLD_E_SHAPE, 1, 0, "tensor 1 'u': 5 dimensions are more than 4");
    refused(ggld_writer_declare_tensor(w, "u", 1, 0, NULL, 1, &err),
            GGLD_E_INVALID, GGLD_NO_INDEX, 0,
            "tensor 1: the dimensions are NULL");
    refused(ggld_writer_declare_tensor(w, "u", 1, 8, dims, 2, &err),
            GGLD_E_SHAPE, 1, 0,
            "tensor 1 'u': rows of 33 elements are not a multiple of q8_0's "
            "block of 32");
    refused(ggld_writer_declare_tensor(w, "u", 1, 8, NULL, 0, &err),
            GGLD_E_SHAPE, 1, 0,
            "tensor 1 'u': rows of 1 elements are not a multiple of q8_0's "
            "block of 32");
    refused(ggld_writer_declare_tensor(w, "u", 1, 0, huge, 2, &err),
            GGLD_E_OVERFLOW, 1, 0,
            "tensor 1 'u': its dimensions make more than 9223372036854775807 "
            "elements");
    refused(ggld_writer_declare_tensor(w, "u", 1, 0, wide, 1, &err),
            GGLD_E_OVERFLOW, 1, 0,
            "tensor 1 'u': its dimensions make more than 9223372036854775807 "
            "bytes");

    /* None of them is there. */
    begin(w);
    ok(ggld_writer_put_bytes(w, "\0\0\0\0", 4, &err));
    image got = finished(w);
    cr_expect_eq(got.data[8], 1);
    image_free(&got);
}

Test(tensors, tensors_that_no_file_can_hold)
{
    ggld_writer *w = new_writer(0, 0);
    declare(w, "a", GGLD_TYPE_I8, INT64_MAX - 100, 0);
    declare(w, "b", GGLD_TYPE_I8, 101, 0);
    refused(ggld_writer_begin(w, folder_path(folder, "out.gguf"), &err),
            GGLD_E_OVERFLOW, 1, 0,
            "tensor 1 'b': with its 101 bytes the file would be longer than "
            "any file can be");
    given_up(w);
}

Test(tensors, calls_out_of_order_say_what_to_call)
{
    const char *first = "writer: it has not begun: call ggld_writer_begin "
                        "first";
    float value = 1;
    ggld_writer *w = new_writer(0, 0);
    refused(ggld_writer_put_bytes(w, "x", 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, first);
    given_up(w);
    w = new_writer(0, 0);
    refused(ggld_writer_put_f32(w, &value, 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, first);
    given_up(w);
    w = new_writer(0, 0);
    refused(ggld_writer_put_zeros(w, 1, &err), GGLD_E_INVALID, GGLD_NO_INDEX, 0,
            first);
    given_up(w);
    w = new_writer(0, 0);
    refused(ggld_writer_finish(w, &err), GGLD_E_INVALID, GGLD_NO_INDEX, 0,
            first);
    given_up(w);
    w = new_writer(0, 0);
    refused(ggld_writer_begin(w, NULL, &err), GGLD_E_INVALID, GGLD_NO_INDEX, 0,
            "the path is NULL");
    given_up(w);

    /* Too late for a declaration: refused, and the writer goes on. */
    w = new_writer(0, 0);
    declare(w, "t", GGLD_TYPE_I8, 1, 0);
    begin(w);
    const uint64_t dims[] = { 1 };
    const char *late = "writer: it has begun: set, declare and copy before "
                       "ggld_writer_begin";
    refused(ggld_writer_declare_tensor(w, "u", 1, 24, dims, 1, &err),
            GGLD_E_INVALID, GGLD_NO_INDEX, 0, late);
    refused(ggld_writer_set_u8(w, "k", 1, &err), GGLD_E_INVALID, GGLD_NO_INDEX,
            0, late);
    ok(ggld_writer_put_bytes(w, "x", 1, &err));
    ok(ggld_writer_put_bytes(w, NULL, 0, &err));
    ok(ggld_writer_put_f32(w, NULL, 0, &err));
    image got = finished(w);
    image_free(&got);

    w = new_writer(0, 0);
    begin(w);
    refused(ggld_writer_begin(w, "x", &err), GGLD_E_INVALID, GGLD_NO_INDEX, 0,
            late);
    given_up(w);
    cr_expect_eq(ggld_writer_begin(NULL, "x", &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_put_bytes(NULL, "x", 1, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_put_f32(NULL, &value, 1, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_put_zeros(NULL, 1, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_writer_finish(NULL, &err), GGLD_E_INVALID);
    ggld_writer_free(NULL);
}

static ggld_writer *begun_with_two(void)
{
    ggld_writer *w = new_writer(0, 0);
    declare(w, "a", GGLD_TYPE_I8, 10, 0);
    declare(w, "b", GGLD_TYPE_Q8_0, 64, 0);
    begin(w);
    return w;
}

Test(tensors, too_much_and_too_little_data)
{
    uint8_t bytes[200] = { 0 };
    float values[65] = { 0 };

    ggld_writer *w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 7, &err));
    refused(ggld_writer_finish(w, &err), GGLD_E_INVALID, 0, 7,
            "tensor 0 'a': 7 of its 10 bytes were put; put the rest before "
            "ggld_writer_finish");
    given_up(w);

    w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 10, &err));
    ok(ggld_writer_put_f32(w, values, 40, &err));
    refused(ggld_writer_finish(w, &err), GGLD_E_INVALID, 1, 34,
            "tensor 1 'b': 34 of its 68 bytes were put; put the rest before "
            "ggld_writer_finish");
    given_up(w);

    w = begun_with_two();
    refused(ggld_writer_put_bytes(w, bytes, 10 + 68 + 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, "1 bytes more than the declared tensors hold");
    given_up(w);

    w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 10, &err));
    ok(ggld_writer_put_f32(w, values, 1, &err));
    refused(ggld_writer_put_f32(w, values, 64, &err), GGLD_E_INVALID, 1, 0,
            "tensor 1 'b': 64 values, but only 63 are left to put");
    given_up(w);

    w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 78, &err));
    refused(ggld_writer_put_f32(w, values, 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, "1 values more than the declared tensors hold");
    given_up(w);

    w = begun_with_two();
    refused(ggld_writer_put_zeros(w, UINT64_MAX, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0,
            "18446744073709551537 bytes more than the declared tensors hold");
    given_up(w);

    w = begun_with_two();
    refused(ggld_writer_put_bytes(w, NULL, 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, "the data of 1 bytes is NULL");
    given_up(w);

    w = begun_with_two();
    refused(ggld_writer_put_f32(w, NULL, 1, &err), GGLD_E_INVALID,
            GGLD_NO_INDEX, 0, "the data of 1 values is NULL");
    given_up(w);
}

Test(tensors, values_and_bytes_do_not_mix_inside_a_block)
{
    uint8_t bytes[44] = { 0 };
    float values[32] = { 0 };

    ggld_writer *w = begun_with_two();
    refused(ggld_writer_put_f32(w, values, 1, &err), GGLD_E_UNSUPPORTED, 0, 0,
            "tensor 0 'a': no quantiser for i8; put bytes");
    given_up(w);

    w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 10, &err));
    ok(ggld_writer_put_f32(w, values, 5, &err));
    refused(ggld_writer_put_bytes(w, bytes, 34, &err), GGLD_E_INVALID, 1, 0,
            "tensor 1 'b': bytes inside a block of which 5 values were put; "
            "put its others first");
    given_up(w);

    w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 15, &err));
    refused(ggld_writer_put_f32(w, values, 32, &err), GGLD_E_INVALID, 1, 5,
            "tensor 1 'b': values behind 5 bytes, which is inside a block of "
            "34");
    given_up(w);
}

Test(tensors, free_before_finish_leaves_nothing)
{
    uint8_t bytes[10] = { 0 };
    ggld_writer *w = begun_with_two();
    ok(ggld_writer_put_bytes(w, bytes, 10, &err));
    cr_assert_eq(folder_count(folder), 1);
    ggld_writer_free(w);
    cr_assert_eq(folder_count(folder), 0);
}
