/* SPDX-License-Identifier: MIT */
/* Digests of a set: made and compared shard by shard, verified on access, in
 * full and once. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ggld/ggld.h>
#include <ggld/integrity.h>

#include "../jobs/check.h"
#include "shards.h"

#define N_ELEMS 3000u

typedef struct made {
    ggld_manifest *manifest;
    ggld_verify_report *report;
    ggld_error result;
    uint64_t done_bytes, total_bytes;
} made;

static void on_hashed(ggld_job *job, ggld_manifest *manifest,
                      const ggld_error *result, void *user)
{
    made *m = user;
    (void)job;
    m->manifest = manifest;
    m->result = *result;
}

static void on_verified(ggld_job *job, ggld_verify_report *report,
                        const ggld_error *result, void *user)
{
    made *m = user;
    (void)job;
    m->report = report;
    m->result = *result;
}

static void on_progress(ggld_job *job, uint64_t done_bytes,
                        uint64_t total_bytes, void *user)
{
    made *m = user;
    (void)job;
    m->done_bytes = done_bytes;
    m->total_bytes = total_bytes;
}

static ggld_file *open_set(const char *path)
{
    ggld_file *file = NULL;
    ggld_error err = { .message = "" };
    if (ggld_open_path(&file, path, NULL, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    return file;
}

static void hash_with(ggld_file *file, const ggld_hash_options *options,
                      made *out)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    memset(out, 0, sizeof *out);
    uv_loop_init(&loop);
    MUST(ggld_hash_start(&job, &loop, file, options, on_hashed, out, &err),
         err);
    loop_finish(&loop, "hash");
}

static void hash(ggld_file *file, uint32_t scopes, made *out)
{
    ggld_hash_options options = ggld_hash_options_init();
    options.scopes = scopes;
    options.name = "models/set.gguf";
    options.progress = on_progress;
    hash_with(file, &options, out);
}

static void verify(ggld_file *file, const ggld_manifest *manifest, made *out)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    memset(out, 0, sizeof *out);
    uv_loop_init(&loop);
    MUST(ggld_verify_start(&job, &loop, file, manifest, NULL, on_verified, out,
                           &err),
         err);
    loop_finish(&loop, "verify");
}

static bool is_text(ggld_string s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

/* Of its own the same digests come. */
static void expect_same_as_alone(const ggld_manifest *of_set, const shards *set)
{
    ggld_manifest_entry e = { .struct_size = sizeof e };
    uint64_t n_found = 0;
    for (uint32_t s = 0; s < 3; s++) {
        ggld_open_options single = ggld_open_options_init();
        ggld_file *file = NULL;
        made alone;
        single.flags = GGLD_OPEN_SINGLE;
        CHECK(ggld_open_path(&file, shards_path(set, s), &single, NULL) ==
                  GGLD_OK,
              "open");
        hash(file, GGLD_SCOPE_FILE | GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR,
             &alone);
        for (uint64_t i = 0; ggld_manifest_at(alone.manifest, i, &e); i++)
            for (uint64_t k = 0; k < ggld_manifest_count(of_set); k++) {
                ggld_manifest_entry of = { .struct_size = sizeof of };
                (void)ggld_manifest_at(of_set, k, &of);
                n_found += of.scope == e.scope &&
                           memcmp(&of.digest, &e.digest, sizeof e.digest) == 0;
            }
        ggld_manifest_free(alone.manifest);
        ggld_close(file);
    }
    CHECK(n_found == ggld_manifest_count(of_set), "%llu of %llu are the same",
          (unsigned long long)n_found,
          (unsigned long long)ggld_manifest_count(of_set));
}

static void test_a_set_is_hashed_shard_by_shard(const shards *set)
{
    ggld_file *file = open_set(shards_path(set, 1));
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest_entry e = { .struct_size = sizeof e };
    made m;
    hash(file, GGLD_SCOPE_FILE | GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, &m);
    CHECK(m.result.code == GGLD_OK, "%s", m.result.message);
    if (m.manifest == NULL)
        return;
    ggld_manifest_get_info(m.manifest, &info);
    CHECK(info.n_files == 3 && info.n_chunks == 0, "%llu files",
          (unsigned long long)info.n_files);
    CHECK(ggld_manifest_count(m.manifest) == 3 + 3 + 5, "%llu entries",
          (unsigned long long)ggld_manifest_count(m.manifest));
    CHECK(m.done_bytes == m.total_bytes && m.total_bytes != 0,
          "%llu of %llu bytes", (unsigned long long)m.done_bytes,
          (unsigned long long)m.total_bytes);
    for (uint64_t i = 0; ggld_manifest_at(m.manifest, i, &e); i++)
        if (e.scope == GGLD_SCOPE_TENSOR && is_text(e.name, "c"))
            CHECK(is_text(e.file, "models/m-00002-of-00003.gguf"), "%.*s",
                  (int)e.file.len, e.file.data);
    expect_same_as_alone(m.manifest, set);
    ggld_manifest_free(m.manifest);

    hash(file, 0, &m);
    CHECK(ggld_manifest_count(m.manifest) == 3 + 5, "%s", m.result.message);
    ggld_manifest_free(m.manifest);
    ggld_close(file);
}

/* Byte 0 of tensor "e" of the third shard is another, or what it was. */
static void spoil(const shards *set, ggld_file *file, bool back)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(ggld_tensor_find(file, "e"), &info);
    FILE *f = fopen(shards_path(set, 2), "r+b");
    float first = shards_value(2, 1, 0);
    uint8_t byte = 0;
    fseek(f, (long)info.file_offset_bytes, SEEK_SET);
    memcpy(&byte, (uint8_t *)&first + 3, 1); /* big-endian's first */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(&byte, &first, 1);
#endif
    fputc(back ? byte : byte ^ 1, f);
    fclose(f);
}

static bool is_about_third(const char *message)
{
    return strstr(message, "m-00003-of-00003.gguf") != NULL;
}

static void test_a_set_is_verified_in_one_report(const shards *set)
{
    ggld_file *file = open_set(shards_path(set, 0));
    ggld_verify_item item = { .struct_size = sizeof item };
    made m, v;
    hash(file, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, &m);
    verify(file, m.manifest, &v);
    CHECK(v.result.code == GGLD_OK && ggld_verify_report_good(v.report) &&
              ggld_verify_report_count(v.report) == 8,
          "%s", v.result.message);
    ggld_verify_report_free(v.report);

    spoil(set, file, false);
    verify(file, m.manifest, &v);
    CHECK(v.report != NULL && !ggld_verify_report_good(v.report) &&
              is_about_third(ggld_verify_report_summary(v.report)),
          "%s", ggld_verify_report_summary(v.report));
    uint64_t n_bad = 0;
    for (uint64_t i = 0; ggld_verify_report_at(v.report, i, &item); i++)
        if (item.verdict != GGLD_VERDICT_SAME) {
            n_bad++;
            CHECK(item.shard == 2 && is_text(item.name, "e") &&
                      is_about_third(item.message),
                  "shard %u: %s", item.shard, item.message);
        }
    CHECK(n_bad == 1, "%llu bad", (unsigned long long)n_bad);
    ggld_verify_report_free(v.report);
    spoil(set, file, true);

    /* Of one shard only. */
    made one;
    ggld_file *shard = (ggld_file *)(uintptr_t)ggld_file_shard(file, 1);
    hash(shard, GGLD_SCOPE_FILE, &one);
    verify(shard, one.manifest, &v);
    CHECK(v.result.code == GGLD_OK && ggld_verify_report_good(v.report), "%s",
          v.result.message);
    ggld_verify_report_free(v.report);
    verify(file, one.manifest, &v);
    ggld_verify_report_free(v.report);
    char *text;
    size_t size;
    ggld_error err;
    ggld_manifest *sums = NULL;
    CHECK(ggld_manifest_write(one.manifest, GGLD_MANIFEST_SHA256SUM, &text,
                              &size, &err) == GGLD_OK &&
              ggld_manifest_parse(&sums, "sums", text, size,
                                  GGLD_MANIFEST_SHA256SUM, &err) == GGLD_OK,
          "%s", err.message);
    verify(file, sums, &v);
    CHECK(v.result.code == GGLD_E_INVALID && v.report == NULL &&
              v.result.shard == 0,
          "%s", v.result.message);
    free(text);
    ggld_manifest_free(sums);
    ggld_manifest_free(one.manifest);
    ggld_manifest_free(m.manifest);
    ggld_close(file);
}

static ggld_status read_tensor(const ggld_file *file, const char *name,
                               ggld_error *err)
{
    float values[N_ELEMS];
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, name));
    return ggld_view_read_f32(&view, values, N_ELEMS, err);
}

static ggld_status open_verified(ggld_file **file, const shards *set,
                                 const ggld_manifest *manifest, uint32_t mode,
                                 const ggld_verify_cache *cache,
                                 ggld_error *err)
{
    ggld_verifier_options how = ggld_verifier_options_init();
    how.mode = mode;
    return ggld_open_verified(file, shards_path(set, 0), manifest, &how, cache,
                              NULL, err);
}

static void test_a_set_is_verified_on_access_and_in_full(const shards *set)
{
    ggld_file *plain = open_set(shards_path(set, 0)), *file = NULL;
    ggld_error err = { .message = "" };
    made m;
    hash(plain, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, &m);
    for (uint32_t mode = GGLD_VERIFY_ON_ACCESS; mode <= GGLD_VERIFY_FULL;
         mode++) {
        MUST(open_verified(&file, set, m.manifest, mode, NULL, &err), err);
        CHECK(ggld_tensor_count(file) == 5, "the set");
        for (uint64_t i = 0; i < 5; i++) {
            static const char *const names[] = { "a", "b", "c", "d", "e" };
            CHECK(read_tensor(file, names[i], &err) == GGLD_OK, "mode %u: %s",
                  mode, err.message);
        }
        ggld_close(file);
    }
    spoil(set, plain, false);
    file = NULL;
    CHECK(open_verified(&file, set, m.manifest, GGLD_VERIFY_FULL, NULL, &err) ==
                  GGLD_E_CHECKSUM &&
              file == NULL && err.shard == 2 && is_about_third(err.message),
          "%s", err.message);
    MUST(open_verified(&file, set, m.manifest, GGLD_VERIFY_ON_ACCESS, NULL,
                       &err),
         err);
    CHECK(read_tensor(file, "d", &err) == GGLD_OK, "%s", err.message);
    CHECK(read_tensor(file, "e", &err) == GGLD_E_CHECKSUM && err.shard == 2,
          "shard %u: %s", err.shard, err.message);
    ggld_close(file);

    /* As a verifier that an app gives to open by itself. */
    ggld_verifier_options how = ggld_verifier_options_init();
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier v;
    how.mode = GGLD_VERIFY_FULL;
    how.path = shards_path(set, 1);
    MUST(ggld_verifier_from_manifest(&v, m.manifest, &how, &err), err);
    options.verifier = &v;
    MUST(ggld_open_path(&file, shards_path(set, 1), &options, &err), err);
    CHECK(read_tensor(file, "a", &err) == GGLD_E_CHECKSUM, "%s", err.message);
    ggld_close(file);
    spoil(set, plain, true);

    /* A manifest of one file has nothing to say of three. */
    made one;
    hash((ggld_file *)(uintptr_t)ggld_file_shard(plain, 0), 0, &one);
    CHECK(open_verified(&file, set, one.manifest, GGLD_VERIFY_ON_ACCESS, NULL,
                        &err) == GGLD_E_INVALID,
          "%s", err.message);
    ggld_manifest_free(one.manifest);
    ggld_manifest_free(m.manifest);
    ggld_close(plain);
}

/* Of each shard by itself, put together: the chunks too. */
static ggld_manifest *appended(ggld_file *set)
{
    ggld_manifest *all = NULL;
    ggld_error err;
    for (uint32_t i = 0; i < 3; i++) {
        ggld_file *shard = (ggld_file *)(uintptr_t)ggld_file_shard(set, i);
        ggld_hash_options options = ggld_hash_options_init();
        made m;
        options.scopes = GGLD_SCOPE_METADATA | GGLD_SCOPE_CHUNKS;
        options.chunk_bytes = 4096;
        options.name = ggld_file_path(shard);
        hash_with(shard, &options, &m);
        if (all == NULL) {
            all = m.manifest;
            continue;
        }
        CHECK(ggld_manifest_append(all, m.manifest, &err) == GGLD_OK, "%s",
              err.message);
        ggld_manifest_free(m.manifest);
    }
    return all;
}

/* No tensor has a digest here: what is found is found by chunks. */
static void test_chunks_of_each_shard_are_kept(const shards *set)
{
    ggld_file *plain = open_set(shards_path(set, 0)), *file = NULL;
    ggld_error err = { .message = "" };
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest *all = appended(plain);
    made v;
    ggld_manifest_get_info(all, &info);
    CHECK(info.n_files == 3 && info.n_chunks == 0 && info.root.algo == 0,
          "%llu files, %llu chunks", (unsigned long long)info.n_files,
          (unsigned long long)info.n_chunks);
    verify(plain, all, &v);
    CHECK(v.report != NULL && ggld_verify_report_good(v.report) &&
              strstr(ggld_verify_report_summary(v.report), "chunks") != NULL,
          "%s", v.result.message);
    ggld_verify_report_free(v.report);
    for (int bad = 0; bad < 2; bad++) {
        if (bad)
            spoil(set, plain, false);
        MUST(open_verified(&file, set, all, GGLD_VERIFY_ON_ACCESS, NULL, &err),
             err);
        CHECK(read_tensor(file, "a", &err) == GGLD_OK, "%s", err.message);
        ggld_status status = read_tensor(file, "e", &err);
        CHECK(status == (bad ? GGLD_E_CHECKSUM : GGLD_OK) &&
                  (!bad || err.shard == 2),
              "bad %d: %s, shard %u: %s", bad, ggld_status_name(status),
              err.shard, err.message);
        ggld_close(file);
    }
    spoil(set, plain, true);
    ggld_manifest_free(all);
    ggld_close(plain);
}

/* It would leave the other shards to whoever made the manifest. */
static void test_a_root_is_of_one_file(const shards *set)
{
    ggld_file *plain = open_set(shards_path(set, 0)), *file = NULL;
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_verifier_options how = ggld_verifier_options_init();
    ggld_error err = { .message = "" };
    ggld_manifest *all = appended(plain);
    made one;
    ggld_hash_options options = ggld_hash_options_init();
    options.scopes = GGLD_SCOPE_METADATA | GGLD_SCOPE_CHUNKS;
    options.chunk_bytes = 4096;
    hash_with((ggld_file *)(uintptr_t)ggld_file_shard(plain, 0), &options,
              &one);
    ggld_manifest_get_info(one.manifest, &info);
    how.root = &info.root;
    ggld_status status = ggld_open_verified(&file, shards_path(set, 0), all,
                                            &how, NULL, NULL, &err);
    CHECK(status == GGLD_E_UNSUPPORTED && file == NULL,
          "expected GGLD_E_UNSUPPORTED, got %s: %s", ggld_status_name(status),
          err.message);
    ggld_manifest_free(one.manifest);
    ggld_manifest_free(all);
    ggld_close(plain);
}

static void test_a_set_is_verified_once(const shards *set)
{
    ggld_file *plain = open_set(shards_path(set, 0)), *file = NULL;
    ggld_verify_cache *cache = NULL;
    ggld_manifest *sums = NULL;
    ggld_error err = { .message = "" };
    char folder[] = "/tmp/ggld-cache-XXXXXX", command[64];
    char *text;
    size_t size;
    made m;

    /* A change that is a moment old is doubtful. */
    struct timespec moment = { 0, 200000000 };
    nanosleep(&moment, NULL);
    hash(plain, GGLD_SCOPE_FILE, &m);
    MUST(ggld_manifest_write(m.manifest, GGLD_MANIFEST_SHA256SUM, &text, &size,
                             &err),
         err);
    MUST(ggld_manifest_parse(&sums, "sums", text, size, GGLD_MANIFEST_SHA256SUM,
                             &err),
         err);
    CHECK(mkdtemp(folder) != NULL, "mkdtemp");
    MUST(ggld_verify_cache_new(&cache, folder, &err), err);
    for (int i = 0; i < 2; i++) {
        MUST(open_verified(&file, set, sums, GGLD_VERIFY_FULL, cache, &err),
             err);
        for (uint32_t s = 0; s < 3; s++) {
            const ggld_file *shard = ggld_file_shard(file, s);
            ggld_backing backing = { .struct_size = sizeof backing };
            ggld_file_identity id;
            ggld_file_get_backing(shard, &backing);
            MUST(ggld_file_identity_of_fd(&id, backing.fd, &err), err);
            CHECK(ggld_verify_cache_has(cache, &id, shard, sums,
                                        ggld_file_path(shard)),
                  "shard %u is remembered", s);
        }
        ggld_close(file);
    }
    spoil(set, plain, false);
    CHECK(open_verified(&file, set, sums, GGLD_VERIFY_FULL, cache, &err) ==
                  GGLD_E_CHECKSUM &&
              err.shard == 2,
          "a change is seen: %s", err.message);
    spoil(set, plain, true);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "rm");
    free(text);
    ggld_verify_cache_free(cache);
    ggld_manifest_free(sums);
    ggld_manifest_free(m.manifest);
    ggld_close(plain);
}

int main(void)
{
    shards set = shards_mixed();
    set.n_elems = N_ELEMS;
    loop_warm_up();
    shards_write(&set);
    test_a_set_is_hashed_shard_by_shard(&set);
    test_a_set_is_verified_in_one_report(&set);
    test_a_set_is_verified_on_access_and_in_full(&set);
    test_chunks_of_each_shard_are_kept(&set);
    test_a_root_is_of_one_file(&set);
    test_a_set_is_verified_once(&set);
    shards_remove(&set);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
