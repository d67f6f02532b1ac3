/* SPDX-License-Identifier: MIT */
/* Reading when something is in the way: the verifier, a file that has become
 * shorter, an app's source that fails, types that are not known, buffers that
 * are too small. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"

#define FILL 0xA5

/* Two tensors: six rows of two q8_0 blocks, and bytes of a type that is
 * unknown. */
#define ROW_ELEMS 64
#define ROW_BYTES 68
#define N_ROWS    6
static uint8_t q8_0[N_ROWS * ROW_BYTES];
static uint8_t strange[96];
static const model_tensor tensors[] = {
    { "known", GGLD_TYPE_Q8_0, 2, { ROW_ELEMS, N_ROWS }, q8_0, sizeof q8_0 },
    { "strange", 99, 1, { 256 }, strange, sizeof strange },
};

static void fill(void)
{
    fill_random(q8_0, sizeof q8_0, 1);
    for (size_t at = 0; at < sizeof q8_0; at += 34) {
        q8_0[at] = 0; /* d is 1.0: no NaN */
        q8_0[at + 1] = 0x3C;
    }
    fill_random(strange, sizeof strange, 2);
}

TestSuite(refusals, .init = fill);

static void expect_filled(const void *data, size_t size, const char *what)
{
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(((const uint8_t *)data)[i], FILL,
                     "%s: expected dst untouched, got a write at byte %zu",
                     what, i);
}

/* ---- the verifier ---- */

typedef struct witness {
    uint64_t offset[16], size[16];
    int n_asked;
    int refuse_from; /* the number of the first question refused */
    const void *dst; /* must be untouched at the first question */
    size_t dst_bytes;
} witness;

static ggld_status witness_range(void *ctx, const ggld_file *file,
                                 uint64_t offset, uint64_t size,
                                 ggld_error *err)
{
    witness *w = ctx;
    cr_assert_not_null(file);
    if (w->dst != NULL && w->n_asked == 0)
        expect_filled(w->dst, w->dst_bytes, "when the verifier is asked");
    if (w->n_asked < 16) {
        w->offset[w->n_asked] = offset;
        w->size[w->n_asked] = size;
    }
    if (w->n_asked++ < w->refuse_from)
        return GGLD_OK;
    if (err != NULL) {
        memset(err, 0, sizeof *err);
        err->code = GGLD_E_CHECKSUM;
        snprintf(err->message, sizeof err->message, "digest differs");
    }
    return GGLD_E_CHECKSUM;
}

static ggld_file *open_witnessed(model *m, open_way way, witness *w)
{
    ggld_verifier verifier = { sizeof verifier, NULL, witness_range, NULL, w };
    ggld_open_options options = ggld_open_options_init();
    options.verifier = &verifier;
    memset(w, 0, sizeof *w);
    w->refuse_from = 1000;
    return model_open(m, way, tensors, 2, &options);
}

static const open_way asked_ways[] = { OPEN_MEMORY, OPEN_PREAD,
                                       OPEN_BIG_MEMORY };
#define N_ASKED_WAYS (sizeof asked_ways / sizeof asked_ways[0])

static ggld_view known_elems(const ggld_file *file, uint64_t first, uint64_t n)
{
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "known"));
    cr_assert_eq(ggld_view_elems(&view, &view, first, n, NULL), GGLD_OK);
    return view;
}

Test(refusals, verifier_is_asked_for_the_blocks_that_are_touched)
{
    static const struct {
        uint64_t first, n;
        uint64_t first_block, n_blocks;
    } cases[] = { { 0, 1, 0, 1 },   { 31, 1, 0, 1 },  { 31, 2, 0, 2 },
                  { 32, 32, 1, 1 }, { 40, 30, 1, 2 }, { 1, 383, 0, 12 },
                  { 0, 384, 0, 12 } };
    for (size_t way = 0; way < N_ASKED_WAYS; way++) {
        witness w;
        model m;
        ggld_file *file = open_witnessed(&m, asked_ways[way], &w);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            ggld_view view = known_elems(file, cases[i].first, cases[i].n);
            uint16_t halves[384];
            float floats[384];
            ggld_error err = { 0 };
            w.n_asked = 0;
            cr_assert_eq(ggld_view_read_f32(&view, floats, 384, &err), GGLD_OK);
            cr_assert_eq(ggld_view_read_f16(&view, halves, 384, &err), GGLD_OK);
            cr_assert_eq(w.n_asked, 2, "expected one question a read, got %d",
                         w.n_asked);
            for (int j = 0; j < 2; j++) {
                cr_expect_eq(w.offset[j],
                             m.data_offset + cases[i].first_block * 34);
                cr_expect_eq(w.size[j], cases[i].n_blocks * 34,
                             "elements %d + %d: expected %d bytes, got %d",
                             (int)cases[i].first, (int)cases[i].n,
                             (int)cases[i].n_blocks * 34, (int)w.size[j]);
            }
        }
        ggld_close(file);
        model_free(&m);
    }
}

Test(refusals, verifier_is_asked_for_bytes_and_maps)
{
    witness w;
    model m;
    ggld_file *file = open_witnessed(&m, OPEN_MEMORY, &w);
    const ggld_tensor *t = ggld_tensor_find(file, "strange");
    size_t strange_at = m.data_offset + (sizeof q8_0 + 31) / 32 * 32;
    uint8_t bytes[96];
    const void *mapped;
    size_t size;

    cr_assert_eq(ggld_tensor_read_bytes(t, 5, bytes, 11, NULL), GGLD_OK);
    cr_assert_eq(ggld_tensor_map(t, &mapped, &size, NULL), GGLD_OK);
    cr_assert_eq(w.n_asked, 2);
    cr_expect_eq(w.offset[0], strange_at + 5);
    cr_expect_eq(w.size[0], 11u);
    cr_expect_eq(w.offset[1], strange_at);
    cr_expect_eq(w.size[1], sizeof strange);

    w.refuse_from = 0;
    memset(bytes, FILL, sizeof bytes);
    mapped = NULL;
    cr_expect_eq(ggld_tensor_read_bytes(t, 5, bytes, 11, NULL),
                 GGLD_E_CHECKSUM);
    expect_filled(bytes, sizeof bytes, "refused bytes");
    cr_expect_eq(ggld_tensor_map(t, &mapped, &size, NULL), GGLD_E_CHECKSUM);
    cr_expect_null(mapped, "expected no pointer behind a refusal");
    ggld_close(file);
    model_free(&m);
}

Test(refusals, verifier_is_asked_for_each_row_gathered)
{
    static const uint64_t rows[] = { 5, 0, 5 };
    witness w;
    model m;
    ggld_file *file = open_witnessed(&m, OPEN_MEMORY, &w);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "known"));
    float dst[3 * ROW_ELEMS];

    cr_assert_eq(ggld_view_gather_f32(&view, rows, 3, dst, 3 * ROW_ELEMS, NULL),
                 GGLD_OK);
    cr_assert_eq(w.n_asked, 3, "expected a question a row, got %d", w.n_asked);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(w.offset[i], m.data_offset + rows[i] * ROW_BYTES);
        cr_expect_eq(w.size[i], (uint64_t)ROW_BYTES);
    }

    /* The second row is refused: it and the third are not read. */
    ggld_error err = { 0 };
    w.n_asked = 0;
    w.refuse_from = 1;
    memset(dst, FILL, sizeof dst);
    cr_expect_eq(ggld_view_gather_f32(&view, rows, 3, dst, 3 * ROW_ELEMS, &err),
                 GGLD_E_CHECKSUM);
    cr_expect_str_eq(err.message, "digest differs");
    w.n_asked = 0;
    cr_expect_eq(ggld_view_gather_f32(&view, rows, 3, dst, 3 * ROW_ELEMS, NULL),
                 GGLD_E_CHECKSUM, "the verifier's error has room without one");
    cr_expect_eq(ggld_view_gather_f32(&view, NULL, 3, dst, 3 * ROW_ELEMS, &err),
                 GGLD_E_INVALID, "expected rows of NULL to be refused");
    expect_filled(dst + ROW_ELEMS, 2 * ROW_ELEMS * sizeof *dst,
                  "rows from the refused one on");
    ggld_close(file);
    model_free(&m);
}

Test(refusals, verifier_refuses_before_dst_is_touched)
{
    for (size_t way = 0; way < N_ASKED_WAYS; way++) {
        witness w;
        model m;
        ggld_file *file = open_witnessed(&m, asked_ways[way], &w);
        ggld_view view = known_elems(file, 5, 300);
        float floats[300];
        uint16_t halves[300];
        ggld_error err = { 0 };

        memset(floats, FILL, sizeof floats);
        memset(halves, FILL, sizeof halves);
        w.dst = floats;
        w.dst_bytes = sizeof floats;
        cr_expect_eq(ggld_view_read_f32(&view, floats, 300, &err), GGLD_OK);
        w.n_asked = w.refuse_from = 0;
        memset(floats, FILL, sizeof floats);
        cr_expect_eq(ggld_view_read_f32(&view, floats, 300, &err),
                     GGLD_E_CHECKSUM);
        expect_filled(floats, sizeof floats, "refused f32");
        cr_expect_eq(err.code, GGLD_E_CHECKSUM);
        cr_expect_str_eq(err.message, "digest differs");
        cr_expect_eq(ggld_view_read_f16(&view, halves, 300, NULL),
                     GGLD_E_CHECKSUM);
        expect_filled(halves, sizeof halves, "refused f16");
        ggld_close(file);
        model_free(&m);
    }
}

Test(refusals, nothing_is_asked_for_nothing)
{
    witness w;
    model m;
    ggld_file *file = open_witnessed(&m, OPEN_PREAD, &w);
    ggld_view view = known_elems(file, 384, 0);
    ggld_error err = { 0 };

    cr_expect_eq(ggld_view_read_f32(&view, NULL, 0, &err), GGLD_OK, "got: %s",
                 err.message);
    cr_expect_eq(ggld_view_read_f16(&view, NULL, 0, &err), GGLD_OK);
    cr_expect_eq(ggld_view_gather_f32(&view, NULL, 0, NULL, 0, &err), GGLD_OK);
    cr_expect_eq(
        ggld_tensor_read_bytes(view.tensor, sizeof q8_0, NULL, 0, &err),
        GGLD_OK);
    cr_expect_eq(w.n_asked, 0);
    ggld_close(file);
    model_free(&m);
}

/* ---- types ---- */

static uint32_t u32_at(const model *m, uint64_t offset)
{
    const uint8_t *p = m->bytes + offset;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

Test(refusals, types_without_values_still_give_bytes)
{
    static const struct {
        uint32_t type;
        const char *message;
    } cases[] = {
        { 99, "tensor 0 't' (type 99): unknown to this version of ggld; only "
              "its stored bytes can be read" },
        { 4, "tensor 0 't' (q4_2, removed): type 4 was removed from the "
             "format; quantise the model anew from its original" },
        { 31, "tensor 0 't' (q4_0_4_4, removed): type 31 was removed from the "
              "format; quantise the model anew from its original" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        model_tensor tensor = { "t",       cases[i].type, 2,
                                { 32, 2 }, strange,       sizeof strange };
        model m;
        ggld_file *file = model_open(&m, OPEN_MEMORY, &tensor, 1, NULL);
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 0));
        static const uint64_t rows[] = { 1 };
        float dst[64];
        uint8_t bytes[sizeof strange];
        ggld_error err = { 0 };

        memset(dst, FILL, sizeof dst);
        cr_expect_eq(ggld_view_read_f32(&view, dst, 64, &err),
                     GGLD_E_TENSOR_TYPE);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect_eq(err.section, GGLD_IN_TENSOR_INFO);
        cr_expect_eq(u32_at(&m, err.offset), cases[i].type,
                     "expected the offset of the type's field, got %llu",
                     (unsigned long long)err.offset);
        cr_expect_eq(ggld_view_read_f16(&view, (uint16_t *)dst, 64, NULL),
                     GGLD_E_TENSOR_TYPE);
        cr_expect_eq(ggld_view_gather_f32(&view, rows, 1, dst, 64, NULL),
                     GGLD_E_TENSOR_TYPE);
        expect_filled(dst, sizeof dst, "a type without values");

        cr_expect_eq(
            ggld_tensor_read_bytes(view.tensor, 0, bytes, sizeof bytes, &err),
            GGLD_OK, "got: %s", err.message);
        cr_expect_arr_eq(bytes, strange, sizeof bytes);
        ggld_close(file);
        model_free(&m);
    }
}

/* ---- buffers and numbers ---- */

Test(refusals, what_does_not_fit_names_both_numbers)
{
    static const uint64_t rows[] = { 0, 5, 6, 7 };
    model m;
    ggld_file *file = model_open(&m, OPEN_MEMORY, tensors, 2, NULL);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "known"));
    float dst[4 * ROW_ELEMS];
    uint8_t bytes[1];
    ggld_error err = { 0 };

    memset(dst, FILL, sizeof dst);
    cr_expect_eq(ggld_view_read_f32(&view, dst, 256, &err), GGLD_E_INVALID);
    cr_expect_str_eq(err.message,
                     "tensor 0 'known' (q8_0): the buffer has room for 256 "
                     "elements, the view has 384");
    cr_expect_eq(ggld_view_read_f16(&view, NULL, 384, &err), GGLD_E_INVALID);
    cr_expect_str_eq(err.message,
                     "tensor 0 'known' (q8_0): the buffer (NULL) has room for "
                     "0 elements, the view has 384");
    cr_expect_eq(ggld_view_gather_f32(&view, rows, 4, dst, 256, &err),
                 GGLD_E_INVALID);
    cr_expect_str_eq(err.message, "tensor 0 'known' (q8_0): rows[2] is 6, the "
                                  "view has 6 rows");
    cr_expect_eq(ggld_view_gather_f32(&view, rows, 2, dst, 127, &err),
                 GGLD_E_INVALID);
    cr_expect_str_eq(err.message,
                     "tensor 0 'known' (q8_0): the buffer has room for 127 "
                     "elements, 2 rows of 64 are asked for");
    cr_expect_eq(
        ggld_view_gather_f32(&view, rows, UINT64_MAX / 63, dst, 256, &err),
        GGLD_E_INVALID);
    expect_filled(dst, sizeof dst, "a refusal");
    cr_expect_eq(ggld_tensor_read_bytes(view.tensor, 408, bytes, 1, &err),
                 GGLD_E_INVALID);
    cr_expect_str_eq(err.message, "tensor 0 'known' (q8_0): bytes 408 + 1 are "
                                  "not inside its 408");
    cr_expect_eq(err.section, GGLD_IN_TENSOR_DATA);
    cr_expect_eq(err.index, 0u);
    ggld_close(file);
    model_free(&m);
}

/* ---- bytes that are not there ---- */

static ggld_file *open_file(const model *m, uint32_t flags, int *fd)
{
    char path[] = "/tmp/ggld-views-XXXXXX";
    ggld_open_options options = ggld_open_options_init();
    ggld_error err = { 0 };
    ggld_file *file = NULL;

    options.flags = flags;
    *fd = mkstemp(path);
    cr_assert(*fd >= 0 && unlink(path) == 0);
    cr_assert_eq(write(*fd, m->bytes, m->size), (ssize_t)m->size);
    cr_assert_eq(ggld_open_fd(&file, *fd, &options, &err), GGLD_OK, "got: %s",
                 err.message);
    return file;
}

static void expect_names_tensor(ggld_status status, ggld_status expected,
                                const ggld_error *err)
{
    cr_expect_eq(status, expected, "expected %s, got %s: %s",
                 ggld_status_name(expected), ggld_status_name(status),
                 err->message);
    cr_expect(strstr(err->message, "'known'") != NULL,
              "expected the tensor's name, got: %s", err->message);
    cr_expect_eq(err->section, GGLD_IN_TENSOR_DATA);
    cr_expect_eq(err->index, 0u);
}

/* Each call that reads, of a tensor whose last row is not to be had. */
static void expect_all_fail(const ggld_file *file, ggld_status expected,
                            int sys_errno)
{
    static const uint64_t rows[] = { 0, 5 };
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "known"));
    float dst[384];
    uint8_t bytes[sizeof q8_0];
    ggld_error err = { 0 };

    expect_names_tensor(ggld_view_read_f32(&view, dst, 384, &err), expected,
                        &err);
    cr_expect_eq(err.sys_errno, sys_errno);
    expect_names_tensor(ggld_view_read_f16(&view, (uint16_t *)dst, 384, &err),
                        expected, &err);
    expect_names_tensor(ggld_view_gather_f32(&view, rows, 2, dst, 384, &err),
                        expected, &err);
    expect_names_tensor(
        ggld_tensor_read_bytes(view.tensor, 0, bytes, sizeof bytes, &err),
        expected, &err);
    cr_assert_eq(ggld_view_rows(&view, &view, 0, 5, &err), GGLD_OK);
    cr_expect_eq(ggld_view_read_f32(&view, dst, 384, &err), GGLD_OK,
                 "expected the rows that are there, got: %s", err.message);
}

Test(refusals, a_file_truncated_while_open_is_an_error_by_pread)
{
    model m = model_encode(tensors, 1, false);
    int fd;
    ggld_file *file = open_file(&m, GGLD_OPEN_PREAD, &fd);

    cr_assert_eq(ftruncate(fd, (off_t)(m.data_offset + 5 * ROW_BYTES)), 0);
    expect_all_fail(file, GGLD_E_TRUNCATED, 0);
    ggld_close(file);
    close(fd);
    model_free(&m);
}

Test(refusals, data_that_was_never_there_is_an_error_in_metadata_mode)
{
    static const uint32_t flags[] = { 0, GGLD_OPEN_PREAD, GGLD_OPEN_COPY };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        model m = model_encode(tensors, 1, false);
        size_t whole = m.size;
        int fd;
        m.size = m.data_offset + 5 * ROW_BYTES;
        ggld_file *file = open_file(&m, GGLD_OPEN_METADATA | flags[i], &fd);

        expect_all_fail(file, GGLD_E_TRUNCATED, 0);
        const void *mapped = NULL;
        size_t size = 0;
        cr_expect_neq(
            ggld_tensor_map(ggld_tensor_at(file, 0), &mapped, &size, NULL),
            GGLD_OK);
        cr_expect_null(mapped);
        ggld_close(file);
        close(fd);
        m.size = whole;
        model_free(&m);
    }
}

typedef struct failing {
    const model *m;
    bool failed; /* from the last row on */
} failing;

static int64_t failing_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const failing *f = ctx;
    size_t end = f->failed ? f->m->data_offset + 5 * ROW_BYTES : f->m->size;
    if (offset >= end)
        return f->failed ? -ETIMEDOUT : 0;
    n = n < end - offset ? n : (size_t)(end - offset);
    memcpy(dst, f->m->bytes + offset, n);
    return (int64_t)n;
}

Test(refusals, a_source_that_fails_is_an_error_with_its_errno)
{
    model m = model_encode(tensors, 1, false);
    failing f = { &m, false };
    ggld_source source = {
        sizeof source, m.size, failing_pread, NULL, NULL, &f
    };
    ggld_file *file = NULL;
    ggld_error err = { 0 };

    cr_assert_eq(ggld_open_source(&file, &source, NULL, &err), GGLD_OK,
                 "got: %s", err.message);
    f.failed = true;
    expect_all_fail(file, GGLD_E_IO, ETIMEDOUT);
    ggld_close(file);
    model_free(&m);
}
