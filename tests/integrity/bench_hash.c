/* SPDX-License-Identifier: MIT */
/* Measures digests beside what people use otherwise, in one run, the ways
 * taking turns; prints medians and ratios as a table. Makes a model of its own
 * and removes it.
 *
 *   bench_hash [--size MiB] [--rounds N] [--file MODEL] [--dir FOLDER]
 *              [--opened MODEL] [--json]
 *
 * --opened: one with metadata as real models have it, for what opening costs; its
 * data may be a hole. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <uv.h>

#include <ggld/ggld.h>
#include <ggld/integrity.h>

#include "../jobs/figures.h"
#include "../jobs/memory.h"
#include "model.h"

#define OPEN_ROUNDS 15
#define N_ROWS      1000

#define SHA256 GGLD_ALGO_BIT(GGLD_ALGO_SHA256)
#define SHA1   GGLD_ALGO_BIT(GGLD_ALGO_SHA1)
#define XXH3   GGLD_ALGO_BIT(GGLD_ALGO_XXH3)
#define XXH64  GGLD_ALGO_BIT(GGLD_ALGO_XXH64)

static void must(ggld_status status, const ggld_error *err)
{
    if (status == GGLD_OK)
        return;
    fprintf(stderr, "bench_hash: %s\n", err->message);
    exit(1);
}

/* ---- ggld ---- */

static uint64_t most_anon_bytes;

static void sample_memory(ggld_job *job, uint64_t done, uint64_t total,
                          void *user)
{
    uint64_t now = memory_anon();
    (void)job, (void)done, (void)total, (void)user;
    most_anon_bytes = now > most_anon_bytes ? now : most_anon_bytes;
}

static void take_manifest(ggld_job *job, ggld_manifest *manifest,
                          const ggld_error *result, void *user)
{
    ggld_manifest **out = user;
    (void)job;
    must(result->code, result);
    *out = manifest;
}

static double hash(const char *path, uint32_t algos, uint32_t scopes,
                   uint32_t chunk_algo, ggld_manifest **out)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_file *file;
    ggld_error err;
    ggld_manifest *manifest = NULL;
    ggld_hash_options options = ggld_hash_options_init();
    options.algos = algos;
    options.scopes = scopes;
    options.chunk_algo = chunk_algo;
    options.progress = sample_memory;
    double start = series_clock();
    must(ggld_open_path(&file, path, NULL, &err), &err);
    uv_loop_init(&loop);
    must(ggld_hash_start(&job, &loop, file, &options, take_manifest, &manifest,
                         &err),
         &err);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    ggld_close(file);
    double seconds = series_clock() - start;
    if (out != NULL)
        *out = manifest;
    else
        ggld_manifest_free(manifest);
    return seconds;
}

/* ---- the others ---- */

static double run(const char *const *argv)
{
    double start = series_clock();
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, 1);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? series_clock() - start
               : -1;
}

typedef struct half {
    int fd;
    off_t begin, end;
    size_t buffer_bytes;
} half;

static void *read_half(void *arg)
{
    const half *h = arg;
    char *buffer = malloc(h->buffer_bytes);
    for (off_t at = h->begin; at < h->end;) {
        size_t left = (size_t)(h->end - at);
        ssize_t n = pread(h->fd, buffer,
                          left < h->buffer_bytes ? left : h->buffer_bytes, at);
        if (n <= 0)
            break;
        at += n;
    }
    free(buffer);
    return NULL;
}

static double read_by_two(const char *path, size_t buffer_bytes)
{
    struct stat st;
    pthread_t other;
    double start = series_clock();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fstat(fd, &st);
    half a = { fd, 0, st.st_size / 2, buffer_bytes };
    half b = { fd, st.st_size / 2, st.st_size, buffer_bytes };
    pthread_create(&other, NULL, read_half, &b);
    read_half(&a);
    pthread_join(other, NULL);
    close(fd);
    return series_clock() - start;
}

/* ---- on access ---- */

/* Opens anew, so that nothing is mapped or verified; only the gather counts. */
static double gather(const char *path, const ggld_manifest *manifest,
                     uint32_t flags, unsigned seed)
{
    static uint64_t rows[N_ROWS];
    static float values[N_ROWS * 4096];
    ggld_file *file;
    ggld_error err;
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier verifier;
    options.flags = flags;
    if (manifest != NULL) {
        must(ggld_verifier_from_manifest(&verifier, manifest, NULL, &err),
             &err);
        options.verifier = &verifier;
    }
    must(ggld_open_path(&file, path, &options, &err), &err);
    const ggld_tensor *tensor = ggld_tensor_find(file, "token_embd.weight");
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(tensor, &info);
    for (int i = 0; i < N_ROWS; i++)
        rows[i] = (uint64_t)rand_r(&seed) % info.dims[1];
    ggld_view view = ggld_tensor_view(tensor);
    double start = series_clock();
    must(ggld_view_gather_f32(&view, rows, N_ROWS, values, N_ROWS * 4096, &err),
         &err);
    double seconds = series_clock() - start;
    ggld_close(file);
    return seconds;
}

static double open_plain(const char *path)
{
    ggld_file *file;
    ggld_error err;
    double start = series_clock();
    must(ggld_open_path(&file, path, NULL, &err), &err);
    double seconds = series_clock() - start;
    ggld_close(file);
    return seconds;
}

/* With reading the manifest, and freeing it. */
static double open_verified(const char *path, const char *manifest_path,
                            const ggld_verify_cache *cache, uint32_t mode)
{
    ggld_file *file;
    ggld_manifest *manifest;
    ggld_error err;
    ggld_verifier_options options = ggld_verifier_options_init();
    options.mode = mode;
    double start = series_clock();
    must(ggld_manifest_read(&manifest, manifest_path, 0, &err), &err);
    must(ggld_open_verified(&file, path, manifest, &options, cache, NULL, &err),
         &err);
    double seconds = series_clock() - start;
    ggld_manifest_free(manifest);
    ggld_close(file);
    return seconds;
}

static double look_up(const char *path, const ggld_manifest *manifest,
                      const ggld_verify_cache *cache, bool *hit)
{
    ggld_file *file;
    ggld_error err;
    ggld_file_identity identity;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(ggld_open_fd(&file, fd, NULL, &err), &err);
    double start = series_clock();
    must(ggld_file_identity_of_fd(&identity, fd, &err), &err);
    *hit = ggld_verify_cache_has(cache, &identity, file, manifest, path);
    double seconds = series_clock() - start;
    ggld_close(file);
    close(fd);
    return seconds;
}

/* ---- the table ---- */

static figures out;

static void rate(const char *what, const series *s, double bytes)
{
    double seconds = series_median(s);
    double cells[] = { seconds, bytes / seconds / 1e9 };
    figures_row(&out, what, cells);
}

static void bench_rates(const char *path, int rounds)
{
    const char *const openssl[] = { "openssl", "dgst", "-sha256", path, NULL };
    const char *const coreutils[] = { "sha256sum", path, NULL };
    const uint32_t each[] = { SHA256, SHA1, XXH3, XXH64 };
    series sha256 = { 0 }, dgst = { 0 }, sum = { 0 }, xxh3 = { 0 };
    series small = { 0 }, large = { 0 }, together = { 0 }, apart = { 0 };
    struct stat st;
    stat(path, &st);
    double bytes = (double)st.st_size;
    for (int i = 0; i < rounds; i++) {
        double seconds = 0;
        for (int j = 0; j < 4; j++) {
            double one = hash(path, each[j], GGLD_SCOPE_TENSOR, 0, NULL);
            seconds += one;
            if (j == 0)
                series_add(&sha256, one);
            if (j == 2)
                series_add(&xxh3, one);
            if (j == 1) {
                series_add(&dgst, run(openssl));
                series_add(&small, read_by_two(path, 128 << 10));
                series_add(&large, read_by_two(path, 1 << 20));
            }
        }
        series_add(&apart, seconds);
        series_add(&together, hash(path, SHA256 | SHA1 | XXH3 | XXH64,
                                   GGLD_SCOPE_TENSOR, 0, NULL));
        if (i == 0)
            series_add(&sum, run(coreutils));
    }
    double fastest = series_median(&small) < series_median(&large)
                         ? series_median(&small)
                         : series_median(&large);
    static const figures_column columns[] = { { "seconds", "seconds", 3 },
                                              { "gb_s", "GB/s", 2 } };
    figures_table(&out, "rates", "the file, in the page cache", "way", columns,
                  2);
    rate("sha256 of every tensor", &sha256, bytes);
    rate("openssl dgst -sha256", &dgst, bytes);
    rate("sha256sum", &sum, bytes);
    rate("xxh3 of every tensor", &xxh3, bytes);
    rate("two threads of pread, 128 KiB at a time", &small, bytes);
    rate("two threads of pread, 1 MiB at a time", &large, bytes);
    rate("sha256, sha1, xxh3, xxh64 in one pass", &together, bytes);
    rate("the same in four passes", &apart, bytes);
    figures_table_end(&out);
    figures_value(&out, "anonymous_mib", "most anonymous memory, MiB",
                  (double)most_anon_bytes / (1 << 20), 1);
    figures_promise(&out, "sha256_of_openssl",
                    "rate of sha256 of every tensor / openssl dgst -sha256",
                    series_median(&dgst) / series_median(&sha256), ">= 1.8");
    figures_promise(&out, "sha256_of_sha256sum",
                    "the same / sha256sum (10 where that has no SHA)",
                    series_median(&sum) / series_median(&sha256), "");
    figures_promise(&out, "xxh3_of_reading",
                    "xxh3 of every tensor / two threads of pread",
                    fastest / series_median(&xxh3), ">= 0.8");
    figures_promise(&out, "together_of_apart",
                    "four algorithms in one pass / the passes apart",
                    series_median(&apart) / series_median(&together), ">= 1");
}

/* Written, as opening reads it; the size of the text. */
static size_t write_manifest(const char *path, const char *manifest_path,
                             uint32_t chunk_algo)
{
    ggld_manifest *manifest;
    ggld_error err;
    char *text;
    size_t size;
    hash(path, SHA256, 0, chunk_algo, &manifest);
    must(ggld_manifest_write(manifest, GGLD_MANIFEST_GGSUM, &text, &size, &err),
         &err);
    ggld_manifest_free(manifest);
    model_save(manifest_path, text, size);
    free(text);
    return size;
}

static const struct {
    const char *key, *name;
    uint32_t chunk_algo;
    uint32_t flags;
    const char *wanted;
} accesses[] = {
    { "gather_xxh3", "gathering 1000 rows, verified (xxh3) / unverified, time",
      GGLD_ALGO_XXH3, 0, "<= 10" },
    { "gather_sha256", "the same, sha256", GGLD_ALGO_SHA256, 0, "" },
    { "gather_pread_xxh3", "the same by pread, xxh3", GGLD_ALGO_XXH3,
      GGLD_OPEN_PREAD, "" },
    { "gather_pread_sha256", "the same by pread, sha256", GGLD_ALGO_SHA256,
      GGLD_OPEN_PREAD, "" },
};

static void bench_access(const char *path, int rounds)
{
    char *manifest_path = model_path("bench.ggsum");
    for (size_t k = 0; k < sizeof accesses / sizeof accesses[0]; k++) {
        series plain = { 0 }, verified = { 0 };
        ggld_manifest *manifest;
        ggld_error err;
        (void)write_manifest(path, manifest_path, accesses[k].chunk_algo);
        must(ggld_manifest_read(&manifest, manifest_path, 0, &err), &err);
        for (int i = 0; i < rounds; i++) {
            unsigned seed = (unsigned)i + 1;
            series_add(&plain, gather(path, NULL, accesses[k].flags, seed));
            series_add(&verified,
                       gather(path, manifest, accesses[k].flags, seed));
        }
        figures_promise(&out, accesses[k].key, accesses[k].name,
                        series_median(&verified) / series_median(&plain),
                        accesses[k].wanted);
        ggld_manifest_free(manifest);
    }
    unlink(manifest_path);
    free(manifest_path);
}

/* ---- what opening costs ---- */

static uint64_t metadata_bytes_of(const char *path)
{
    ggld_file *file;
    ggld_error err;
    ggld_file_info info = { .struct_size = sizeof info };
    must(ggld_open_path(&file, path, NULL, &err), &err);
    ggld_file_get_info(file, &info);
    ggld_close(file);
    return info.metadata_bytes;
}

/* By libcrypto alone, of a map that is there. */
static double digest_metadata(const char *path)
{
    ggld_file *file;
    ggld_error err;
    unsigned char md[EVP_MAX_MD_SIZE];
    ggld_backing backing = { .struct_size = sizeof backing };
    ggld_file_info info = { .struct_size = sizeof info };
    must(ggld_open_path(&file, path, NULL, &err), &err);
    ggld_file_get_info(file, &info);
    ggld_file_get_backing(file, &backing);
    double start = series_clock();
    (void)EVP_Digest(backing.map, info.metadata_bytes, md, NULL, EVP_sha256(),
                     NULL);
    double seconds = series_clock() - start;
    ggld_close(file);
    return seconds;
}

static double read_manifest(const char *path)
{
    ggld_manifest *manifest;
    ggld_error err;
    double start = series_clock();
    must(ggld_manifest_read(&manifest, path, 0, &err), &err);
    double seconds = series_clock() - start;
    ggld_manifest_free(manifest);
    return seconds;
}

/* Each of so many times, as one of them takes a millisecond or two. */
static void bench_open(const char *path)
{
    char *manifest_path = model_path("bench.ggsum");
    char *folder = model_path("bench-cache");
    series plain = { 0 }, verified = { 0 }, parsed = { 0 }, digest = { 0 };
    series hits = { 0 };
    ggld_manifest *manifest;
    ggld_error err;
    ggld_verify_cache *cache;
    bool hit = false;
    size_t size = write_manifest(path, manifest_path, GGLD_ALGO_XXH3);
    must(ggld_manifest_read(&manifest, manifest_path, 0, &err), &err);
    must(ggld_verify_cache_new(&cache, folder, &err), &err);
    open_verified(path, manifest_path, cache, GGLD_VERIFY_FULL);
    for (int i = 0; i < OPEN_ROUNDS; i++) {
        series_add(&plain, open_plain(path));
        series_add(&digest, digest_metadata(path));
        series_add(&verified, open_verified(path, manifest_path, NULL,
                                            GGLD_VERIFY_ON_ACCESS));
        series_add(&parsed, read_manifest(manifest_path));
        series_add(&hits, look_up(path, manifest, cache, &hit));
    }
    double more = series_median(&verified) - series_median(&plain) -
                  series_median(&digest);
    figures_value(&out, "metadata_mb", "a model to open: MB of metadata",
                  (double)metadata_bytes_of(path) / 1e6, 1);
    figures_value(&out, "manifest_bytes", "bytes of its manifest", (double)size,
                  0);
    figures_value(&out, "open_ms", "open, unverified, ms",
                  series_median(&plain) * 1e3, 3);
    figures_value(&out, "open_verified_ms",
                  "open, verified on access, with reading the manifest, ms",
                  series_median(&verified) * 1e3, 3);
    figures_value(&out, "metadata_sha256_ms",
                  "sha256 of the metadata, by libcrypto, ms",
                  series_median(&digest) * 1e3, 3);
    figures_value(&out, "manifest_ms", "reading the manifest, ms",
                  series_median(&parsed) * 1e3, 3);
    figures_text(&out, "look_up", "looking up what was verified once",
                 hit ? "a hit" : "a miss");
    figures_promise(&out, "open_more_ms",
                    "verified more than unverified and the metadata's sha256, "
                    "ms",
                    more * 1e3, "<= 2");
    figures_promise(&out, "look_up_ms", "looking up what was verified once, ms",
                    series_median(&hits) * 1e3, "<= 1");
    ggld_verify_cache_free(cache);
    ggld_manifest_free(manifest);
    unlink(manifest_path);
    free(manifest_path);
    const char *const remove[] = { "rm", "-rf", folder, NULL };
    run(remove);
    free(folder);
}

int main(int argc, char **argv)
{
    uint64_t mib = 4096;
    int rounds = 3;
    const char *given = NULL, *opened = NULL;
    bool json = argc > 1 && strcmp(argv[argc - 1], "--json") == 0;
    argc -= json;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--size") == 0)
            mib = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--file") == 0)
            given = argv[i + 1];
        else if (strcmp(argv[i], "--opened") == 0)
            opened = argv[i + 1];
        else if (strcmp(argv[i], "--dir") == 0)
            setenv("TMPDIR", argv[i + 1], 1);
    }
    if (rounds < 1 || rounds > SERIES_MAX || mib == 0) {
        fprintf(stderr,
                "usage: bench_hash [--size MiB] [--rounds 1-%d] "
                "[--file MODEL] [--dir FOLDER] [--opened MODEL] "
                "[--json]\n",
                SERIES_MAX);
        return 2;
    }
    char *path = given != NULL ? strdup(given) : model_path("bench.gguf");
    if (given == NULL)
        model_write_llama(path, mib << 20);
    read_by_two(path, 1 << 20); /* into the page cache */
    figures_begin(&out, json);
    bench_rates(path, rounds);
    bench_access(path, rounds);
    bench_open(opened != NULL ? opened : path);
    figures_end(&out);
    if (given == NULL)
        unlink(path);
    free(path);
    return 0;
}
