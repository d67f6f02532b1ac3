/* SPDX-License-Identifier: MIT */
/* What holds for manifests of all formats: how lines end, that a text which was
 * cut at any byte is noticed, whose names are taken for the file's, and what
 * messages begin with. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static char *path;
static const char *base;
static ggld_error err;

static void make_path(void)
{
    path = model_path("texts.gguf");
    base = strrchr(path, '/') + 1;
    model_write_abc(path);
}

static void remove_path(void)
{
    unlink(path);
    free(path);
}

TestSuite(texts, .init = make_path, .fini = remove_path);

/* ---- one text of each format, of the file at path ---- */

static const struct {
    const char *name;
    uint32_t format, algos, scopes;
} kinds[] = {
    { "ggsum", GGLD_MANIFEST_GGSUM, BIT_SHA256, 0 },
    { "llama", GGLD_MANIFEST_LLAMA, BIT_XXH64 | BIT_SHA1,
      GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS },
    { "sha256sum", GGLD_MANIFEST_SHA256SUM, BIT_SHA256, GGLD_SCOPE_FILE },
    { "digest", GGLD_MANIFEST_DIGEST, BIT_SHA256, GGLD_SCOPE_FILE },
    { "lfs", GGLD_MANIFEST_LFS, BIT_SHA256, GGLD_SCOPE_FILE },
    { "in-toto", GGLD_MANIFEST_IN_TOTO, BIT_SHA256, GGLD_SCOPE_FILE },
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static char *text_of(size_t kind, const char *name, size_t *size)
{
    ggld_manifest *m =
        hash_as(path, name, kinds[kind].algos, kinds[kind].scopes);
    char *text = manifest_text(m, kinds[kind].format, size);
    ggld_manifest_free(m);
    return text;
}

typedef enum outcome { REFUSED, BAD, GOOD, NOTED } outcome;

/* Refused where it is read, or where it is held against the file; bad; good;
 * or good with a note on what is not covered that does not say noted. */
static outcome outcome_of(const char *text, size_t size, const char *noted)
{
    ggld_manifest *m;
    ggld_verify_report *report;
    ggld_verify_item item = { .struct_size = sizeof item };
    if (parse_text(&m, text, size, 0, &err) != GGLD_OK)
        return REFUSED;
    ggld_status status = verify_path(path, m, &report, &err);
    ggld_manifest_free(m);
    if (status != GGLD_OK)
        return REFUSED;
    outcome is = ggld_verify_report_good(report) ? GOOD : BAD;
    for (uint64_t i = 0; ggld_verify_report_at(report, i, &item); i++)
        if (is == GOOD && item.verdict == GGLD_VERDICT_UNCOVERED &&
            strstr(item.message, noted) != NULL)
            is = NOTED;
    ggld_verify_report_free(report);
    return is;
}

/* ---- cut ---- */

Test(texts, cut_at_any_byte_are_never_good_unnoticed)
{
    for (size_t k = 0; k < N_KINDS; k++) {
        size_t size;
        char *text = text_of(k, path, &size);
        bool closed = kinds[k].format == GGLD_MANIFEST_DIGEST ||
                      kinds[k].format == GGLD_MANIFEST_IN_TOTO;
        cr_expect_eq(outcome_of(text, size, "last line"), GOOD, "%s, whole: %s",
                     kinds[k].name, err.message);
        for (size_t n = 0; n < size; n++) {
            outcome is = outcome_of(text, n, "last line");
            /* But for the newline behind what closes itself. */
            outcome most = closed && n == size - 1 ? GOOD : BAD;
            cr_expect(is <= most || is == NOTED,
                      "%s, cut to %zu of %zu bytes: expected it to be noticed",
                      kinds[k].name, n, size);
        }
        free(text);
    }
}

/* A name that was cut to another's. */
Test(texts, cut_inside_a_name_is_refused)
{
    static const struct {
        const char *name, *format;
    } lines[] = {
        { "sha256sum", "sha256sum '%s' | tr -d '\\n'" },
        { "tag", "sha256sum --tag '%s' | tr -d '\\n'" },
        { "escaped", "sha256sum '%s' | sed 's/^/\\\\/' | tr -d '\\n'" },
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char command[256];
        ggld_manifest *m = NULL;
        snprintf(command, sizeof command, lines[i].format, path);
        char *text = output_of("%s", command);
        cr_expect_eq(parse_text(&m, text, strlen(text), 0, &err),
                     GGLD_E_TRUNCATED, "%s", lines[i].name);
        cr_expect_not_null(strstr(err.message, "line 1: cut: the last line has "
                                               "no newline"),
                           "%s: got: %s", lines[i].name, err.message);
        free(text);
    }
}

/* ---- CR LF ---- */

/* With a CR before newlines; of the first only, of all, of the last only. */
static char *with_crs(const char *text, size_t size, int which, size_t *out)
{
    char *crs = calloc(1, 2 * size + 1);
    size_t used = 0, line = 0, n_lines = 0;
    for (size_t i = 0; i < size; i++)
        n_lines += text[i] == '\n';
    for (size_t i = 0; i < size; i++) {
        bool end = text[i] == '\n';
        if (end && (which == 1 || (which == 0 && line == 0) ||
                    (which == 2 && line == n_lines - 1)))
            crs[used++] = '\r';
        line += end;
        crs[used++] = text[i];
    }
    *out = used;
    return crs;
}

Test(texts, all_lines_end_in_lf_or_all_in_cr_lf)
{
    for (size_t k = 0; k < N_KINDS; k++) {
        size_t size, n;
        char *text = text_of(k, base, &size);
        bool ggsum = kinds[k].format == GGLD_MANIFEST_GGSUM;
        bool json = kinds[k].format == GGLD_MANIFEST_IN_TOTO;
        bool one = kinds[k].format == GGLD_MANIFEST_DIGEST ||
                   kinds[k].format == GGLD_MANIFEST_SHA256SUM;
        for (int which = 0; which < 3; which++) {
            bool good = json || (!ggsum && (which == 1 || one));
            char *crs = with_crs(text, size, which, &n);
            outcome is = outcome_of(crs, n, "nothing");
            cr_expect_eq(is, good ? GOOD : REFUSED,
                         "%s, CRs %d: expected %s, got %d: %s", kinds[k].name,
                         which, good ? "good" : "a refusal", is,
                         is == REFUSED ? err.message : "");
            if (!good)
                cr_expect_not_null(strstr(err.message, "CR LF"),
                                   "%s, CRs %d: got: %s", kinds[k].name, which,
                                   err.message);
            free(crs);
        }
        free(text);
    }
}

/* ---- names ---- */

/* %b: the file's base name, %p: its path. */
static char *named(const char *pattern)
{
    char *name = calloc(1, 1024), *at = name;
    for (const char *p = pattern; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] == 'b')
            at += sprintf(at, "%s", base), p++;
        else if (p[0] == '%' && p[1] == 'p')
            at += sprintf(at, "%s", path), p++;
        else
            *at++ = *p;
    }
    return name;
}

/* Formats whose names are compared, and no more: any name whose last part is
 * the file's is its own. */
Test(texts, names_are_compared_by_path_or_else_by_base_name)
{
    static const struct {
        const char *name;
        outcome is;
    } names[] = {
        { "%p", GOOD },       { "%b", GOOD },
        { "./%b", GOOD },     { "some/where/%b", GOOD },
        { "/etc/%b", GOOD },  { "../d/%b", GOOD },
        { "../../%b", GOOD }, { "//a/./%b", GOOD },
        { "x%b", REFUSED },   { "%b.old", REFUSED },
        { "%b/x", REFUSED },  { "%b/", REFUSED },
        { "..", REFUSED },    { "/", REFUSED },
    };
    static const size_t formats[] = { 1, 2 };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t f = 0; f < 2; f++) {
            size_t size;
            char *name = named(names[i].name);
            char *text = text_of(formats[f], name, &size);
            outcome is = outcome_of(text, size, "nothing");
            cr_expect_eq(is, names[i].is, "%s, named %s: expected %d, got %d",
                         kinds[formats[f]].name, name, names[i].is, is);
            free(text);
            free(name);
        }
    }
}

#define HEX0 "0000000000000000000000000000000000000000000000000000000000000000"

/* Of two names the one that fits better counts: the other's digest is of
 * zeros. */
Test(texts, the_name_that_fits_best_counts)
{
    static const struct {
        const char *ours, *other;
        outcome is;
    } names[] = {
        { "%p", "%b", GOOD },
        { "%p", "/etc/%b", GOOD },
        { "%p", "./%p", GOOD },
        { "/./%p", "%b", GOOD },
        { "%b", "other/%b", GOOD },
        { "%b", "/%b", GOOD },
        { "other/%b", "%b", BAD },
        { "a/%b", "b/%b", REFUSED },
        { "../%b", "../../%b", REFUSED },
    };
    char *sum = output_of("sha256sum <'%s' | cut -c1-64 | tr -d '\\n'", path);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[2048];
        char *ours = named(names[i].ours), *other = named(names[i].other);
        int n = snprintf(text, sizeof text, "%s  %s\n" HEX0 "  %s\n", sum, ours,
                         other);
        outcome is = outcome_of(text, (size_t)n, "nothing");
        cr_expect_eq(is, names[i].is, "%s and %s: expected %d, got %d", ours,
                     other, names[i].is, is);
        free(ours);
        free(other);
    }
    free(sum);
}

/* ---- tags, and a digest alone ---- */

Test(texts, lines_with_a_tag_and_digits_alone_are_read)
{
    static const char *const commands[] = {
        "sha256sum --tag '%s'",
        "sha1sum --tag '%s'",
        "sha256sum --tag '%s'; sha1sum --tag '%s'",
        "sha256sum '%s'; sha1sum --tag '%s'",
        "sha256sum '%s' | cut -c1-64",
        "sha256sum '%s' | cut -c1-64 | tr -d '\\n' | sed s/^/sha256:/",
        "sha256sum '%s' | cut -c1-64 | tr a-f A-F",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[512];
        snprintf(command, sizeof command, commands[i], path, path);
        char *text = output_of("%s", command);
        cr_expect_eq(outcome_of(text, strlen(text), "nothing"), GOOD,
                     "%s: expected it to be good: %s", commands[i],
                     err.message);
        text[strcspn(text, "0123456789")] = 'x';
        cr_expect_neq(outcome_of(text, strlen(text), "nothing"), GOOD, "%s",
                      commands[i]);
        free(text);
    }
}

Test(texts, tags_of_xxhash_are_read)
{
    static const char *const tags[] = { "XXH64", "XXH3" };
    static const uint32_t algos[] = { GGLD_ALGO_XXH64, GGLD_ALGO_XXH3 };
    ggld_manifest *m;
    ggld_hash_options options =
        hash_options(BIT_XXH64 | BIT_XXH3, GGLD_SCOPE_FILE, base);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK, "%s",
                 err.message);
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        int n = snprintf(text, sizeof text, "%s (a) = b) = %s) = %s\n", tags[i],
                         "x", digest_in(m, GGLD_SCOPE_FILE, algos[i], ""));
        cr_expect_eq(outcome_of(text, (size_t)n, "nothing"), REFUSED);
        n = snprintf(text, sizeof text, "%s (%s) = %s\n", tags[i], base,
                     digest_in(m, GGLD_SCOPE_FILE, algos[i], ""));
        cr_expect_eq(outcome_of(text, (size_t)n, "nothing"), GOOD, "%s: %s",
                     text, err.message);
    }
    ggld_manifest_free(m);
}

/* ---- messages ---- */

Test(texts, messages_name_the_manifest_and_its_kind)
{
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        { "d/sums", HEX0 "  m\n0  n\n", "d/sums (sha256sum) line 2: " },
        { "m.llama", "xxh64  0\n", "m.llama line 1: " },
        { "m", "sha256:0", "m (digest) line 1: " },
        { "m", "version https://git-lfs.github.com/spec/v1\n", "m (lfs) line" },
        { "m", "{", "m (in-toto) line 1: " },
        { "a/m.ggsum", "ggsum 2\n", "a/m.ggsum line 1: " },
        { "m", "ggsum 2\n", "m (ggsum) line 1: " },
        { "what", "hello\n", "what: no manifest of a known kind" },
        { "a\nb", "hello\n", "a\\x0Ab: no manifest" },
        { "/a/very/long/path/of/folders/that/goes/on/and/on/and/on/and/on/"
          "until/it/is/cut/sums.txt",
          "ggsum 2\n", "/until/it/is/cut/sums.txt (ggsum) line 1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ggld_manifest *m;
        cr_expect_neq(ggld_manifest_parse(&m, rows[i].name, rows[i].text,
                                          strlen(rows[i].text), 0, &err),
                      GGLD_OK);
        cr_expect_not_null(strstr(err.message, rows[i].says),
                           "expected '%s' in '%s'", rows[i].says, err.message);
    }
}

Test(texts, messages_about_the_file_name_the_manifest_too)
{
    ggld_manifest *m;
    ggld_verify_report *report;
    static const char one[] = HEX0 "  x\n", two[] = HEX0 "  x\n" HEX0 "  y\n";
    static const struct {
        const char *text, *says;
    } rows[] = {
        { one, "m (sha256sum): no digest of " },
        { one, "(1 line is about other files)" },
        { two, "(2 lines are about other files)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(
            parse_text(&m, rows[i].text, strlen(rows[i].text), 0, &err),
            GGLD_OK);
        cr_expect_eq(verify_path(path, m, &report, &err), GGLD_E_INVALID);
        cr_expect_not_null(strstr(err.message, rows[i].says),
                           "expected '%s' in '%s'", rows[i].says, err.message);
        ggld_manifest_free(m);
    }
}
