/* SPDX-License-Identifier: MIT */
/* Heap memory of an open: how much, and what where there is none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "heap.h"
#include "image.h"
#include "served.h"

Test(heap, is_told_exactly_and_given_back)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_COPY, GGLD_OPEN_PREAD };
    image img = image_sample(3, false);
    char path[] = "/tmp/ggld-heap-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "wb");
    cr_assert_eq(fwrite(img.data, 1, img.size, out), img.size);
    fflush(out);
    for (size_t i = 0; i < 3; i++) {
        heap h = { .fail_at = HEAP_NEVER_FAILS };
        ggld_allocator allocator = heap_allocator(&h);
        ggld_open_options options = ggld_open_options_init();
        ggld_file_info info = { .struct_size = sizeof info };
        ggld_file *file;
        options.allocator = &allocator;
        options.flags = modes[i];
        cr_assert_eq(ggld_open_fd(&file, fd, &options, NULL), GGLD_OK);
        ggld_file_get_info(file, &info);
        cr_expect_eq(info.heap_bytes, h.live_bytes,
                     "mode %zu says %" PRIu64 ", holds %" PRIu64, i,
                     info.heap_bytes, h.live_bytes);
        ggld_close(file);
        cr_expect_eq(h.live_bytes, 0, "mode %zu leaks", i);
    }
    fclose(out);
    remove(path);
    image_free(&img);
}

Test(heap, of_an_open_grows_with_records_and_not_with_strings)
{
    static const uint64_t counts[][2] = {
        { 0, 0 }, { 1, 300 }, { 3000, 65 }, { 65, 4097 }, { 5000, 9000 }
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        image img = large_image(counts[i][0], counts[i][1]);
        heap h = { .fail_at = HEAP_NEVER_FAILS };
        ggld_allocator allocator = heap_allocator(&h);
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file;
        uint64_t n_records = counts[i][0] + counts[i][1] + 1;
        options.allocator = &allocator;
        cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
        cr_expect_lt(h.peak_bytes, 200 * n_records + (64 << 10),
                     "%" PRIu64 " records took %" PRIu64 " bytes", n_records,
                     h.peak_bytes);
        ggld_close(file);
        image_free(&img);
    }
}

Test(heap, a_count_that_cannot_be_there_takes_none)
{
    static const uint64_t counts[][2] = { { UINT64_MAX, 1 },
                                          { 0, UINT64_MAX },
                                          { 2000000000, 1 },
                                          { 0, UINT64_C(1) << 62 } };
    for (size_t i = 0; i < 4; i++) {
        image img = image_new(3, false, counts[i][0], counts[i][1]);
        heap h = { .fail_at = HEAP_NEVER_FAILS };
        ggld_allocator allocator = heap_allocator(&h);
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file;
        ggld_error err;
        options.allocator = &allocator;
        image_kv_text(&img, "general.architecture", "llama");
        ggld_status status = open_with(&file, &img, options, &err);
        cr_expect(status == GGLD_E_TRUNCATED || status == GGLD_E_OVERFLOW,
                  "row %zu: %s", i, err.message);
        cr_expect_lt(h.peak_bytes, 2048, "row %zu: %" PRIu64, i, h.peak_bytes);
        image_free(&img);
    }
}

/* A count that the file's size allows, over a file that is not full of
 * records: memory follows the records that were met. */
Test(heap, a_count_that_could_be_there_takes_what_is_there)
{
    image img = image_new(3, false, 0, 70000);
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.allocator = &allocator;
    image_kv_u32(&img, "x", 1);
    image_u64(&img, UINT64_MAX);
    image_data(&img, 1 << 20);
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_E_OVERFLOW);
    cr_assert_lt(h.peak_bytes, 8192, "%" PRIu64, h.peak_bytes);
    image_free(&img);
}

static image sorting_image(void)
{
    image img = image_new(3, false, 3, 1);
    uint64_t dim = 8;
    image_kv_text(&img, "general.architecture", "llama");
    image_string(&img, "a\0a", 3); /* compares names up to their NUL */
    image_u32(&img, 1);
    image_len(&img, 8);
    image_u32(&img, 0);
    image_u64(&img, 64);
    image_tensor(&img, "b", 1, &dim, 0, 32); /* sorts by data */
    image_tensor(&img, "c", 1, &dim, 0, 0);
    image_pad(&img, 32);
    image_data(&img, 96);
    return img;
}

/* Cut off, and zeros at the end: a check looks at more of it. */
static image broken_image(void)
{
    image img = image_new(3, false, 1, 0);
    image_tensor(&img, "t", 1, (uint64_t[]){ 65536 }, 24, 0);
    image_pad(&img, 32);
    image_bytes(&img, "x", 1);
    while (img.size < 16384)
        image_bytes(&img, "", 1);
    return img;
}

static void ignore(ggld_severity severity, const ggld_error *finding,
                   void *user)
{
    (void)severity;
    (void)finding;
    (void)user;
}

/* Every allocation of an open fails in its turn. */
static void expect_each_failure_clean(int fd, uint32_t flags, bool check,
                                      bool once)
{
    bool done = false;
    for (uint64_t n = 0; !done; n++) {
        heap h = { .fail_at = n, .fail_once = once };
        ggld_allocator allocator = heap_allocator(&h);
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file = NULL;
        ggld_error err;
        options.allocator = &allocator;
        options.flags = flags;
        ggld_status status =
            check ? ggld_check_fd(fd, &options, ignore, NULL, &err)
                  : ggld_open_fd(&file, fd, &options, &err);
        done = h.n_calls <= n;
        if (!done) {
            cr_expect_eq(status, GGLD_E_NOMEM, "flags %x, call %" PRIu64 ": %d",
                         flags, n, status);
            cr_expect(err.code == GGLD_E_NOMEM && err.section == GGLD_IN_NONE);
            cr_expect_null(file);
        }
        if (file != NULL)
            ggld_close(file);
        cr_expect_eq(h.live_bytes, 0, "flags %x, call %" PRIu64 " leaks", flags,
                     n);
        cr_assert_lt(n, 100);
    }
}

Test(heap, that_fails_at_any_call_leaves_nothing)
{
    image images[] = { image_sample(3, false), sorting_image(),
                       large_image(100, 100), broken_image() };
    for (size_t i = 0; i < 4; i++) {
        char path[] = "/tmp/ggld-fail-XXXXXX";
        int fd = mkstemp(path);
        FILE *out = fdopen(fd, "wb");
        cr_assert_eq(fwrite(images[i].data, 1, images[i].size, out),
                     images[i].size);
        fflush(out);
        for (uint32_t flags = 0; flags < 16; flags++) {
            expect_each_failure_clean(fd, flags & ~1u, false, true);
            expect_each_failure_clean(fd, flags & ~1u, false, false);
            expect_each_failure_clean(fd, flags, true, true);
            expect_each_failure_clean(fd, flags, true, false);
        }
        fclose(out);
        remove(path);
        image_free(&images[i]);
    }
}

Test(heap, that_fails_leaves_no_copy_of_memory)
{
    image img = image_sample(3, false);
    heap h = { .fail_at = 1, .fail_once = true };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;
    options.allocator = &allocator;
    options.flags = GGLD_OPEN_COPY;
    cr_assert_eq(open_with(&file, &img, options, &err), GGLD_E_NOMEM);
    cr_assert_str_eq(err.message, "no memory for a copy of 416 bytes");
    cr_assert_null(file);
    cr_assert_eq(h.live_bytes, 0);
    image_free(&img);
}

Test(heap, an_index_of_strings_may_find_none)
{
    image img = image_sample(3, false);
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_string_index *index = NULL;
    ggld_file *file;
    ggld_error err;
    options.allocator = &allocator;
    cr_assert_eq(open_with(&file, &img, options, NULL), GGLD_OK);
    h.fail_at = h.n_calls;
    cr_assert_eq(
        ggld_string_index_new(&index, ggld_kv_find(file, "tokens"), &err),
        GGLD_E_NOMEM);
    cr_assert_str_eq(err.message, "no memory for an index of 3 strings");
    cr_assert_null(index);
    ggld_close(file);
    cr_assert_eq(h.live_bytes, 0);
    image_free(&img);
}
