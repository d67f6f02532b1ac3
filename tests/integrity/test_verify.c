/* SPDX-License-Identifier: MIT */
/* Verification names what is wrong: each kind of change to a model, and the
 * verdict, place and digests that it must give. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define N 4
static const model_tensor original[N] = {
    { .name = "a", .type = GGLD_TYPE_I8, .n_dims = 2, .dims = { 100, 200 } },
    { .name = "b", .type = GGLD_TYPE_F32, .n_dims = 2, .dims = { 64, 100 } },
    { .name = "c", .type = GGLD_TYPE_Q8_0, .n_dims = 2, .dims = { 256, 90 } },
    { .name = "d", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 64 } },
};

static char *path;
static ggld_error err;
static ggld_manifest *manifest; /* of the original, by way of its text */

static void make_original(void)
{
    ggld_manifest *m;
    size_t size;
    ggld_hash_options options = hash_options(
        BIT_SHA256, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS,
        "m");
    options.chunk_bytes = 4096;
    path = model_path("verify.gguf");
    model_write(path, original, N, 0);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &size);
    ggld_manifest_free(m);
    cr_assert_eq(parse_text(&manifest, text, size, 0, &err), GGLD_OK, "%s",
                 err.message);
    free(text);
}

static void remove_all(void)
{
    ggld_manifest_free(manifest);
    unlink(path);
    free(path);
}

TestSuite(verify, .init = make_original, .fini = remove_all);

static ggld_verify_report *verify(const ggld_manifest *m)
{
    ggld_verify_report *report;
    cr_assert_eq(verify_path(path, m, &report, &err), GGLD_OK, "%s",
                 err.message);
    return report;
}

/* The first item with that verdict about that tensor (or scope). */
static bool find(const ggld_verify_report *report, uint32_t verdict,
                 uint32_t scope, const char *name, ggld_verify_item *out)
{
    out->struct_size = sizeof *out;
    for (uint64_t i = 0; ggld_verify_report_at(report, i, out); i++)
        if (out->verdict == verdict && out->scope == scope &&
            out->name.len == strlen(name) &&
            memcmp(out->name.data, name, out->name.len) == 0)
            return true;
    return false;
}

static uint64_t count(const ggld_verify_report *report, uint32_t verdict)
{
    ggld_verify_item item = { .struct_size = sizeof item };
    uint64_t n = 0;
    for (uint64_t i = 0; ggld_verify_report_at(report, i, &item); i++)
        n += item.verdict == verdict;
    return n;
}

static uint64_t offset_of(const char *name)
{
    ggld_file *file;
    ggld_tensor_info info = { .struct_size = sizeof info };
    cr_assert_eq(ggld_open_path(&file, path, NULL, &err), GGLD_OK);
    ggld_tensor_get_info(ggld_tensor_find(file, name), &info);
    ggld_close(file);
    return info.file_offset_bytes;
}

Test(verify, an_untouched_file_is_good)
{
    ggld_verify_report *report = verify(manifest);
    cr_expect(ggld_verify_report_good(report), "got: %s",
              ggld_verify_report_summary(report));
    cr_expect_eq(count(report, GGLD_VERDICT_SAME),
                 ggld_verify_report_count(report));
    cr_expect_eq(strncmp(ggld_verify_report_summary(report), "good: ", 6), 0);
    ggld_verify_report_free(report);
}

Test(verify, a_flipped_bit_is_placed)
{
    uint64_t at = offset_of("b") + 9000;
    ggld_verify_item item;
    char text[GGLD_DIGEST_TEXT_MAX];
    model_flip(path, at);
    ggld_verify_report *report = verify(manifest);
    cr_expect_not(ggld_verify_report_good(report));
    cr_assert(find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_TENSOR, "b", &item),
              "got: %s", ggld_verify_report_summary(report));
    cr_expect(item.bad_bytes != 0 && item.bad_bytes <= 4096 &&
                  item.bad_offset_bytes <= at &&
                  at - item.bad_offset_bytes < item.bad_bytes,
              "expected a chunk with byte %llu, got %llu + %llu",
              (unsigned long long)at, (unsigned long long)item.bad_offset_bytes,
              (unsigned long long)item.bad_bytes);
    ggld_digest_text(&item.expected, text);
    cr_expect_not_null(strstr(item.message, text), "got: %s", item.message);
    ggld_digest_text(&item.actual, text);
    cr_expect_not_null(strstr(item.message, text), "got: %s", item.message);
    cr_expect(find(report, GGLD_VERDICT_SAME, GGLD_SCOPE_TENSOR, "a", &item));
    cr_expect(find(report, GGLD_VERDICT_SAME, GGLD_SCOPE_TENSOR, "c", &item));
    cr_expect(find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_CHUNKS, "", &item));
    cr_expect_not_null(strstr(item.message, "1 of "), "got: %s", item.message);
    cr_expect(find(report, GGLD_VERDICT_SAME, GGLD_SCOPE_METADATA, "", &item));
    ggld_verify_report_free(report);
}

Test(verify, changed_metadata_is_named)
{
    ggld_verify_item item;
    model_write(path, original, N, 9);
    ggld_verify_report *report = verify(manifest);
    cr_expect(
        find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_METADATA, "", &item),
        "got: %s", ggld_verify_report_summary(report));
    cr_expect(
        find(report, GGLD_VERDICT_RESIZED, GGLD_SCOPE_METADATA, "", &item));
    cr_expect(find(report, GGLD_VERDICT_SAME, GGLD_SCOPE_TENSOR, "b", &item));
    cr_expect(find(report, GGLD_VERDICT_SAME, GGLD_SCOPE_CHUNKS, "", &item),
              "expected the data to be the same");
    ggld_verify_report_free(report);
}

/* The original with one tensor changed. */
static void rewrite(size_t which, const char *name, uint32_t type,
                    uint64_t dim0, uint64_t dim1)
{
    model_tensor tensors[N];
    memcpy(tensors, original, sizeof tensors);
    for (size_t i = 0; i < N; i++)
        tensors[i].seed = i + 1;
    tensors[which].name = name;
    tensors[which].type = type;
    tensors[which].dims[0] = dim0;
    tensors[which].dims[1] = dim1;
    model_write(path, tensors, N, 0);
}

Test(verify, a_renamed_tensor_is_told_from_missing)
{
    ggld_verify_item item;
    rewrite(1, "bb", GGLD_TYPE_F32, 64, 100);
    ggld_verify_report *report = verify(manifest);
    cr_assert(find(report, GGLD_VERDICT_RENAMED, GGLD_SCOPE_TENSOR, "b", &item),
              "got: %s", ggld_verify_report_summary(report));
    cr_expect(item.new_name.len == 2 &&
              memcmp(item.new_name.data, "bb", 2) == 0);
    cr_expect_eq(count(report, GGLD_VERDICT_MISSING), 0);
    cr_expect_eq(count(report, GGLD_VERDICT_EXTRA), 0);
    cr_expect_not(ggld_verify_report_good(report));
    ggld_verify_report_free(report);
}

Test(verify, missing_and_extra_tensors_are_named)
{
    ggld_verify_item item;
    rewrite(1, "new", GGLD_TYPE_F32, 64, 99);
    ggld_verify_report *report = verify(manifest);
    cr_expect(
        find(report, GGLD_VERDICT_MISSING, GGLD_SCOPE_TENSOR, "b", &item));
    cr_expect(
        find(report, GGLD_VERDICT_EXTRA, GGLD_SCOPE_TENSOR, "new", &item));
    cr_expect_neq(item.actual.algo, 0);
    cr_expect_eq(count(report, GGLD_VERDICT_RENAMED), 0);
    ggld_verify_report_free(report);
}

/* The bytes are the same. */
Test(verify, a_reshaped_tensor_is_named)
{
    ggld_verify_item item;
    rewrite(1, "b", GGLD_TYPE_F32, 100, 64);
    ggld_verify_report *report = verify(manifest);
    cr_assert(
        find(report, GGLD_VERDICT_RESHAPED, GGLD_SCOPE_TENSOR, "b", &item),
        "got: %s", ggld_verify_report_summary(report));
    cr_expect_not_null(
        strstr(item.message, "expected f32 64x100, it is f32 100x64"),
        "got: %s", item.message);
    cr_expect_not(ggld_verify_report_good(report));
    ggld_verify_report_free(report);
}

Test(verify, a_retyped_tensor_is_named)
{
    ggld_verify_item item;
    rewrite(1, "b", GGLD_TYPE_I32, 64, 100);
    ggld_verify_report *report = verify(manifest);
    cr_assert(
        find(report, GGLD_VERDICT_RETYPED, GGLD_SCOPE_TENSOR, "b", &item));
    cr_expect_not_null(strstr(item.message, "expected f32 64x100, it is i32"),
                       "got: %s", item.message);
    ggld_verify_report_free(report);
}

Test(verify, bytes_behind_the_data_are_noticed)
{
    ggld_verify_item item;
    FILE *f = fopen(path, "ab");
    fputs("tail", f);
    fclose(f);
    ggld_verify_report *report = verify(manifest);
    cr_expect(find(report, GGLD_VERDICT_RESIZED, GGLD_SCOPE_FILE, "", &item));
    cr_expect(find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_CHUNKS, "", &item));
    ggld_verify_report_free(report);
}

Test(verify, a_byte_of_padding_is_in_a_chunk)
{
    ggld_verify_item item;
    model_flip(path, offset_of("a") + 20000 + 3); /* 20000 is 32 * 625 */
    ggld_verify_report *report = verify(manifest);
    bool chunk =
        find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_CHUNKS, "", &item);
    cr_expect(chunk, "got: %s", ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
}

Test(verify, a_manifest_of_another_model_fails)
{
    static const model_tensor other[] = {
        { .name = "x", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 10 } },
    };
    model_write(path, other, 1, 0);
    ggld_verify_report *report = verify(manifest);
    cr_expect_not(ggld_verify_report_good(report));
    cr_expect_eq(count(report, GGLD_VERDICT_MISSING), N);
    cr_expect_eq(count(report, GGLD_VERDICT_EXTRA), 1);
    cr_expect_eq(count(report, GGLD_VERDICT_SAME), 0);
    ggld_verify_report_free(report);
}

Test(verify, the_digest_of_an_empty_file_is_recognised)
{
    ggld_manifest *m;
    ggld_verify_item item;
    static const char text[] =
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85"
        "5\n";
    cr_assert_eq(parse_text(&m, text, strlen(text), 0, &err), GGLD_OK);
    ggld_verify_report *report = verify(m);
    cr_assert(find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_FILE, "", &item));
    cr_expect_not_null(strstr(item.message, "no bytes at all"), "got: %s",
                       item.message);
    ggld_verify_report_free(report);
    ggld_manifest_free(m);
}

/* Nothing said is nothing proven. */
Test(verify, a_manifest_that_covers_nothing_is_no_pass)
{
    ggld_manifest *m, *read;
    ggld_verify_report *report;
    ggld_hash_options options =
        hash_options(BIT_SHA256, GGLD_SCOPE_TENSORS, "m");
    size_t size;
    /* Sizes, but no digest: what a ggsum of tensors together says, less that
     * line. */
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &size);
    char *bare =
        output_of("bare=$(printf '%%s' '%s' | grep -v -e ^together "
                  "-e ^end) && printf '%%s\\n' \"$bare\" && "
                  "printf 'end sha256:' && printf '%%s\\n' \"$bare\" | "
                  "sha256sum | cut -c1-64",
                  text);
    cr_assert_eq(parse_text(&read, bare, strlen(bare), 0, &err), GGLD_OK,
                 "%s in\n%s", err.message, bare);
    ggld_status status = verify_path(path, read, &report, &err);
    cr_expect_eq(status, GGLD_E_INVALID, "expected GGLD_E_INVALID, got %s",
                 ggld_status_name(status));
    if (status == GGLD_OK)
        ggld_verify_report_free(report);
    ggld_manifest_free(read);
    ggld_manifest_free(m);
    free(bare);
    free(text);
}

Test(verify, what_is_not_covered_is_said)
{
    ggld_manifest *m;
    ggld_verify_item item;
    ggld_hash_options options =
        hash_options(BIT_XXH64, GGLD_SCOPE_TENSOR, path);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK);
    ggld_verify_report *report = verify(m);
    cr_expect(ggld_verify_report_good(report));
    cr_expect(
        find(report, GGLD_VERDICT_UNCOVERED, GGLD_SCOPE_METADATA, "", &item),
        "expected a note that the metadata was not checked");
    ggld_verify_report_free(report);
    ggld_manifest_free(m);
}

/* With two digests of each, both are compared. */
Test(verify, every_digest_of_a_tensor_counts)
{
    ggld_manifest *m, *read;
    size_t size;
    ggld_hash_options options =
        hash_options(BIT_SHA256 | BIT_XXH3, GGLD_SCOPE_TENSOR, path);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK);
    char *text = manifest_text(m, GGLD_MANIFEST_LLAMA, &size);
    char *hex = strstr(text, "xxh3      ") + 10;
    hex[3] = hex[3] == '0' ? '1' : '0';
    cr_assert_eq(parse_text(&read, text, size, 0, &err), GGLD_OK);
    ggld_verify_report *report = verify(read);
    cr_expect_eq(count(report, GGLD_VERDICT_DIFFERS), 1);
    cr_expect_eq(count(report, GGLD_VERDICT_SAME), 2 * N - 1);
    ggld_verify_report_free(report);
    ggld_manifest_free(read);
    ggld_manifest_free(m);
    free(text);
}
