/* SPDX-License-Identifier: MIT */
/* Map, private copy, pread, metadata only: the same file in each. */
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

/* Everything that can be asked of both, alike. */
static void expect_same(const ggld_file *a, const ggld_file *b)
{
    cr_assert_eq(ggld_kv_count(a), ggld_kv_count(b));
    cr_assert_eq(ggld_tensor_count(a), ggld_tensor_count(b));
    for (uint64_t i = 0; i < ggld_kv_count(a); i++) {
        const ggld_kv *k = ggld_kv_at(a, i), *l = ggld_kv_at(b, i);
        ggld_string s = ggld_kv_key(k), t = ggld_kv_key(l);
        cr_assert(s.len == t.len && memcmp(s.data, t.data, s.len) == 0);
        s = ggld_kv_raw(k).bytes;
        t = ggld_kv_raw(l).bytes;
        cr_assert(s.len == t.len && memcmp(s.data, t.data, s.len) == 0);
        cr_assert_not_null(
            ggld_kv_find_n(b, ggld_kv_key(k).data, ggld_kv_key(k).len));
    }
    for (uint64_t i = 0; i < ggld_tensor_count(a); i++) {
        ggld_tensor_info s = { .struct_size = sizeof s }, t = s;
        ggld_tensor_get_info(ggld_tensor_at(a, i), &s);
        ggld_tensor_get_info(ggld_tensor_at(b, i), &t);
        cr_assert(s.name.len == t.name.len &&
                  memcmp(s.name.data, t.name.data, s.name.len) == 0);
        s.name = t.name;
        cr_assert_arr_eq(&s, &t, sizeof s);
        uint8_t *x = malloc(s.size_bytes + 1), *y = malloc(s.size_bytes + 1);
        ggld_place place = ggld_nowhere();
        cr_assert_eq(ggld_file_read(a, s.file_offset_bytes, x, s.size_bytes,
                                    place, NULL),
                     GGLD_OK);
        cr_assert_eq(ggld_file_read(b, s.file_offset_bytes, y, s.size_bytes,
                                    place, NULL),
                     GGLD_OK);
        cr_assert_eq(memcmp(x, y, s.size_bytes), 0);
        free(x);
        free(y);
    }
    ggld_file_info s = { .struct_size = sizeof s }, t = s;
    ggld_file_get_info(a, &s);
    ggld_file_get_info(b, &t);
    s.heap_bytes = t.heap_bytes = 0;
    cr_assert_arr_eq(&s, &t, sizeof s);
}

Test(modes, give_the_same_file_whatever_the_source_is)
{
    image images[] = { image_sample(3, false), image_sample(1, true),
                       image_sample(2, false), large_image(2000, 500) };
    for (size_t i = 0; i < 4; i++) {
        const image *img = &images[i];
        ggld_file *mapped;
        cr_assert_eq(
            ggld_open_memory(&mapped, img->data, img->size, NULL, NULL),
            GGLD_OK);
        for (uint32_t flags = 0; flags < 16; flags += 2) {
            static const size_t steps[] = { 7, 1000, SIZE_MAX };
            ggld_open_options options = ggld_open_options_init();
            ggld_file *file;
            options.flags = flags;
            cr_assert_eq(open_with(&file, img, options, NULL), GGLD_OK);
            expect_same(mapped, file);
            ggld_close(file);
            for (size_t s = i == 3 ? 1 : 0; s < 3; s++) {
                served server = { img, steps[s], 0, 0 };
                ggld_source source = source_of(&server);
                cr_assert_eq(ggld_open_source(&file, &source, &options, NULL),
                             GGLD_OK);
                expect_same(mapped, file);
                ggld_close(file);
            }
        }
        ggld_close(mapped);
        image_free(&images[i]);
    }
}

Test(modes, what_is_not_mapped_is_read_no_further_than_it_must)
{
    image img = large_image(10, 10);
    size_t metadata = img.size;
    image_data(&img, 4 << 20);
    served s = { &img, SIZE_MAX, 0, 0 };
    ggld_source source = source_of(&s);
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.allocator = &allocator;
    cr_assert_eq(ggld_open_source(&file, &source, &options, NULL), GGLD_OK);
    cr_assert_eq(file->metadata.size, metadata);
    cr_assert_leq(h.live_bytes, metadata + 16384);
    /* Doubling: what there was, twice that, and what is to be trimmed. */
    cr_assert_leq(h.peak_bytes, 4 * metadata, "%" PRIu64, h.peak_bytes);
    cr_assert_lt(s.n_calls, 40, "%" PRIu64 " reads", s.n_calls);
    ggld_close(file);
    image_free(&img);
}

Test(modes, a_copy_does_not_change_with_the_original)
{
    image img = image_sample(3, false);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    ggld_string s;
    options.flags = GGLD_OPEN_COPY;
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
    memset(img.data, 0xEE, img.size);
    cr_assert(
        ggld_kv_get_string(ggld_kv_find(file, "general.architecture"), &s));
    cr_assert(s.len == 5 && memcmp(s.data, "llama", 5) == 0);
    uint8_t first;
    cr_assert_eq(ggld_file_read(file, ggld_tensor_at(file, 0)->offset, &first,
                                1, ggld_nowhere(), NULL),
                 GGLD_OK);
    cr_assert_eq(first, 1);
    ggld_close(file);
    image_free(&img);
}

Test(modes, metadata_only_opens_what_is_not_whole)
{
    image img = image_sample(3, false);
    size_t table_end = img.size - 128;
    ggld_open_options options = ggld_open_options_init();
    options.flags = GGLD_OPEN_METADATA;
    for (size_t size = img.size; size + 32 > table_end; size--) {
        ggld_file *file = NULL;
        ggld_error err;
        ggld_status status =
            ggld_open_memory(&file, img.data, size, &options, &err);
        if (status != GGLD_OK) {
            /* The table itself is cut off. */
            cr_assert_eq(err.section, GGLD_IN_TENSOR_INFO, "%s", err.message);
            break;
        }
        cr_assert_eq(ggld_tensor_count(file), 3);
        const ggld_tensor *t = ggld_tensor_at(file, 0);
        uint8_t data[32];
        status = ggld_file_read(file, t->offset, data, t->size_bytes,
                                ggld_nowhere(), &err);
        cr_assert_eq(status,
                     size >= table_end + 32 ? GGLD_OK : GGLD_E_TRUNCATED);
        ggld_close(file);
    }
    image_free(&img);
}

Test(modes, metadata_only_saturates_an_offset_that_wraps)
{
    image img = image_new(3, false, 1, 0);
    uint64_t dim = 8;
    image_tensor(&img, "t", 1, &dim, 0, UINT64_MAX - 31);
    image_pad(&img, 32);
    image_data(&img, 32);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.flags = GGLD_OPEN_METADATA;
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
    const ggld_tensor *t = ggld_tensor_at(file, 0);
    cr_assert_eq(t->offset, UINT64_MAX);
    uint8_t byte;
    cr_assert_eq(
        ggld_file_read(file, t->offset, &byte, 1, ggld_nowhere(), NULL),
        GGLD_E_TRUNCATED);
    ggld_close(file);
    image_free(&img);
}
