/* SPDX-License-Identifier: MIT */
/* Manifests of other programs, read and written: llama-gguf-hash, sha256sum,
 * a bare digest, Git LFS. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"

static char *path;
static ggld_error err;

static void make_path(void)
{
    path = model_path("formats.gguf");
}

static void remove_path(void)
{
    unlink(path);
    free(path);
}

TestSuite(formats, .init = make_path, .fini = remove_path);

/* ---- llama-gguf-hash ---- */

static const char llama_lines[] =
    "xxh64     44bc2cf5ad770999  dir/m.gguf:t\n"
    "xxh3      78af5f94892f3950  dir/m.gguf:t\n"
    "sha1      a9993e364706816aba3e25717850c26c9cd0d89d  dir/m.gguf:t\n"
    "sha256    ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    "  dir/m.gguf:t\n"
    "xxh64     d24ec4f1a98c6e5b  dir/m.gguf:blk.0 x\n"
    "xxh3      e6c632b61e964e1f  dir/m.gguf:blk.0 x\n"
    "sha1      86f7e437faa5a7fce15d1ddcb9eaeaea377667b8  dir/m.gguf:blk.0 x\n"
    "sha256    ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    "  dir/m.gguf:blk.0 x\n"
    "xxh64     ef46db3751d8e999  dir/m.gguf:e:f\n"
    "xxh3      2d06800538d394c2  dir/m.gguf:e:f\n"
    "sha1      da39a3ee5e6b4b0d3255bfef95601890afd80709  dir/m.gguf:e:f\n"
    "sha256    e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    "  dir/m.gguf:e:f\n"
    "xxh64     55518fd490600b13  dir/m.gguf\n"
    "xxh3      7f19cb4037cc496f  dir/m.gguf\n"
    "sha1      d15d5ef94a4ac46a41c1b7a0c25ae6b84804c9fe  dir/m.gguf\n"
    "sha256    5c3f67b7fa84dfbe1118387cad14793929845a5bc7c0080c4d8309d37baa68d0"
    "  dir/m.gguf\n"
    "uuid      38467026-ae4c-55a5-9c0e-45691b706bb3  dir/m.gguf\n";

Test(formats, llama_byte_for_byte)
{
    size_t size;
    model_write_abc(path);
    ggld_manifest *m =
        hash_as(path, "dir/m.gguf",
                BIT_SHA256 | BIT_SHA1 | BIT_XXH3 | BIT_XXH64 | BIT_UUID,
                GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS);
    char *text = manifest_text(m, GGLD_MANIFEST_LLAMA, &size);
    cr_expect_str_eq(text, llama_lines, "expected\n%sgot\n%s", llama_lines,
                     text);
    free(text);
    ggld_manifest_free(m);
    /* The uuid comes only when it is asked for. */
    m = hash_as(path, "m", BIT_XXH64, GGLD_SCOPE_TENSORS);
    text = manifest_text(m, GGLD_MANIFEST_LLAMA, &size);
    cr_expect_str_eq(text, "xxh64     55518fd490600b13  m\n", "got\n%s", text);
    free(text);
    ggld_manifest_free(m);
}

/* The lines with another path in the place of dir/m.gguf. */
static char *llama_for(const char *other, const char *line_end)
{
    char *text = calloc(1, 8192);
    size_t len = 0;
    for (const char *p = llama_lines; *p != '\0';) {
        if (strncmp(p, "dir/m.gguf", 10) == 0) {
            len += (size_t)sprintf(text + len, "%s", other);
            p += 10;
        } else if (*p == '\n') {
            len += (size_t)sprintf(text + len, "%s", line_end);
            p++;
        } else {
            text[len++] = *p++;
        }
    }
    return text;
}

/* By full path, by base name, with CR LF, with names that have spaces and
 * colons, with a uuid. */
Test(formats, llama_lines_are_verified)
{
    static const char *const ends[] = { "\n", "\r\n" };
    char elsewhere[256];
    model_write_abc(path);
    snprintf(elsewhere, sizeof elsewhere, "some/where:else/%s",
             strrchr(path, '/') + 1);
    const char *const names[] = { path, strrchr(path, '/') + 1, elsewhere };
    for (size_t i = 0; i < 6; i++) {
        ggld_manifest *m;
        char *text = llama_for(names[i / 2], ends[i % 2]);
        cr_assert_eq(parse_text(&m, text, strlen(text), 0, &err), GGLD_OK, "%s",
                     err.message);
        expect_good(path, m, names[i / 2]);
        ggld_manifest_free(m);
        free(text);
    }
}

Test(formats, llama_wrong_uuid_is_a_mismatch)
{
    ggld_manifest *m;
    ggld_verify_report *report;
    char text[512];
    model_write_abc(path);
    int len =
        snprintf(text, sizeof text,
                 "uuid      38467026-ae4c-55a5-9c0e-45691b706bb4  %s\n", path);
    cr_assert_eq(parse_text(&m, text, (size_t)len, 0, &err), GGLD_OK);
    cr_assert_eq(verify_path(path, m, &report, &err), GGLD_OK, "%s",
                 err.message);
    cr_expect_not(ggld_verify_report_good(report), "got: %s",
                  ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
    ggld_manifest_free(m);
}

Test(formats, llama_lines_that_are_refused)
{
    expect_refused("xxh64     44bc2cf5ad770999  m:t\nmd5  00  m:t\n",
                   GGLD_E_STRING, "line 2: 'md5' is no digest's name");
    expect_refused("xxh64     44bc2cf5ad77099  m:t\n", GGLD_E_STRING,
                   "line 1: '44bc2cf5ad77099' is no xxh64 digest");
    expect_refused("xxh64     44bc2cf5ad770999 m:t\n", GGLD_E_STRING,
                   "line 1: two spaces");
    expect_refused("xxh64     44bc2cf5ad770999\n", GGLD_E_STRING,
                   "line 1: two spaces");
    expect_refused("xxh64     44bc2cf5ad770999  m:t", GGLD_E_TRUNCATED,
                   "line 1: cut");
    expect_refused("xxh64     44bc2cf5ad770999  m:t\n\n", GGLD_E_STRING,
                   "line 2: ");
    expect_refused("xxh64     44bc2cf5ad770999  m:t\n"
                   "xxh64     44bc2cf5ad770998  m:t\n",
                   GGLD_E_DUPLICATE, "line 2: xxh64 of name 'm:t' again");
}

Test(formats, llama_refuses_names_with_newlines)
{
    static const model_tensor tensors[] = {
        { .name = "a\nb", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 3 } },
    };
    char *text;
    size_t size;
    model_write(path, tensors, 1, 0);
    ggld_manifest *m = hash_as(path, "m", BIT_XXH64, GGLD_SCOPE_TENSOR);
    cr_expect_eq(
        ggld_manifest_write(m, GGLD_MANIFEST_LLAMA, &text, &size, &err),
        GGLD_E_STRING);
    cr_expect_not_null(strstr(err.message, "'a\\x0Ab'"), "got: %s",
                       err.message);
    ggld_manifest_free(m);
}

/* ---- sha256sum ---- */

Test(formats, sha256sum_takes_ours_and_we_its)
{
    char *folder = output_of("mktemp -d | tr -d '\\n'");
    free(path);
    cr_assert_gt(asprintf(&path, "%s/a b\\c\nd.gguf", folder), 0);
    model_write_abc(path);
    char *theirs = output_of("cd '%s' && sha256sum *", folder);
    ggld_manifest *m =
        hash_as(path, strrchr(path, '/') + 1, BIT_SHA256, GGLD_SCOPE_FILE);
    size_t size;
    char *ours = manifest_text(m, GGLD_MANIFEST_SHA256SUM, &size);
    cr_expect_str_eq(ours, theirs, "expected %s, got %s", theirs, ours);
    ggld_manifest_free(m);

    cr_assert_eq(parse_text(&m, theirs, strlen(theirs), 0, &err), GGLD_OK, "%s",
                 err.message);
    expect_good(path, m, "sha256sum's own");
    ggld_manifest_free(m);
    free(ours);
    free(theirs);
    remove_path();
    rmdir(folder);
    free(folder);
    make_path();
}

#define HEX0 "0000000000000000000000000000000000000000000000000000000000000000"

Test(formats, sha256sum_of_many_files_picks_ours)
{
    ggld_manifest *m;
    ggld_verify_report *report;
    char text[1024];
    model_write_abc(path);
    char *line = output_of("sha256sum -b '%s'", path);
    int len = snprintf(text, sizeof text, HEX0 "  other.gguf\n%s", line);
    cr_assert_eq(parse_text(&m, text, (size_t)len, 0, &err), GGLD_OK, "%s",
                 err.message);
    expect_good(path, m, "second line");
    ggld_manifest_free(m);
    /* Only of others. */
    cr_assert_eq(parse_text(&m, HEX0 "  other.gguf\n", 77, 0, &err), GGLD_OK,
                 "%s", err.message);
    cr_expect_eq(verify_path(path, m, &report, &err), GGLD_E_INVALID);
    cr_expect_not_null(strstr(err.message, "no digest of"), "got: %s",
                       err.message);
    ggld_manifest_free(m);
    /* Of two that it could be. */
    char *base = strrchr(path, '/') + 1;
    len = snprintf(text, sizeof text, HEX0 "  x/%s\n" HEX0 "  y/%s\n", base,
                   base);
    cr_assert_eq(parse_text(&m, text, (size_t)len, 0, &err), GGLD_OK);
    cr_expect_eq(verify_path(path, m, &report, &err), GGLD_E_INVALID);
    cr_expect_not_null(strstr(err.message, "both"), "got: %s", err.message);
    ggld_manifest_free(m);
    free(line);
}

Test(formats, sha256sum_lines_that_are_refused)
{
    expect_refused(HEX0 "  m\n" HEX0 "  m\n", GGLD_E_DUPLICATE, "line 2: ");
    expect_refused(HEX0 "  m\n0000  m\n", GGLD_E_STRING,
                   "line 2: '0000' is no sha256 digest");
    expect_refused(HEX0 " m\n", GGLD_E_STRING, "line 1: two spaces");
    expect_refused(HEX0 "  m\n" HEX0 "\n", GGLD_E_STRING, "line 2: two spaces");
    expect_refused("SHA256 (m) = " HEX0 "\nSHA1 (m) = " HEX0 "\n",
                   GGLD_E_STRING, "is no sha1 digest of a named file");
    expect_refused("SHA256 () = " HEX0 "\n", GGLD_E_STRING, "named file");
    expect_refused("MD5 (m) = d41d8cd98f00b204e9800998ecf8427e\n",
                   GGLD_E_UNSUPPORTED,
                   "m (sha256sum) line 1: 'MD5' digests are not known here");
    expect_refused("\\" HEX0 "  a\\x\n", GGLD_E_STRING, "backslash");
    expect_refused(HEX0 "  m\n\n", GGLD_E_STRING, "line 2: ");
}

/* ---- a digest, Git LFS ---- */

Test(formats, a_bare_digest_and_an_lfs_pointer)
{
    size_t size;
    model_write_abc(path);
    ggld_manifest *whole = hash_as(path, "m.gguf", BIT_SHA256, GGLD_SCOPE_FILE);
    for (uint32_t format = GGLD_MANIFEST_DIGEST; format <= GGLD_MANIFEST_LFS;
         format++) {
        ggld_manifest *m;
        ggld_manifest_info info = { .struct_size = sizeof info };
        char *text = manifest_text(whole, format, &size);
        cr_assert_eq(parse_text(&m, text, size, 0, &err), GGLD_OK, "%s",
                     err.message);
        ggld_manifest_get_info(m, &info);
        cr_expect_eq(info.format, format, "expected format %u, got %u", format,
                     info.format);
        expect_good(path, m, ggld_manifest_format_name(format));
        ggld_manifest_free(m);
        free(text);
    }
    char *expected = output_of(
        "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%%s\\n"
        "size %%s\\n' $(sha256sum <'%s' | cut -c1-64) $(stat -c %%s '%s')",
        path, path);
    char *text = manifest_text(whole, GGLD_MANIFEST_LFS, &size);
    cr_expect_str_eq(text, expected, "expected\n%sgot\n%s", expected, text);
    free(expected);
    free(text);
    ggld_manifest_free(whole);
}

#define LFS "version https://git-lfs.github.com/spec/v1\n"

Test(formats, pointers_that_are_refused)
{
    expect_refused("sha256:00\n", GGLD_E_STRING, "line 1: ");
    expect_refused("sha256:" HEX0 "\nmore\n", GGLD_E_STRING,
                   "line 2: 'more' behind");
    expect_refused(LFS "oid sha256:" HEX0 "\n", GGLD_E_STRING,
                   "'size BYTES' is wanted");
    expect_refused(LFS "oid sha1:" HEX0 "\nsize 1\n", GGLD_E_STRING,
                   "line 2: ");
    expect_refused(LFS "size 1\noid sha256:" HEX0 "\n", GGLD_E_STRING,
                   "line 2: ");
    expect_refused(LFS "ext-0-x sha256:" HEX0 "\noid sha256:" HEX0 "\nsize 1\n",
                   GGLD_E_UNSUPPORTED, "extension");
    expect_refused("version https://git-lfs.github.com/spec/v2\n",
                   GGLD_E_STRING, "line 1: ");
}

Test(formats, an_lfs_pointer_has_the_size_too)
{
    ggld_manifest *m;
    ggld_verify_report *report;
    ggld_verify_item item = { .struct_size = sizeof item };
    static const char text[] = LFS "oid sha256:" HEX0 "\nsize 77\n";
    model_write_abc(path);
    cr_assert_eq(parse_text(&m, text, strlen(text), 0, &err), GGLD_OK);
    cr_assert_eq(verify_path(path, m, &report, &err), GGLD_OK);
    cr_assert(ggld_verify_report_at(report, 0, &item));
    cr_expect_eq(item.verdict, GGLD_VERDICT_RESIZED);
    cr_expect_not_null(strstr(item.message, "expected 77 bytes"), "got: %s",
                       item.message);
    ggld_verify_report_free(report);
    ggld_manifest_free(m);
}

/* ---- unknown ---- */

Test(formats, what_is_no_manifest)
{
    expect_refused("", GGLD_E_TRUNCATED, "empty");
    expect_refused("hello\n", GGLD_E_MAGIC, "it starts with 'hello");
    ggld_manifest *m;
    cr_expect_eq(parse_text(&m, "sha256:\0x", 9, 0, &err), GGLD_E_STRING);
    cr_expect_not_null(strstr(err.message, "line 1: a NUL"), "got: %s",
                       err.message);
    cr_expect_eq(ggld_manifest_read(&m, "/nowhere/x.ggsum", 0, &err),
                 GGLD_E_IO);
    cr_expect_eq(ggld_manifest_read(&m, "/tmp", 0, &err), GGLD_E_MAGIC, "%s",
                 err.message);
}

/* ---- append ---- */

static char *sums_of(const char *prefix, int first, int n)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (int i = first; i < first + n; i++)
        fprintf(f, "%064x  %s%d\n", i + 1, prefix, i);
    fclose(f);
    return text;
}

static ggld_manifest *parsed(const char *text)
{
    ggld_manifest *m = NULL;
    cr_assert_eq(parse_text(&m, text, strlen(text), 0, &err), GGLD_OK, "%s",
                 err.message);
    return m;
}

static char *text_of(const ggld_manifest *m)
{
    size_t size;
    return manifest_text(m, GGLD_MANIFEST_SHA256SUM, &size);
}

static const struct {
    const char *what;
    const char *added;
    int first, n;
    ggld_status code;
} appends[] = {
    { "other files", "b", 0, 5, GGLD_OK },
    { "one that is there", "a", 2, 1, GGLD_E_DUPLICATE },
    { "many, the last of which is there", "a", -200, 203, GGLD_E_DUPLICATE },
    { "many others", "c", 0, 3000, GGLD_OK },
};

/* What is refused leaves no trace: the text, and what may still be added. */
Test(append, adds_all_or_nothing)
{
    char *first = sums_of("a", 0, 7), *expected = strdup(first);
    ggld_manifest *m = parsed(first);
    free(first);
    for (size_t i = 0; i < sizeof appends / sizeof appends[0]; i++) {
        char *more = sums_of(appends[i].added, appends[i].first, appends[i].n);
        ggld_manifest *other = parsed(more);
        ggld_status got = ggld_manifest_append(m, other, &err);
        cr_expect_eq(got, appends[i].code, "%s: expected %s, got %s: %s",
                     appends[i].what, ggld_status_name(appends[i].code),
                     ggld_status_name(got), err.message);
        if (appends[i].code == GGLD_OK) {
            char *both = NULL;
            cr_assert_gt(asprintf(&both, "%s%s", expected, more), 0, "memory");
            free(expected);
            expected = both;
        }
        char *text = text_of(m);
        cr_expect_str_eq(text, expected, "%s: got\n%s", appends[i].what, text);
        free(text);
        free(more);
        ggld_manifest_free(other);
    }
    cr_expect_eq(ggld_manifest_append(m, m, NULL), GGLD_E_DUPLICATE,
                 "itself is there already");
    char *text = text_of(m);
    cr_expect_str_eq(text, expected, "itself: got\n%s", text);
    free(text);
    free(expected);
    ggld_manifest_free(m);
}

/* ---- part by part ---- */

typedef struct parts {
    char *text;
    size_t size;
    size_t n, longest;
    size_t limit; /* parts that are taken */
} parts;

static bool take_part(void *user, const char *text, size_t size)
{
    parts *p = user;
    if (p->n++ == p->limit)
        return false;
    p->text = realloc(p->text, p->size + size + 1);
    memcpy(p->text + p->size, text, size);
    p->size += size;
    p->longest = size > p->longest ? size : p->longest;
    return true;
}

static const struct {
    uint32_t format;
    uint32_t scopes;
} written[] = {
    { GGLD_MANIFEST_GGSUM, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR |
                               GGLD_SCOPE_CHUNKS | GGLD_SCOPE_FILE },
    { GGLD_MANIFEST_GGSUM, GGLD_SCOPE_METADATA },
    { GGLD_MANIFEST_LLAMA, GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS },
    { GGLD_MANIFEST_SHA256SUM, GGLD_SCOPE_FILE },
    { GGLD_MANIFEST_DIGEST, GGLD_SCOPE_FILE },
    { GGLD_MANIFEST_LFS, GGLD_SCOPE_FILE },
    { GGLD_MANIFEST_IN_TOTO, GGLD_SCOPE_FILE },
};

/* The first is some hundred kilobytes of text. */
Test(formats, parts_are_the_text)
{
    model_write_llama(path, 8 << 20);
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        ggld_hash_options options =
            hash_options(BIT_SHA256, written[i].scopes, "m.gguf");
        ggld_manifest *m;
        parts p = { .limit = SIZE_MAX }, none = { .limit = 0 };
        size_t size;
        options.chunk_algo = GGLD_ALGO_SHA256;
        options.chunk_bytes = 4096;
        cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK, "%s",
                     err.message);
        char *text = manifest_text(m, written[i].format, &size);
        cr_assert_eq(
            ggld_manifest_write_to(m, written[i].format, take_part, &p, &err),
            GGLD_OK, "%s", err.message);
        cr_expect(p.size == size && memcmp(p.text, text, size) == 0,
                  "row %zu: expected the same %zu bytes, got %zu", i, size,
                  p.size);
        cr_expect_leq(p.longest, 70000, "row %zu: a part of %zu bytes", i,
                      p.longest);
        cr_expect_eq(ggld_manifest_write_to(m, written[i].format, take_part,
                                            &none, &err),
                     GGLD_E_CANCELLED, "row %zu: refused", i);
        cr_expect_eq(none.n, 1, "row %zu: asked %zu times", i, none.n);
        free(p.text);
        free(text);
        ggld_manifest_free(m);
    }
}
