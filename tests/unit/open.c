/* SPDX-License-Identifier: MIT */
/* Opening: options, modes, memory, holders, the verifier. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "heap.h"
#include "image.h"
#include "read/file.h"

static ggld_status open_with(ggld_file **out, const image *img,
                             ggld_open_options options, ggld_error *err)
{
    return ggld_open_memory(out, img->data, img->size, &options, err);
}

/* Serves an image by pread, a few bytes at a time. */
typedef struct served {
    const image *img;
    size_t step;
    uint64_t n_calls;
    int n_released;
} served;

static int64_t served_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    served *s = ctx;
    if (++s->n_calls % 3 == 0)
        return -4; /* EINTR */
    if (offset >= s->img->size)
        return 0;
    if (n > s->img->size - offset)
        n = s->img->size - offset;
    if (n > s->step)
        n = s->step;
    memcpy(dst, s->img->data + offset, n);
    return (int64_t)n;
}

static void served_release(void *ctx)
{
    ((served *)ctx)->n_released++;
}

static ggld_source source_of(served *s)
{
    ggld_source source = { sizeof source, s->img->size,   served_pread,
                           NULL,          served_release, s };
    return source;
}

/* ---- options ---- */

Test(options, what_is_not_known_is_refused)
{
    image img = image_sample(3, false);
    ggld_open_options rows[8];
    ggld_file *file = NULL;
    ggld_error err;
    for (size_t i = 0; i < 8; i++)
        rows[i] = ggld_open_options_init();
    rows[0].flags = 1u << 4;
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

/* ---- memory ---- */

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

/* Records of which some need more than one look: long and short names, a
 * vocabulary of a megabyte. */
static image large_image(uint64_t n_kvs, uint64_t n_tensors)
{
    image img = image_new(3, false, n_tensors, n_kvs + 1);
    char name[40];
    uint64_t dim = 0;
    image_kv(&img, "tokens", 9);
    image_u32(&img, 8);
    image_len(&img, 50000);
    for (int i = 0; i < 50000; i++)
        image_string(&img, "a token of some length", 22);
    for (uint64_t i = 0; i < n_kvs; i++) {
        snprintf(name, sizeof name, "key.number.%" PRIu64, i);
        image_kv_u32(&img, name, (uint32_t)i);
    }
    for (uint64_t i = 0; i < n_tensors; i++) {
        snprintf(name, sizeof name, "blk.%" PRIu64 ".weight", i);
        image_tensor(&img, name, 1, &dim, 0, 0);
    }
    image_pad(&img, 32);
    return img;
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

static void ignore(ggld_severity severity, const ggld_error *finding,
                   void *user)
{
    (void)severity;
    (void)finding;
    (void)user;
}

/* Every allocation of an open fails in its turn. */
static void expect_each_failure_clean(int fd, uint32_t flags, bool check)
{
    bool done = false;
    for (uint64_t n = 0; !done; n++) {
        heap h = { .fail_at = n };
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
                       large_image(100, 100) };
    for (size_t i = 0; i < 3; i++) {
        char path[] = "/tmp/ggld-fail-XXXXXX";
        int fd = mkstemp(path);
        FILE *out = fdopen(fd, "wb");
        cr_assert_eq(fwrite(images[i].data, 1, images[i].size, out),
                     images[i].size);
        fflush(out);
        for (uint32_t flags = 0; flags < 16; flags++) {
            expect_each_failure_clean(fd, flags & ~1u, false);
            expect_each_failure_clean(fd, flags, true);
        }
        fclose(out);
        remove(path);
        image_free(&images[i]);
    }
}

/* ---- modes ---- */

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
