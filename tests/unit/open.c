/* SPDX-License-Identifier: MIT */
/* Opening: options, holders, the verifier. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "heap.h"
#include "image.h"
#include "read/file.h"
#include "served.h"

/* ---- options ---- */

Test(options, what_is_not_known_is_refused)
{
    image img = image_sample(3, false);
    ggld_open_options rows[8];
    ggld_file *file = NULL;
    ggld_error err;
    for (size_t i = 0; i < 8; i++)
        rows[i] = ggld_open_options_init();
    rows[0].flags = 1u << 5;
    rows[1].flags = GGLD_OPEN_STRICT | 1u << 31;
    rows[2].cpu_disable = 1u << 2;
    rows[3].reserved[0] = 1;
    rows[4].reserved[3] = 1;
    rows[5].struct_size = 0;
    rows[6].struct_size = offsetof(ggld_open_options, max_kv) - 1;
    ggld_verifier old = { .struct_size = 8 };
    rows[7].verifier = &old;
    for (size_t i = 0; i < 8; i++) {
        cr_expect_eq(open_with(&file, &img, rows[i], &err), GGLD_E_ABI,
                     "row %zu", i);
        cr_expect(err.code == GGLD_E_ABI && err.message[0] != '\0');
        cr_expect_null(file, "row %zu: *out was touched", i);
    }
    image_free(&img);
}

Test(options, of_an_older_app_are_shorter_and_of_a_newer_one_longer)
{
    image img = image_sample(3, false);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.struct_size = offsetof(ggld_open_options, max_kv);
    options.max_kv = 1; /* not there, for that app */
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
    ggld_close(file);

    struct {
        ggld_open_options options;
        uint64_t newer;
    } wide = { ggld_open_options_init(), 0 };
    wide.options.struct_size = sizeof wide;
    cr_assert_eq(
        ggld_open_memory(&file, img.data, img.size, &wide.options, NULL),
        GGLD_OK);
    ggld_close(file);
    wide.newer = 1;
    cr_assert_eq(
        ggld_open_memory(&file, img.data, img.size, &wide.options, NULL),
        GGLD_E_ABI);
    image_free(&img);
}

Test(options, half_an_allocator_is_an_invalid_argument)
{
    image img = image_sample(3, false);
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.allocator = &allocator;
    allocator.free = NULL;
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_E_INVALID);
    image_free(&img);
}

Test(options, limits_refuse_with_both_numbers)
{
    image img = image_sample(3, false);
    ggld_open_options options[3];
    static const char *numbers[][2] = { { "key-values 3", "limit of 2" },
                                        { "tensors 3", "limit of 2" },
                                        { "length 20", "limit of 19" } };
    for (size_t i = 0; i < 3; i++)
        options[i] = ggld_open_options_init();
    options[0].max_kv = 2;
    options[1].max_tensors = 2;
    options[2].max_string_bytes = 19; /* general.architecture has 20 */
    for (size_t i = 0; i < 3; i++) {
        ggld_file *file;
        ggld_error err;
        cr_assert_eq(open_with(&file, &img, options[i], &err), GGLD_E_LIMIT);
        cr_expect(strstr(err.message, numbers[i][0]) != NULL &&
                      strstr(err.message, numbers[i][1]) != NULL,
                  "%s", err.message);
        options[i].max_kv += options[i].max_kv != 0;
        options[i].max_tensors += options[i].max_tensors != 0;
        options[i].max_string_bytes += options[i].max_string_bytes != 0;
        cr_assert_eq(open_with(&file, &img, options[i], &err), GGLD_OK);
        ggld_close(file);
    }
    image_free(&img);
}

Test(options, processor_features_can_be_switched_off)
{
    image img = image_sample(3, false);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.cpu_disable = GGLD_CPU_AVX2 | GGLD_CPU_NEON;
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
    cr_assert_eq(file->cpu_features, 0);
    ggld_close(file);
    image_free(&img);
}

/* ---- holders ---- */

Test(holders, the_last_close_releases_once)
{
    image img = image_sample(3, false);
    served s = { &img, SIZE_MAX, 0, 0 };
    ggld_source source = source_of(&s);
    ggld_file *file;
    cr_assert_eq(ggld_open_source(&file, &source, NULL, NULL), GGLD_OK);
    cr_assert_eq(ggld_file_ref(file), file);
    ggld_close(file);
    cr_assert_eq(s.n_released, 0);
    cr_assert_eq(ggld_kv_count(file), 3);
    ggld_close(file);
    cr_assert_eq(s.n_released, 1);
    ggld_close(NULL);
    image_free(&img);
}

Test(holders, a_source_that_did_not_open_is_still_the_apps)
{
    image img = image_sample(3, false);
    served s = { &img, SIZE_MAX, 0, 0 };
    ggld_source source = source_of(&s);
    ggld_file *file = NULL;
    img.data[0] = 'X';
    cr_assert_eq(ggld_open_source(&file, &source, NULL, NULL), GGLD_E_MAGIC);
    cr_assert(s.n_released == 0 && file == NULL);
    image_free(&img);
}

/* ---- the verifier ---- */

typedef struct witness {
    ggld_status verdict;
    uint64_t n_metadata, n_range, n_released;
    const void *data;
    size_t size;
    uint64_t range[2];
    const ggld_file *file;
} witness;

static ggld_status witness_verdict(witness *w, ggld_error *err)
{
    if (w->verdict != GGLD_OK && err != NULL) {
        memset(err, 0, sizeof *err);
        err->code = w->verdict;
        strcpy(err->message, "not the bytes that were signed");
    }
    return w->verdict;
}

static ggld_status on_metadata(void *ctx, const void *data, size_t size,
                               ggld_error *err)
{
    witness *w = ctx;
    w->n_metadata++;
    w->data = data;
    w->size = size;
    return witness_verdict(w, err);
}

static ggld_status on_range(void *ctx, const ggld_file *file, uint64_t offset,
                            uint64_t size, ggld_error *err)
{
    witness *w = ctx;
    w->n_range++;
    w->file = file;
    w->range[0] = offset;
    w->range[1] = size;
    return witness_verdict(w, err);
}

static void on_release(void *ctx)
{
    ((witness *)ctx)->n_released++;
}

static ggld_verifier verifier_of(witness *w)
{
    ggld_verifier v = { sizeof v, on_metadata, on_range, on_release, w };
    return v;
}

Test(verifier, sees_the_metadata_at_open_and_ranges_when_asked)
{
    image img = image_sample(3, false);
    for (uint32_t flags = 0; flags < 8; flags += 2) {
        witness w = { .verdict = GGLD_OK };
        ggld_verifier v = verifier_of(&w);
        served s = { &img, 100, 0, 0 };
        ggld_source source = source_of(&s);
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file;
        options.flags = flags;
        options.verifier = &v;
        cr_assert_eq(ggld_open_source(&file, &source, &options, NULL), GGLD_OK);
        cr_assert(w.n_metadata == 1 && w.n_range == 0 && w.n_released == 0);
        cr_assert_eq(w.size, img.size - 128);
        cr_assert_eq(memcmp(w.data, img.data, w.size), 0);
        cr_assert_eq(ggld_file_verify(file, 300, 20, NULL), GGLD_OK);
        cr_assert(w.n_range == 1 && w.file == file && w.range[0] == 300 &&
                  w.range[1] == 20);
        w.verdict = GGLD_E_CHECKSUM;
        ggld_error err;
        cr_assert_eq(ggld_file_verify(file, 0, 1, &err), GGLD_E_CHECKSUM);
        cr_assert_str_eq(err.message, "not the bytes that were signed");
        ggld_close(file);
        cr_assert(w.n_released == 1 && s.n_released == 1);
    }
    image_free(&img);
}

Test(verifier, that_refuses_the_metadata_keeps_the_file_shut)
{
    image img = image_sample(3, false);
    witness w = { .verdict = GGLD_E_CHECKSUM };
    ggld_verifier v = verifier_of(&w);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;
    options.verifier = &v;
    cr_assert_eq(open_with(&file, &img, options, &err), GGLD_E_CHECKSUM);
    cr_assert_str_eq(err.message, "not the bytes that were signed");
    cr_assert(file == NULL && w.n_released == 0);
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_E_CHECKSUM);
    image_free(&img);
}

Test(verifier, that_asks_nothing_is_not_asked)
{
    image img = image_sample(3, false);
    ggld_verifier v = { .struct_size = sizeof v };
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.verifier = &v;
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
    cr_assert_eq(ggld_file_verify(file, 0, 1, NULL), GGLD_OK);
    ggld_close(file);
    image_free(&img);
}
