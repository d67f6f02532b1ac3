/* SPDX-License-Identifier: MIT */
/* A model four times as large as the memory that the process may use: hashed in
 * each way and compared, without being killed, in little memory, and with the
 * digests that libcrypto has of the same bytes. Its data is not zeros. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "../jobs/check.h"
#include "../jobs/limited.h"
#include "../jobs/memory.h"
#include "support.h"

#define LIMIT_BYTES (64u << 20)
/* What integrity.h promises for any machine. */
#define MOST_ANON_BYTES (64u << 20)

static ggld_error err;
static uint64_t most_anon_bytes;

static void look(ggld_job *job, uint64_t done, uint64_t total, void *user)
{
    uint64_t now = memory_anon();
    (void)job, (void)done, (void)total, (void)user;
    most_anon_bytes = now > most_anon_bytes ? now : most_anon_bytes;
}

/* ---- libcrypto's digests ---- */

static void sha256_of(int fd, uint64_t from, uint64_t size,
                      char out[GGLD_DIGEST_TEXT_MAX])
{
    static uint8_t buffer[256 << 10];
    ggld_digest digest = { GGLD_ALGO_SHA256, 32, { 0 } };
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    for (uint64_t at = 0; at < size && good;) {
        uint64_t left = size - at;
        ssize_t n =
            pread(fd, buffer, left < sizeof buffer ? left : sizeof buffer,
                  (off_t)(from + at));
        good = n > 0 && EVP_DigestUpdate(context, buffer, (size_t)n) == 1;
        at += good ? (uint64_t)n : 0;
    }
    good = good && EVP_DigestFinal_ex(context, digest.bytes, NULL) == 1;
    CHECK(good, "the test's own digest of %llu bytes at %llu",
          (unsigned long long)size, (unsigned long long)from);
    EVP_MD_CTX_free(context);
    ggld_digest_text(&digest, out);
}

typedef char digest_text[GGLD_DIGEST_TEXT_MAX];

typedef struct reference {
    digest_text whole;
    digest_text *tensors; /* in table order */
} reference;

static reference reference_of(const char *path)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_tensor_info tensor = { .struct_size = sizeof tensor };
    ggld_file *file;
    reference r = { "", NULL };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (ggld_open_path(&file, path, NULL, &err) != GGLD_OK)
        abort();
    uint64_t n = ggld_tensor_count(file);
    r.tensors = calloc((size_t)n, sizeof *r.tensors);
    if (r.tensors == NULL)
        abort();
    ggld_file_get_info(file, &info);
    sha256_of(fd, 0, info.file_bytes, r.whole);
    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_get_info(ggld_tensor_at(file, i), &tensor);
        sha256_of(fd, tensor.file_offset_bytes, tensor.size_bytes,
                  r.tensors[i]);
    }
    ggld_close(file);
    close(fd);
    return r;
}

static void expect_digest(const ggld_manifest *m, const char *what,
                          uint32_t scope, const char *name,
                          const char *expected)
{
    const char *got = digest_in(m, scope, GGLD_ALGO_SHA256, name);
    CHECK(strcmp(got, expected) == 0, "%s: expected %s of '%s', got '%s'", what,
          expected, name, got);
}

static void expect_digests(const ggld_manifest *m, const char *what,
                           const reference *r, const ggld_file *file,
                           uint32_t scopes)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    uint64_t n =
        (scopes & GGLD_SCOPE_TENSOR) != 0 ? ggld_tensor_count(file) : 0;
    char name[64];
    if ((scopes & GGLD_SCOPE_FILE) != 0)
        expect_digest(m, what, GGLD_SCOPE_FILE, "", r->whole);
    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_get_info(ggld_tensor_at(file, i), &info);
        snprintf(name, sizeof name, "%.*s", (int)info.name.len, info.name.data);
        expect_digest(m, what, GGLD_SCOPE_TENSOR, name, r->tensors[i]);
    }
}

/* ---- hash ---- */

#define APART (GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS)

static const struct {
    const char *what;
    uint32_t scopes, flags;
} ways[] = {
    { "tensors and chunks", APART, 0 },
    { "one chain too, the page cache as it was", APART | GGLD_SCOPE_FILE,
      GGLD_HASH_KEEP_CACHE },
};

/* The last way's manifest is the caller's. */
static ggld_manifest *hash_each_way(ggld_file *file, const reference *r)
{
    ggld_manifest *m = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        ggld_hash_options options =
            hash_options(BIT_SHA256, ways[i].scopes, "m");
        options.flags = ways[i].flags;
        options.progress = look;
        ggld_manifest_free(m);
        m = NULL;
        CHECK_OK(hash_file(file, &options, &m, &err), err, ways[i].what);
        if (m != NULL)
            expect_digests(m, ways[i].what, r, file, ways[i].scopes);
    }
    return m;
}

/* As of a file that is no model. */
static void hash_as_bytes(const char *path, const ggld_file *file,
                          const reference *r)
{
    ggld_manifest *m = NULL;
    ggld_hash_options options = hash_options(BIT_SHA256, 0, "m");
    options.progress = look;
    MUST(hash_whole(path, &options, &m, &err), err);
    expect_digests(m, "as bytes", r, file, GGLD_SCOPE_FILE);
    ggld_manifest_free(m);
}

/* ---- verify ---- */

static void verify(ggld_file *file, const ggld_manifest *m)
{
    ggld_verify_report *report;
    ggld_verify_options options = ggld_verify_options_init();
    options.progress = look;
    MUST(verify_file(file, m, &options, &report, &err), err);
    CHECK(ggld_verify_report_good(report) &&
              ggld_verify_report_complete(report),
          "expected good, and complete, got: %s",
          ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
}

typedef struct subject {
    const char *path;
    reference r;
} subject;

static int go_through(const void *arg)
{
    const subject *s = arg;
    ggld_file *file;
    ggld_file_info info = { .struct_size = sizeof info };
    if (ggld_open_path(&file, s->path, NULL, &err) != GGLD_OK)
        return 98;
    ggld_file_get_info(file, &info);
    CHECK(info.file_bytes >= 4 * (uint64_t)LIMIT_BYTES,
          "expected a file of four limits, got %llu bytes",
          (unsigned long long)info.file_bytes);
    ggld_manifest *m = hash_each_way(file, &s->r);
    hash_as_bytes(s->path, file, &s->r);
    if (m != NULL)
        verify(file, m);
    printf("most anonymous memory: %llu KiB\n",
           (unsigned long long)most_anon_bytes >> 10);
    CHECK(most_anon_bytes != 0 && most_anon_bytes < MOST_ANON_BYTES,
          "expected less than %u bytes of anonymous memory, got %llu",
          MOST_ANON_BYTES, (unsigned long long)most_anon_bytes);
    ggld_manifest_free(m);
    ggld_close(file);
    return n_failed != 0;
}

int main(void)
{
    cgroup group;
    uint64_t peak;
    if (!limited_make(&group, LIMIT_BYTES))
        return 77;
    setenv("TMPDIR", "/var/tmp", 0); /* on a disk where /tmp may be memory */
    char *path = model_path("larger.gguf");
    model_write_llama(path, 4 * LIMIT_BYTES);
    /* While it is in the page cache still, which is not the group's. */
    subject s = { path, reference_of(path) };
    memory_chill(path);
    limited_run(&group, go_through, &s, &peak);
    CHECK(peak == 0 || peak > LIMIT_BYTES / 2,
          "expected the file's pages to be counted, got %llu bytes",
          (unsigned long long)peak);
    free(s.r.tensors);
    unlink(path);
    free(path);
    return n_failed != 0;
}
