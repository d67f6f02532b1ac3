/* SPDX-License-Identifier: MIT */
/* Verification names what is wrong: each kind of change to a model, and the
 * verdict, place and digests that it must give. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

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
    cr_expect_not_null(strstr(item.message, " chunks differs, the first at "),
                       "got: %s", item.message);
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

Test(verify, a_single_chunk_is_no_chunks)
{
    static const char expected[] = "1 of 1 chunk differs, the first at ";
    ggld_verify_item item;
    model_write_abc(path);
    ggld_manifest *m = hash_as(path, path, BIT_SHA256, 0);
    model_flip(path, offset_of("t"));
    ggld_verify_report *report = verify(m);
    cr_assert(find(report, GGLD_VERDICT_DIFFERS, GGLD_SCOPE_CHUNKS, "", &item),
              "got: %s", ggld_verify_report_summary(report));
    cr_expect_eq(strncmp(item.message, expected, strlen(expected)), 0,
                 "expected %s..., got: %s", expected, item.message);
    ggld_verify_report_free(report);
    ggld_manifest_free(m);
}

Test(verify, a_manifest_of_another_model_is_refused_before_reading)
{
    static const model_tensor other[] = {
        { .name = "x", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 10 } },
    };
    ggld_verify_report *report = NULL;
    model_write(path, other, 1, 0);
    ggld_status got = verify_path(path, manifest, &report, &err);
    cr_expect_eq(got, GGLD_E_INVALID, "expected GGLD_E_INVALID, got %s",
                 ggld_status_name(got));
    const char *says = strstr(err.message, "another model: 0 of the 4 tensors");
    cr_assert_not_null(says, "got: %s", err.message);
    cr_expect_str_eq(strstr(says, "which"), "which has 1 other", "got: %s",
                     err.message);
}

/* Not when one name is the same, or all may have been renamed. */
Test(verify, a_manifest_that_may_be_of_the_model_is_compared)
{
    static const model_tensor others[] = {
        { .name = "b", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 10 } },
        { .name = "x", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 10 } },
    };
    model_write(path, others, 2, 0);
    ggld_verify_report *report = verify(manifest);
    cr_expect_not(ggld_verify_report_good(report));
    cr_expect_eq(count(report, GGLD_VERDICT_MISSING), N - 1);
    cr_expect_eq(count(report, GGLD_VERDICT_EXTRA), 1);
    ggld_verify_report_free(report);

    model_tensor renamed[N];
    memcpy(renamed, original, sizeof renamed);
    static const char *const names[N] = { "1", "2", "3", "4" };
    for (size_t i = 0; i < N; i++) {
        renamed[i].name = names[i];
        renamed[i].seed = i + 1;
    }
    model_write(path, renamed, N, 0);
    report = verify(manifest);
    cr_expect_gt(count(report, GGLD_VERDICT_RENAMED), 0);
    ggld_verify_report_free(report);
}

/* What became of tensor b: every row's findings are there at once. */
static const struct {
    const char *what;
    const char *name;
    uint32_t type;
    uint64_t dims[2];
    bool rewritten;
    uint32_t verdicts; /* bits of those that b has, of digests and shape */
    const char *says;
} changes[] = {
    { "reshaped",
      "b",
      GGLD_TYPE_F32,
      { 100, 64 },
      false,
      1u << GGLD_VERDICT_RESHAPED | 1u << GGLD_VERDICT_SAME,
      "tensor 'b' is reshaped: expected f32 64x100, it is f32 100x64" },
    { "reshaped and rewritten",
      "b",
      GGLD_TYPE_F32,
      { 100, 64 },
      true,
      1u << GGLD_VERDICT_RESHAPED | 1u << GGLD_VERDICT_DIFFERS,
      "tensor 'b' is reshaped" },
    { "rewritten",
      "b",
      GGLD_TYPE_F32,
      { 64, 100 },
      true,
      1u << GGLD_VERDICT_DIFFERS,
      "tensor 'b' differs" },
    { "retyped and rewritten",
      "b",
      GGLD_TYPE_I32,
      { 64, 100 },
      true,
      1u << GGLD_VERDICT_RETYPED | 1u << GGLD_VERDICT_DIFFERS,
      "tensor 'b' is retyped" },
    { "renamed",
      "bb",
      GGLD_TYPE_F32,
      { 64, 100 },
      false,
      1u << GGLD_VERDICT_RENAMED,
      "tensor 'b' is called 'bb' now" },
    { "renamed and reshaped",
      "bb",
      GGLD_TYPE_F32,
      { 100, 64 },
      false,
      1u << GGLD_VERDICT_RENAMED | 1u << GGLD_VERDICT_RESHAPED,
      "tensor 'b' is called 'bb' now" },
    { "renamed and retyped",
      "bb",
      GGLD_TYPE_I32,
      { 64, 100 },
      false,
      1u << GGLD_VERDICT_RENAMED | 1u << GGLD_VERDICT_RETYPED,
      "tensor 'b' is called 'bb' now" },
};

Test(verify, all_that_became_of_a_tensor_is_said)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        ggld_verify_item item = { .struct_size = sizeof item };
        model_tensor tensors[N];
        uint32_t verdicts = 0;
        bool said = false;
        memcpy(tensors, original, sizeof tensors);
        for (size_t t = 0; t < N; t++)
            tensors[t].seed = t + 1;
        tensors[1].name = changes[i].name;
        tensors[1].type = changes[i].type;
        memcpy(tensors[1].dims, changes[i].dims, sizeof changes[i].dims);
        tensors[1].seed += changes[i].rewritten ? 100 : 0;
        model_write(path, tensors, N, 0);
        ggld_verify_report *report = verify(manifest);
        for (uint64_t k = 0; ggld_verify_report_at(report, k, &item); k++) {
            if (item.name.len != 1 || item.name.data[0] != 'b')
                continue;
            verdicts |= 1u << item.verdict;
            said |= strstr(item.message, changes[i].says) != NULL;
        }
        cr_expect_eq(verdicts, changes[i].verdicts,
                     "%s: expected verdicts %#x, got %#x", changes[i].what,
                     changes[i].verdicts, verdicts);
        cr_expect(said, "%s: expected \"%s\"", changes[i].what,
                  changes[i].says);
        ggld_verify_report_free(report);
    }
}

/* ---- gaps ---- */

static const struct {
    uint32_t scopes;
    const char *gap; /* "": none */
} coverages[] = {
    { GGLD_SCOPE_FILE, "" },
    { GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, "" },
    { GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSORS, "" },
    { GGLD_SCOPE_METADATA | GGLD_SCOPE_CHUNKS, "" },
    { GGLD_SCOPE_METADATA, "; not covered: the tensors" },
    { GGLD_SCOPE_TENSOR, "; not covered: the metadata" },
    { GGLD_SCOPE_TENSORS, "; not covered: the metadata" },
};

Test(verify, the_summary_says_what_is_not_covered)
{
    for (size_t i = 0; i < sizeof coverages / sizeof coverages[0]; i++) {
        ggld_manifest *m;
        ggld_hash_options options =
            hash_options(BIT_SHA256, coverages[i].scopes, path);
        bool complete = coverages[i].gap[0] == '\0';
        cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK);
        ggld_verify_report *report = verify(m);
        const char *summary = ggld_verify_report_summary(report);
        const char *gap = strstr(summary, "; not covered");
        cr_expect(ggld_verify_report_good(report), "got: %s", summary);
        cr_expect_str_eq(gap != NULL ? gap : "", coverages[i].gap,
                         "scopes %#x: got: %s", coverages[i].scopes, summary);
        cr_expect_eq(ggld_verify_report_complete(report), complete,
                     "scopes %#x: %s", coverages[i].scopes, summary);
        uint32_t scopes = ggld_manifest_scopes(m, path);
        cr_expect_eq(scopes, coverages[i].scopes, "expected %#x, got %#x",
                     coverages[i].scopes, scopes);
        cr_expect_eq(ggld_manifest_scopes(m, "other.gguf"), 0);
        ggld_verify_report_free(report);
        ggld_manifest_free(m);
    }
}

/* ---- a million lines that are wrong ---- */

Test(verify, of_what_is_wrong_so_many_items_are_kept)
{
    enum { LINES = 25000 };
    char *text = NULL;
    size_t size;
    ggld_manifest *m;
    ggld_verify_info info = { .struct_size = sizeof info };
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "xxh64     %016x  m.gguf:b\n", 1);
    for (int i = 0; i < LINES; i++)
        fprintf(f, "xxh64     %016x  m.gguf:tensor.%d\n", i, i);
    fclose(f);
    cr_assert_eq(parse_text(&m, text, size, 0, &err), GGLD_OK, "%s",
                 err.message);
    char *link = output_of("cp '%s' /tmp/ggld-many-$$.gguf && "
                           "printf %%s /tmp/ggld-many-$$.gguf",
                           path);
    free(output_of("mkdir '%s.d' && mv '%s' '%s.d/m.gguf'", link, link, link));
    char *there = output_of("printf %%s '%s.d/m.gguf'", link);
    ggld_verify_report *report = NULL;
    cr_assert_eq(verify_path(there, m, &report, &err), GGLD_OK, "%s",
                 err.message);
    ggld_verify_report_get_info(report, &info);
    /* b differs; the file's others are extra. */
    cr_expect_eq(info.n_bad, LINES + 1 + N - 1, "got %llu",
                 (unsigned long long)info.n_bad);
    cr_expect_eq(info.n_by_verdict[GGLD_VERDICT_MISSING], LINES, "got %llu",
                 (unsigned long long)info.n_by_verdict[GGLD_VERDICT_MISSING]);
    cr_expect_eq(info.n_left_out, info.n_bad - 10000, "got %llu",
                 (unsigned long long)info.n_left_out);
    cr_expect_lt(ggld_verify_report_count(report), 10100);
    ggld_verify_report_free(report);
    ggld_manifest_free(m);
    free(output_of("rm -r '%s.d'", link));
    free(there);
    free(link);
    free(text);
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
