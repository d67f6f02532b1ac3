/* SPDX-License-Identifier: MIT */
/* Digests against published values and other programs', in every scope, by
 * every way of reading, and in files whose data is in another order than the
 * table. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static char *path;
static ggld_error err;

static void make_path(void)
{
    path = model_path("digest.gguf");
}

static void remove_path(void)
{
    unlink(path);
    free(path);
}

TestSuite(digest, .init = make_path, .fini = remove_path);

/* Of "abc", "a" and "abca"; by xxhsum, sha1sum, sha256sum, and Python's uuid5
 * arithmetic. */
static const struct {
    uint32_t scope;
    uint32_t algo;
    const char *name;
    const char *text;
} known[] = {
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_XXH64, "t", "44bc2cf5ad770999" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_XXH3, "t", "78af5f94892f3950" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA1, "t",
      "a9993e364706816aba3e25717850c26c9cd0d89d" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA256, "t",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_XXH64, "blk.0 x", "d24ec4f1a98c6e5b" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_XXH3, "blk.0 x", "e6c632b61e964e1f" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA1, "blk.0 x",
      "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA256, "blk.0 x",
      "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_XXH64, "e:f", "ef46db3751d8e999" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_XXH3, "e:f", "2d06800538d394c2" },
    { GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA256, "e:f",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { GGLD_SCOPE_TENSORS, GGLD_ALGO_XXH64, "", "55518fd490600b13" },
    { GGLD_SCOPE_TENSORS, GGLD_ALGO_XXH3, "", "7f19cb4037cc496f" },
    { GGLD_SCOPE_TENSORS, GGLD_ALGO_SHA1, "",
      "d15d5ef94a4ac46a41c1b7a0c25ae6b84804c9fe" },
    { GGLD_SCOPE_TENSORS, GGLD_ALGO_SHA256, "",
      "5c3f67b7fa84dfbe1118387cad14793929845a5bc7c0080c4d8309d37baa68d0" },
    { GGLD_SCOPE_TENSORS, GGLD_ALGO_UUID, "",
      "38467026-ae4c-55a5-9c0e-45691b706bb3" },
};

Test(digest, of_known_bytes)
{
    ggld_manifest *m;
    ggld_hash_options options =
        hash_options(BIT_SHA256 | BIT_SHA1 | BIT_XXH3 | BIT_XXH64 | BIT_UUID,
                     GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS, "m");
    model_write_abc(path);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK, "%s",
                 err.message);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *got =
            digest_in(m, known[i].scope, known[i].algo, known[i].name);
        cr_expect_str_eq(got, known[i].text, "%s of '%s': expected %s, got %s",
                         ggld_algo_name(known[i].algo), known[i].name,
                         known[i].text, got);
    }
    ggld_manifest_free(m);
}

/* By openssl, of bytes [offset, offset + size) of the file. */
static char *openssl_digest(const char *algo, uint64_t offset, uint64_t size)
{
    char *text = output_of("tail -c +%llu '%s' | head -c %llu | "
                           "openssl dgst -r -%s | cut -d' ' -f1",
                           (unsigned long long)offset + 1, path,
                           (unsigned long long)size, algo);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static void expect_digest(const ggld_manifest *m, uint32_t scope, uint32_t algo,
                          const char *name, uint64_t offset, uint64_t size)
{
    char *expected = openssl_digest(ggld_algo_name(algo), offset, size);
    const char *got = digest_in(m, scope, algo, name);
    cr_expect_str_eq(got, expected, "scope %u '%s': expected %s %s, got %s",
                     scope, name, ggld_algo_name(algo), expected, got);
    free(expected);
}

/* Sizes around those of pieces (128 KiB), units (8 MiB) and chunks. */
static const model_tensor mixed[] = {
    { .name = "tiny", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 1 } },
    { .name = "piece",
      .type = GGLD_TYPE_I8,
      .n_dims = 1,
      .dims = { 128 << 10 } },
    { .name = "piece+1",
      .type = GGLD_TYPE_I8,
      .n_dims = 2,
      .dims = { 1, (128 << 10) + 1 } },
    { .name = "none", .type = GGLD_TYPE_F32, .n_dims = 2, .dims = { 0, 5 } },
    { .name = "large",
      .type = GGLD_TYPE_Q8_0,
      .n_dims = 2,
      .dims = { 4096, 2400 } },
    { .name = "scalar", .type = GGLD_TYPE_F64, .n_dims = 0 },
    { .name = "middle",
      .type = GGLD_TYPE_F16,
      .n_dims = 3,
      .dims = { 100, 100, 33 } },
    { .name = "last", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 7 } },
};

static void expect_scopes(const ggld_manifest *m, ggld_file *file,
                          uint32_t scopes)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    if ((scopes & GGLD_SCOPE_FILE) != 0)
        expect_digest(m, GGLD_SCOPE_FILE, GGLD_ALGO_SHA256, "", 0,
                      info.file_bytes);
    if ((scopes & GGLD_SCOPE_METADATA) != 0)
        expect_digest(m, GGLD_SCOPE_METADATA, GGLD_ALGO_SHA1, "", 0,
                      info.metadata_bytes);
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_tensor_info t = { .struct_size = sizeof t };
        char name[64] = "";
        if ((scopes & GGLD_SCOPE_TENSOR) == 0)
            break;
        ggld_tensor_get_info(ggld_tensor_at(file, i), &t);
        memcpy(name, t.name.data, t.name.len);
        expect_digest(m, GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA256, name,
                      t.file_offset_bytes, t.size_bytes);
        expect_digest(m, GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA1, name,
                      t.file_offset_bytes, t.size_bytes);
    }
}

/* Every set of scopes: in units, or in one chain. */
Test(digest, of_every_scope_fits_openssl)
{
    static const uint32_t sets[] = {
        GGLD_SCOPE_FILE,
        GGLD_SCOPE_METADATA,
        GGLD_SCOPE_TENSOR,
        GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS,
        GGLD_SCOPE_TENSOR | GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSORS,
        GGLD_SCOPE_FILE | GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR |
            GGLD_SCOPE_TENSORS | GGLD_SCOPE_CHUNKS,
    };
    ggld_file *file;
    model_write(path, mixed, sizeof mixed / sizeof mixed[0], 3);
    cr_assert_eq(ggld_open_path(&file, path, NULL, &err), GGLD_OK);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        ggld_manifest *m;
        ggld_hash_options options =
            hash_options(BIT_SHA256 | BIT_SHA1, sets[i], "m");
        cr_assert_eq(hash_file(file, &options, &m, &err), GGLD_OK, "%s",
                     err.message);
        expect_scopes(m, file, sets[i]);
        ggld_manifest_free(m);
    }
    ggld_close(file);
}

/* One manifest, whatever the way in. */
Test(digest, is_the_same_by_every_way_of_opening)
{
    static const uint32_t ways[] = { 0, GGLD_OPEN_PREAD, GGLD_OPEN_COPY };
    size_t size, first_size = 0;
    char *first = NULL;
    model_write(path, mixed, sizeof mixed / sizeof mixed[0], 3);
    char *data = model_read(path, &size);
    for (size_t i = 0; i < 4; i++) {
        ggld_file *file;
        ggld_manifest *m;
        size_t text_size;
        ggld_open_options open = ggld_open_options_init();
        ggld_hash_options options = hash_options(
            BIT_SHA256 | BIT_XXH3,
            GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS, "m");
        open.flags = i < 3 ? ways[i] : 0;
        if (i < 3)
            cr_assert_eq(ggld_open_path(&file, path, &open, &err), GGLD_OK);
        else
            cr_assert_eq(ggld_open_memory(&file, data, size, &open, &err),
                         GGLD_OK);
        cr_assert_eq(hash_file(file, &options, &m, &err), GGLD_OK);
        char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &text_size);
        if (first == NULL) {
            first = strdup(text);
            first_size = text_size;
        }
        cr_expect(text_size == first_size && strcmp(text, first) == 0,
                  "way %zu: expected the manifest of the first way, got\n%s", i,
                  text);
        free(text);
        ggld_manifest_free(m);
        ggld_close(file);
    }
    free(first);
    free(data);
}

/* ---- data in another order than the table ---- */

static size_t put(uint8_t *to, const void *data, size_t n)
{
    memcpy(to, data, n);
    return n;
}

static size_t put_u64(uint8_t *to, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(v >> 8 * i);
    return n;
}

/* Version 3, two I8 tensors: "second" in front of "first". */
static size_t write_swapped(uint8_t *file)
{
    size_t n = put(file, "GGUF", 4);
    n += put_u64(file + n, 3, 4);
    n += put_u64(file + n, 2, 8);
    n += put_u64(file + n, 0, 8);
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "first" : "second";
        n += put_u64(file + n, strlen(name), 8);
        n += put(file + n, name, strlen(name));
        n += put_u64(file + n, 1, 4);
        n += put_u64(file + n, i == 0 ? 3 : 1, 8);
        n += put_u64(file + n, GGLD_TYPE_I8, 4);
        n += put_u64(file + n, i == 0 ? 32 : 0, 8);
    }
    n = (n + 31) / 32 * 32;
    file[n] = 'a';
    n += 32;
    n += put(file + n, "abc", 3);
    return n;
}

Test(digest, of_tensors_together_follows_the_table)
{
    uint8_t bytes[512] = { 0 };
    size_t size = write_swapped(bytes);
    ggld_manifest *m;
    ggld_hash_options options = hash_options(
        BIT_SHA256 | BIT_UUID,
        GGLD_SCOPE_FILE | GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS, "m");
    model_save(path, bytes, size);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK, "%s",
                 err.message);
    const char *got = digest_in(m, GGLD_SCOPE_TENSORS, GGLD_ALGO_UUID, "");
    cr_expect_str_eq(got, "38467026-ae4c-55a5-9c0e-45691b706bb3", "got %s",
                     got);
    got = digest_in(m, GGLD_SCOPE_TENSORS, GGLD_ALGO_SHA256, "");
    cr_expect_str_eq(
        got, "5c3f67b7fa84dfbe1118387cad14793929845a5bc7c0080c4d8309d37baa68d0",
        "got %s", got);
    got = digest_in(m, GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA256, "second");
    cr_expect_str_eq(
        got, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        "got %s", got);
    expect_digest(m, GGLD_SCOPE_FILE, GGLD_ALGO_SHA256, "", 0, size);
    ggld_manifest_free(m);
}

/* ---- requests that make no sense ---- */

Test(digest, refuses_what_makes_no_sense)
{
    static const struct {
        uint32_t algos, scopes, chunk_algo;
        uint64_t chunk_bytes;
        const char *says;
    } bad[] = {
        { 1u << 9, 0, 0, 0, "not known" },
        { 0, 1u << 9, 0, 0, "not known" },
        { BIT_UUID, GGLD_SCOPE_TENSOR, 0, 0, "together" },
        { BIT_UUID, GGLD_SCOPE_FILE | GGLD_SCOPE_TENSORS, 0, 0, "whole file" },
        { 0, 0, GGLD_ALGO_UUID, 0, "chunks" },
        { 0, 0, 17, 0, "chunks" },
        { 0, 0, 0, 5000, "power of two" },
        { 0, 0, 0, 2048, "power of two" },
    };
    model_write_abc(path);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ggld_manifest *m = NULL;
        ggld_hash_options options =
            hash_options(bad[i].algos, bad[i].scopes, "m");
        options.chunk_algo = bad[i].chunk_algo;
        options.chunk_bytes = bad[i].chunk_bytes;
        ggld_status status = hash_path(path, &options, &m, &err);
        cr_expect_eq(status, GGLD_E_INVALID, "row %zu: expected %s, got %s", i,
                     "GGLD_E_INVALID", ggld_status_name(status));
        cr_expect_not_null(strstr(err.message, bad[i].says),
                           "row %zu: expected '%s' in '%s'", i, bad[i].says,
                           err.message);
    }
}

Test(digest, names_and_text_go_both_ways)
{
    uint32_t algo;
    cr_expect(ggld_algo_from_name("SHA256", &algo) && algo == GGLD_ALGO_SHA256);
    cr_expect_not(ggld_algo_from_name("md5", &algo));
    cr_expect_null(ggld_algo_name(0));
    cr_expect_null(ggld_algo_name(6));
}

/* ---- of what need be no model ---- */

Test(digest, any_file_has_digests_of_all_of_it)
{
    static const struct {
        const char *text, *sha256, *sha1;
    } rows[] = {
        { "",
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
        { "abc",
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
          "a9993e364706816aba3e25717850c26c9cd0d89d" },
    };
    ggld_hash_options options = hash_options(BIT_SHA256 | BIT_SHA1, 0, "d/m");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ggld_manifest *m;
        ggld_manifest_entry e = { .struct_size = sizeof e };
        model_save(path, rows[i].text, strlen(rows[i].text));
        cr_assert_eq(hash_whole(path, &options, &m, &err), GGLD_OK, "%s",
                     err.message);
        cr_expect_str_eq(digest_in(m, GGLD_SCOPE_FILE, GGLD_ALGO_SHA256, ""),
                         rows[i].sha256);
        cr_expect_str_eq(digest_in(m, GGLD_SCOPE_FILE, GGLD_ALGO_SHA1, ""),
                         rows[i].sha1);
        cr_expect_eq(ggld_manifest_count(m), 2);
        cr_expect(ggld_manifest_at(m, 0, &e) && e.file.len == 3 &&
                      memcmp(e.file.data, "d/m", 3) == 0,
                  "expected the name d/m");
        ggld_manifest_free(m);
    }
}

Test(digest, whole_files_have_no_other_digests)
{
    static const struct {
        uint32_t flags, algos, scopes, chunk_algo;
        uint64_t chunk_bytes;
    } bad[] = {
        { GGLD_HASH_KEEP_CACHE, 0, 0, 0, 0 },
        { 0, BIT_UUID, 0, 0, 0 },
        { 0, 1u << 9, 0, 0, 0 },
        { 0, 0, GGLD_SCOPE_TENSOR, 0, 0 },
        { 0, 0, GGLD_SCOPE_FILE | GGLD_SCOPE_CHUNKS, 0, 0 },
        { 0, 0, 0, GGLD_ALGO_XXH3, 0 },
        { 0, 0, 0, 0, 4096 },
    };
    model_save(path, "abc", 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ggld_manifest *m;
        ggld_hash_options options =
            hash_options(bad[i].algos, bad[i].scopes, "m");
        options.flags = bad[i].flags;
        options.chunk_algo = bad[i].chunk_algo;
        options.chunk_bytes = bad[i].chunk_bytes;
        ggld_status status = hash_whole(path, &options, &m, &err);
        cr_expect_eq(status, GGLD_E_INVALID, "row %zu: expected %s, got %s", i,
                     "GGLD_E_INVALID", ggld_status_name(status));
    }
}
