/* SPDX-License-Identifier: MIT */
/* Large manifests, most of them about other files or of tensors that are not
 * there: read, and held against a small model, in time that grows with their
 * size and no faster. What is quadratic takes hours. Of 20 MB, so that the test
 * ends soon; with TEXT_BYTES of 100 MB each takes five times as long. */
#include <criterion/criterion.h>

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#define TEXT_BYTES (20u << 20)
/* A statement has 32 MiB at most. */
#define STATEMENT_BYTES (20u << 20)
/* Of the processor's time, not of the clock's; sanitizers and emulators too. */
#define LIMIT_SECONDS 300

static char *path;
static const char *base;
static ggld_error err;

static void make_path(void)
{
    path = model_path("large.gguf");
    base = strrchr(path, '/') + 1;
    model_write_abc(path);
}

static void remove_path(void)
{
    unlink(path);
    free(path);
}

TestSuite(large, .init = make_path, .fini = remove_path, .timeout = 600);

/* ---- texts ---- */

typedef struct text {
    char *data;
    size_t size;
} text;

static void put(text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->size += (size_t)vsprintf(t->data + t->size, format, args);
    va_end(args);
}

static text begin(void)
{
    text t = { malloc(TEXT_BYTES + 4096), 0 };
    cr_assert_not_null(t.data);
    return t;
}

#define HEX16 "0000000000000000"
#define HEX64 HEX16 HEX16 HEX16 HEX16

static void put_sha256(text *t, const void *data, size_t size)
{
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    cr_assert(EVP_Digest(data, size, hash, &n, EVP_sha256(), NULL));
    for (unsigned i = 0; i < n; i++)
        put(t, "%02x", hash[i]);
}

static void sums(text *t)
{
    for (unsigned i = 0; t->size < TEXT_BYTES; i++)
        put(t, HEX64 "  folder/file-%u.gguf\n", i);
}

static void tags(text *t)
{
    for (unsigned i = 0; t->size < TEXT_BYTES; i++)
        put(t, "XXH64 (folder/file-%u.gguf) = " HEX16 "\n", i);
}

static void one_base_name(text *t)
{
    for (unsigned i = 0; t->size < TEXT_BYTES; i++)
        put(t, HEX64 "  folder-%u/%s\n", i, base);
}

static void tensors_of_others(text *t)
{
    for (unsigned i = 0; t->size < TEXT_BYTES; i++)
        put(t, "xxh64     " HEX16 "  other.gguf:t%u\n", i);
}

/* With one that is there, as it would be another model's else. */
static void tensors_of_ours(text *t)
{
    put(t, "xxh64     " HEX16 "  %s:t\n", base);
    for (unsigned i = 0; t->size < TEXT_BYTES; i++)
        put(t, "xxh64     " HEX16 "  %s:t%u\n", base, i);
}

/* In one line, where any colon could be the one. */
static void colons(text *t)
{
    put(t, "xxh64     " HEX16 "  ");
    while (t->size < TEXT_BYTES)
        t->data[t->size++] = ':';
    put(t, "\n");
}

static void slashes_and_colons(text *t)
{
    put(t, "xxh64     " HEX16 "  ");
    for (unsigned i = 0; t->size < TEXT_BYTES / 2; i++)
        t->data[t->size++] = '/';
    while (t->size < TEXT_BYTES)
        put(t, "%s:", base);
    put(t, "\n");
}

static void ggsum(text *t)
{
    const unsigned count = TEXT_BYTES / 64;
    put(t, "ggsum 1\nfile m\nsize 32\nmetadata 32\ntensors %u\n", count);
    put(t, "tensor t i8 3 xxh64:" HEX16 "\n");
    for (unsigned i = 1; i < count; i++)
        put(t, "tensor t%08u i8 1x2x3x4 xxh64:" HEX16 "\n", i);
    size_t body = t->size;
    put(t, "end sha256:");
    put_sha256(t, t->data, body);
    put(t, "\n");
}

static void digest_and_more(text *t)
{
    put(t, "sha256:" HEX64 "\n");
    while (t->size < TEXT_BYTES)
        put(t, "\n");
}

static void pointer_and_more(text *t)
{
    put(t, "version https://git-lfs.github.com/spec/v1\noid sha256:" HEX64
           "\nsize 1\n");
    while (t->size < TEXT_BYTES)
        put(t, "size 1\n");
}

static void statement(text *t)
{
    uint8_t *zeros = calloc(STATEMENT_BYTES / 64, 32);
    unsigned n = 0;
    put(t, "{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicateType\":"
           "\"https://model_signing/signature/v1.0\",\"predicate\":{"
           "\"serialization\":{\"method\":\"files\",\"hash_type\":\"sha256\"},"
           "\"resources\":[");
    for (; t->size < STATEMENT_BYTES; n++)
        put(t,
            "%s{\"name\":\"f%08u\",\"algorithm\":\"sha256\",\"digest\":\"" HEX64
            "\"}",
            n == 0 ? "" : ",", n);
    put(t, "]},\"subject\":[{\"name\":\"m\",\"digest\":{\"sha256\":\"");
    put_sha256(t, zeros, 32u * n);
    put(t, "\"}}]}");
    free(zeros);
}

/* ---- their use ---- */

/* What is said of it in the end: the refusal, or the report. */
static const char *verdict_of(const text *t)
{
    static char says[GGLD_MESSAGE_MAX];
    ggld_manifest *m;
    ggld_verify_report *report;
    if (parse_text(&m, t->data, t->size, 0, &err) != GGLD_OK)
        return err.message;
    ggld_status status = verify_path(path, m, &report, &err);
    ggld_manifest_free(m);
    if (status != GGLD_OK)
        return err.message;
    snprintf(says, sizeof says, "%s", ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
    return says;
}

static const struct {
    const char *name;
    void (*fill)(text *t);
    const char *says;
} rows[] = {
    { "sums", sums, "lines are about other files)" },
    { "tags", tags, "lines are about other files)" },
    { "one base name", one_base_name, "could be this file" },
    { "tensors of others", tensors_of_others, "lines are about other files)" },
    { "tensors of ours", tensors_of_ours, "more)" },
    { "colons", colons, "(1 line is about other files)" },
    { "slashes and colons", slashes_and_colons, "" },
    { "ggsum", ggsum, "more)" },
    { "digest and more", digest_and_more, "behind what must be the last line" },
    { "pointer and more", pointer_and_more, "behind what must be the last" },
    { "statement", statement, "lines are about other files)" },
};

Test(large, manifests_are_read_and_compared_in_time)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text t = begin();
        rows[i].fill(&t);
        clock_t started = clock();
        const char *says = verdict_of(&t);
        double seconds = (double)(clock() - started) / CLOCKS_PER_SEC;
        cr_expect_not_null(strstr(says, rows[i].says),
                           "%s: expected '%s' in '%s'", rows[i].name,
                           rows[i].says, says);
        cr_expect_lt(seconds, LIMIT_SECONDS, "%s: %f s", rows[i].name, seconds);
        if (getenv("GGLD_TELL") != NULL)
            fprintf(stderr, "%-20s %6.2f s  %s\n", rows[i].name, seconds, says);
        free(t.data);
    }
}
