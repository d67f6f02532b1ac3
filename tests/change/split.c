/* SPDX-License-Identifier: MIT */
/* ggld_split: what goes into which shard, to the byte; what llama.cpp looks
 * for; and merged again, the same file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../views/check.h"
#include "models.h"

int n_failed;

static char *folder;

/* n tensors of size I8 elements, and a key. */
static image row_image(unsigned n, uint64_t size, uint32_t alignment)
{
    image im = image_new(3, false);

    image_header(&im, n, alignment != 0 ? 2 : 1);
    image_key(&im, "general.name", GGLD_VALUE_STRING);
    image_string(&im, "a row");
    if (alignment != 0) {
        image_key(&im, "general.alignment", GGLD_VALUE_U32);
        image_number(&im, alignment, 4);
    } else {
        alignment = 32;
    }
    uint64_t step = (size + alignment - 1) / alignment * alignment;
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        image_tensor(&im, name, 1, &size, GGLD_TYPE_I8, i * step);
    }
    image_pad(&im, alignment);
    for (unsigned i = 0; i < n; i++) {
        for (uint64_t b = 0; b < size; b++)
            image_number(&im, i + b, 1);
        image_pad(&im, alignment);
    }
    return im;
}

static ggld_file *open_path(const char *path)
{
    ggld_file *file = NULL;
    ggld_error err = { .message = "" };
    CHECK_OK(ggld_open_path(&file, path, NULL, &err), err, path);
    if (file == NULL)
        exit(1);
    return file;
}

static ggld_file *open_image(const image *im)
{
    const char *path = folder_path(folder, "in.gguf");
    file_save(path, im->data, im->size);
    return open_path(path);
}

static ggld_split_plan *plan_of(const ggld_file *file, uint64_t max_bytes,
                                uint64_t max_tensors, uint32_t flags)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_error err = { .message = "" };
    options.max_bytes = max_bytes;
    options.max_tensors = max_tensors;
    options.flags = flags;
    CHECK_OK(ggld_split_plan_new(&plan, file, &options, &err), err, "plan");
    if (plan == NULL)
        exit(1);
    return plan;
}

static void shard_path(char out[256], uint32_t no, uint32_t count)
{
    char prefix[200];
    snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
    ggld_shard_path(out, 256, prefix, no, count);
}

static void remove_shards(uint32_t count)
{
    char path[256];
    for (uint32_t i = 0; i < count; i++) {
        shard_path(path, i, count);
        remove(path);
    }
}

static int count_difference(const ggld_difference *d, void *user)
{
    (void)d;
    ++*(unsigned *)user;
    return 0;
}

static void expect_same(const ggld_file *a, const ggld_file *b,
                        const char *what)
{
    unsigned n = 0;
    ggld_error err = { .message = "" };
    CHECK_OK(ggld_diff(a, b, NULL, count_difference, &n, &err), err, what);
    CHECK(n == 0, "%s: %u differences", what, n);
}

/* Sizes as planned; together the model; merged the file that it was. */
static void expect_written(const ggld_file *file, ggld_split_plan *plan,
                           const char *what, bool same_bytes)
{
    uint32_t count = ggld_split_plan_count(plan);
    char path[256], merged[256];
    ggld_error err = { .message = "" };
    char prefix[200];

    snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
    CHECK_OK(ggld_split_write(plan, prefix, &err), err, what);
    for (uint32_t i = 0; i < count; i++) {
        ggld_split_shard shard = { .struct_size = sizeof shard };
        ggld_split_plan_get(plan, i, &shard);
        shard_path(path, i, count);
        image im = file_load(path);
        CHECK(im.size == shard.file_bytes,
              "%s: shard %" PRIu32 ": planned %" PRIu64 ", got %zu", what, i,
              shard.file_bytes, im.size);
        image_free(&im);
    }
    ggld_file *set = open_path(path);
    expect_same(file, set, what);
    snprintf(merged, sizeof merged, "%s", folder_path(folder, "out.gguf"));
    CHECK_OK(ggld_merge(set, merged, NULL, &err), err, what);
    image got = file_load(merged);
    image want = file_load(folder_path(folder, "in.gguf"));
    if (same_bytes)
        CHECK(bytes_differ(got.data, got.size, want.data, want.size) == NULL,
              "%s: merged: %s", what,
              bytes_differ(got.data, got.size, want.data, want.size));
    image_free(&got);
    image_free(&want);
    ggld_close(set);
    CHECK(folder_count(folder) == (int)count + 2, "%s: %d files", what,
          folder_count(folder));
    remove(merged);
    remove_shards(count);
}

/* "4+4+2" of tensors. */
static void plan_text(const ggld_split_plan *plan, char out[128])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < ggld_split_plan_count(plan); i++) {
        ggld_split_shard shard = { .struct_size = sizeof shard };
        ggld_split_plan_get(plan, i, &shard);
        int n = snprintf(out + used, 128 - used, "%s%" PRIu64, i > 0 ? "+" : "",
                         shard.n_tensors);
        used += (size_t)n;
    }
}

static void test_limits(void)
{
    /* A shard with n tensors of 100 bytes has 106 + n * (34 + 128) bytes and
     * padding; the first has the key besides: 24 + 12 + 4 + 8 + 5 more. */
    const struct {
        uint64_t max_bytes, max_tensors;
        uint32_t flags, alignment;
        const char *want;
    } cases[] = {
        { 0, 4, 0, 0, "4+4+2" },
        { 0, 5, 0, 0, "5+5" },
        { 0, 10, 0, 0, "10" },
        { 0, 1, 0, 0, "1+1+1+1+1+1+1+1+1+1" },
        { 0, 4, GGLD_SPLIT_BARE_FIRST, 0, "0+4+4+2" },
        { 700, 0, 0, 0, "3+3+3+1" },
        { 700, 2, 0, 0, "2+2+2+2+2" },
        { 1u << 20, 0, 0, 0, "10" },
        { 1, 0, 0, 0, "1+1+1+1+1+1+1+1+1+1" },
        { 300, 0, 0, 0, "0+1+1+1+1+1+1+1+1+1+1" },
        { 700, 0, GGLD_SPLIT_BARE_FIRST, 0, "0+3+3+3+1" },
        { 1500, 0, 0, 256, "3+3+3+1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        image im = row_image(10, 100, cases[i].alignment);
        ggld_file *file = open_image(&im);
        ggld_split_plan *plan = plan_of(file, cases[i].max_bytes,
                                        cases[i].max_tensors, cases[i].flags);
        char text[128], what[64];
        plan_text(plan, text);
        snprintf(what, sizeof what, "case %zu", i);
        CHECK(strcmp(text, cases[i].want) == 0, "%s: expected %s, got %s", what,
              cases[i].want, text);
        for (uint32_t s = 0; s < ggld_split_plan_count(plan); s++) {
            ggld_split_shard shard = { .struct_size = sizeof shard };
            ggld_split_plan_get(plan, s, &shard);
            CHECK(cases[i].max_bytes == 0 ||
                      shard.file_bytes <= cases[i].max_bytes ||
                      shard.n_tensors <= 1,
                  "%s: shard %" PRIu32 " has %" PRIu64 " bytes", what, s,
                  shard.file_bytes);
        }
        expect_written(file, plan, what, true);
        ggld_split_plan_free(plan);
        ggld_close(file);
        image_free(&im);
    }
}

static void test_no_tensors(void)
{
    image im = row_image(0, 0, 0);
    ggld_file *file = open_image(&im);
    for (uint32_t flags = 0; flags <= GGLD_SPLIT_BARE_FIRST; flags += 2) {
        ggld_split_plan *plan = plan_of(file, 1, 1, flags);
        CHECK(ggld_split_plan_count(plan) == 1, "one shard");
        expect_written(file, plan, "no tensors", true);
        ggld_split_plan_free(plan);
    }
    ggld_close(file);
    image_free(&im);
}

static void test_versions_and_orders(void)
{
    for (uint32_t version = 1; version <= 3; version++)
        for (int big_endian = 0; big_endian <= 1; big_endian++) {
            model_made m = { .version = version,
                             .big_endian = big_endian,
                             .unknown = true,
                             .alignment = 64 };
            ggld_file_info info = { .struct_size = sizeof info };
            image im = model_image(&m);
            ggld_file *file = open_image(&im);
            ggld_split_plan *plan = plan_of(file, 0, 1, 0);
            char path[256], prefix[200];
            ggld_error err;

            expect_written(file, plan, "versions", version == 3);
            snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
            CHECK_OK(ggld_split_write(plan, prefix, &err), err, "again");
            shard_path(path, 1, 3);
            ggld_file *set = open_path(path);
            ggld_file_get_info(set, &info);
            CHECK(info.version == 3 && info.big_endian == m.big_endian,
                  "version and order of shards");
            ggld_close(set);
            remove_shards(3);
            ggld_split_plan_free(plan);
            ggld_close(file);
            image_free(&im);
        }
}

/* What gguf-split writes: types, values, and where. */
static void test_keys_are_llama_cpps(void)
{
    image im = row_image(5, 64, 0);
    ggld_file *file = open_image(&im);
    ggld_split_plan *plan = plan_of(file, 0, 2, 0);
    ggld_open_options single = ggld_open_options_init();
    char prefix[200], path[256];
    ggld_error err;

    single.flags = GGLD_OPEN_SINGLE | GGLD_OPEN_STRICT;
    snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
    CHECK_OK(ggld_split_write(plan, prefix, &err), err, "write");
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const keys[] = { "split.no", "split.count",
                                            "split.tensors.count" };
        static const uint32_t types[] = { GGLD_VALUE_U16, GGLD_VALUE_U16,
                                          GGLD_VALUE_I32 };
        const uint64_t values[] = { i, 3, 5 };
        ggld_file *shard = NULL;
        shard_path(path, i, 3);
        CHECK_OK(ggld_open_path(&shard, path, &single, &err), err, path);
        CHECK(ggld_kv_count(shard) == (i == 0 ? 4u : 3u), "%" PRIu64 " keys",
              ggld_kv_count(shard));
        for (int k = 0; k < 3; k++) {
            const ggld_kv *kv = ggld_kv_find(shard, keys[k]);
            uint64_t value = 99;
            CHECK(kv != NULL && ggld_kv_type(kv) == types[k] &&
                      ggld_kv_get_u64(kv, &value) && value == values[k],
                  "shard %" PRIu32 ": %s is %" PRIu64, i, keys[k], value);
        }
        ggld_close(shard);
    }
    remove_shards(3);
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
}

static void test_a_set_is_split_anew(void)
{
    image im = row_image(6, 64, 0);
    ggld_file *file = open_image(&im);
    ggld_split_plan *plan = plan_of(file, 0, 2, 0);
    char path[256], prefix[200];
    ggld_error err;

    snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
    CHECK_OK(ggld_split_write(plan, prefix, &err), err, "write");
    shard_path(path, 0, 3);
    ggld_file *set = open_path(path);
    ggld_split_plan *other = plan_of(set, 0, 3, 0);
    CHECK_OK(ggld_split_write(other, prefix, &err), err, "anew");
    shard_path(path, 0, 2);
    ggld_file *again = open_path(path);
    expect_same(file, again, "anew");
    ggld_close(again);
    ggld_split_plan_free(other);

    /* Onto its own shards. */
    other = plan_of(set, 0, 2, GGLD_SPLIT_FORCE);
    CHECK(ggld_split_write(other, prefix, &err) == GGLD_E_INVALID &&
              strstr(err.message, "is the input") != NULL,
          "%s", err.message);
    expect_same(file, set, "its own shards");
    ggld_split_plan_free(other);
    ggld_close(set);
    remove_shards(2);
    remove_shards(3);
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
}

static void test_what_is_there(void)
{
    image im = row_image(6, 64, 0), other_im = row_image(6, 65, 0);
    ggld_file *file = open_image(&im);
    ggld_split_plan *plan = plan_of(file, 0, 2, 0);
    char path[256], prefix[200];
    ggld_error err;

    snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
    shard_path(path, 1, 3);
    file_save(path, "old", 3);
    char want[300];
    snprintf(want, sizeof want, "output '%s' is there already", path);
    CHECK(ggld_split_write(plan, prefix, &err) == GGLD_E_INVALID &&
              strcmp(err.message, want) == 0,
          "%s", err.message);
    image old = file_load(path);
    CHECK(old.size == 3 && folder_count(folder) == 2, "the old one is there");
    image_free(&old);
    ggld_split_plan_free(plan);
    plan = plan_of(file, 0, 2, GGLD_SPLIT_FORCE);
    CHECK_OK(ggld_split_write(plan, prefix, &err), err, "forced");
    CHECK(folder_count(folder) == 4, "%d files", folder_count(folder));
    ggld_file *set = open_path(path);
    expect_same(file, set, "forced");
    ggld_close(set);

    remove(path);
    CHECK(symlink("nowhere", path) == 0, "symlink");
    CHECK(ggld_split_write(plan, prefix, &err) == GGLD_E_INVALID &&
              strstr(err.message, "is no regular file") != NULL,
          "%s", err.message);
    shard_path(path, 0, 3);
    remove(path);
    CHECK(symlink("in.gguf", path) == 0, "symlink");
    CHECK(ggld_split_write(plan, prefix, &err) == GGLD_E_INVALID &&
              strstr(err.message, "is a link") != NULL,
          "%s", err.message);
    remove_shards(3);
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
    image_free(&other_im);
}

#define N_SEALED 3

static void count_removed(const char *name, uint64_t size_bytes, void *user)
{
    (void)name;
    (void)size_bytes;
    ++*(unsigned *)user;
}

/* What another process would do that is to write the same shards. */
static int take_leftovers(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    char path[256];

    (void)done_bytes;
    (void)total_bytes;
    for (uint32_t i = 0; i < N_SEALED; i++) {
        shard_path(path, i, N_SEALED);
        ggld_remove_leftovers(path, count_removed, user);
    }
    return 0;
}

static void test_sealed_shards_are_no_leftovers(void)
{
    image im = row_image(2 * N_SEALED, 64, 0);
    ggld_file *file = open_image(&im);
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_error err = { .message = "" };
    unsigned n_removed = 0;

    options.max_tensors = 2;
    options.progress = take_leftovers;
    options.progress_user = &n_removed;
    CHECK_OK(ggld_split_plan_new(&plan, file, &options, &err), err, "sealed");
    CHECK_OK(ggld_split_write(plan, folder_path(folder, "m"), &err), err,
             "sealed");
    CHECK(n_removed == 0,
          "expected no shard to be taken for a leftover, got %u", n_removed);
    remove_shards(N_SEALED);
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
}

/* More shards than there are descriptors for their locks. */
static void test_more_shards_than_descriptors(void)
{
    image im = row_image(60, 64, 0);
    ggld_file *file = open_image(&im);
    ggld_split_plan *plan = plan_of(file, 0, 1, 0);
    ggld_error err = { .message = "" };
    struct rlimit all, few;

    CHECK(getrlimit(RLIMIT_NOFILE, &all) == 0, "getrlimit");
    few = all;
    few.rlim_cur = 32;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0, "setrlimit");
    CHECK_OK(ggld_split_write(plan, folder_path(folder, "m"), &err), err,
             "60 shards with 32 descriptors");
    CHECK(setrlimit(RLIMIT_NOFILE, &all) == 0, "setrlimit");
    CHECK(folder_count(folder) == 61, "expected 61 files, got %d",
          folder_count(folder));
    remove_shards(60);
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
}

static void test_too_many_shards(void)
{
    image im = row_image(65536, 1, 0);
    ggld_file *file = open_image(&im);
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_error err;

    options.max_tensors = 1;
    CHECK(ggld_split_plan_new(&plan, file, &options, &err) == GGLD_E_LIMIT &&
              strcmp(err.message, "that makes more than 65535 shards: allow "
                                  "them to be larger") == 0,
          "%s", err.message);
    options.max_tensors = 2;
    CHECK_OK(ggld_split_plan_new(&plan, file, &options, &err), err, "2");
    CHECK(ggld_split_plan_count(plan) == 32768, "%" PRIu32,
          ggld_split_plan_count(plan));
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
}

static void test_refusals(void)
{
    image im = row_image(1, 1, 0);
    ggld_file *file = open_image(&im);
    ggld_split_options options = ggld_split_options_init();
    ggld_merge_options merge = ggld_merge_options_init();
    ggld_split_plan *plan = NULL;
    ggld_error err;
    const char *out = folder_path(folder, "out.gguf");

    CHECK(ggld_split_plan_new(&plan, file, &options, &err) == GGLD_E_INVALID,
          "no limit");
    options.max_tensors = 1;
    options.flags = 64;
    CHECK(ggld_split_plan_new(&plan, file, &options, &err) == GGLD_E_ABI,
          "flags");
    merge.flags = 64;
    CHECK(ggld_merge(file, out, &merge, &err) == GGLD_E_ABI, "flags");
    CHECK(ggld_merge(file, out, NULL, &err) == GGLD_E_INVALID &&
              strstr(err.message, "it is a whole model") != NULL,
          "%s", err.message);
    CHECK(plan == NULL && folder_count(folder) == 1, "nothing is left");
    ggld_close(file);
    image_free(&im);
}

static void test_merge_removes_shards(void)
{
    image im = row_image(6, 300, 0);
    ggld_file *file = open_image(&im);
    ggld_split_plan *plan = plan_of(file, 0, 2, 0);
    ggld_merge_options merge = ggld_merge_options_init();
    char path[256], prefix[200], out[200];
    ggld_error err;

    snprintf(prefix, sizeof prefix, "%s", folder_path(folder, "m"));
    snprintf(out, sizeof out, "%s", folder_path(folder, "out.gguf"));
    CHECK_OK(ggld_split_write(plan, prefix, &err), err, "write");
    shard_path(path, 0, 3);
    ggld_file *set = open_path(path);
    merge.flags = GGLD_MERGE_DELETE;
    CHECK(ggld_merge(set, path, &merge, &err) == GGLD_E_INVALID, "onto itself");
    CHECK(folder_count(folder) == 4, "nothing is removed");
    CHECK_OK(ggld_merge(set, out, &merge, &err), err, "merge");
    CHECK(folder_count(folder) == 2, "the shards are gone");
    ggld_close(set);
    ggld_file *merged = open_path(out);
    expect_same(file, merged, "merged");
    ggld_close(merged);
    remove(out);
    ggld_split_plan_free(plan);
    ggld_close(file);
    image_free(&im);
}

static void test_paths(void)
{
    char path[64];
    CHECK(ggld_shard_path(path, sizeof path, "a/b", 1, 3) == 23 &&
              strcmp(path, "a/b-00002-of-00003.gguf") == 0,
          "%s", path);
    CHECK(ggld_shard_path(path, 6, "a/b", 1, 3) == 23 &&
              strcmp(path, "a/b-0") == 0,
          "%s", path);
    CHECK(ggld_shard_path(NULL, 0, "a", 65534, 65535) == 21, "only counted");
}

int main(void)
{
    folder = folder_new();
    test_paths();
    test_limits();
    test_no_tensors();
    test_versions_and_orders();
    test_keys_are_llama_cpps();
    test_a_set_is_split_anew();
    test_what_is_there();
    test_sealed_shards_are_no_leftovers();
    test_more_shards_than_descriptors();
    test_too_many_shards();
    test_refusals();
    test_merge_removes_shards();
    folder_remove(folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
