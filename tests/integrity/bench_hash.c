/* SPDX-License-Identifier: MIT */
/* Measures digests beside what people use otherwise, in one run, the ways
 * taking turns; prints medians and ratios as a table. Makes a model of its own
 * and removes it.
 *
 *   bench_hash [--size MiB] [--rounds N] [--file MODEL] [--dir FOLDER]
 *              [--opened MODEL]
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
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <uv.h>

#include <ggld/ggld.h>
#include <ggld/integrity.h>

#include "model.h"

#define MAX_ROUNDS 15
#define N_ROWS     1000

#define SHA256 GGLD_ALGO_BIT(GGLD_ALGO_SHA256)
#define SHA1   GGLD_ALGO_BIT(GGLD_ALGO_SHA1)
#define XXH3   GGLD_ALGO_BIT(GGLD_ALGO_XXH3)
#define XXH64  GGLD_ALGO_BIT(GGLD_ALGO_XXH64)

typedef struct series {
    double seconds[MAX_ROUNDS];
    int n;
} series;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add(series *s, double seconds)
{
    s->seconds[s->n++] = seconds;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const series *s)
{
    double sorted[MAX_ROUNDS];
    if (s->n == 0)
        return 0;
    memcpy(sorted, s->seconds, sizeof sorted);
    qsort(sorted, (size_t)s->n, sizeof *sorted, by_value);
    return sorted[s->n / 2];
}

static void must(ggld_status status, const ggld_error *err)
{
    if (status == GGLD_OK)
        return;
    fprintf(stderr, "bench_hash: %s\n", err->message);
    exit(1);
}

/* ---- ggld ---- */

static long max_rss_anon_kib;

static void sample_memory(ggld_job *job, uint64_t done, uint64_t total,
                          void *user)
{
    char line[128];
    long kib;
    FILE *f = fopen("/proc/self/status", "r");
    (void)job;
    (void)done;
    (void)total;
    (void)user;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "RssAnon: %ld kB", &kib) == 1 &&
            kib > max_rss_anon_kib)
            max_rss_anon_kib = kib;
    if (f != NULL)
        fclose(f);
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
    double start = now();
    must(ggld_open_path(&file, path, NULL, &err), &err);
    uv_loop_init(&loop);
    must(ggld_hash_start(&job, &loop, file, &options, take_manifest, &manifest,
                         &err),
         &err);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    ggld_close(file);
    double seconds = now() - start;
    if (out != NULL)
        *out = manifest;
    else
        ggld_manifest_free(manifest);
    return seconds;
}

/* ---- the others ---- */

static double run(const char *const *argv)
{
    double start = now();
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, 1);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? now() - start : 0;
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
    double start = now();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fstat(fd, &st);
    half a = { fd, 0, st.st_size / 2, buffer_bytes };
    half b = { fd, st.st_size / 2, st.st_size, buffer_bytes };
    pthread_create(&other, NULL, read_half, &b);
    read_half(&a);
    pthread_join(other, NULL);
    close(fd);
    return now() - start;
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
    double start = now();
    must(ggld_view_gather_f32(&view, rows, N_ROWS, values, N_ROWS * 4096, &err),
         &err);
    double seconds = now() - start;
    ggld_close(file);
    return seconds;
}

static double open_plain(const char *path)
{
    ggld_file *file;
    ggld_error err;
    double start = now();
    must(ggld_open_path(&file, path, NULL, &err), &err);
    double seconds = now() - start;
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
    double start = now();
    must(ggld_manifest_read(&manifest, manifest_path, 0, &err), &err);
    must(ggld_open_verified(&file, path, manifest, &options, cache, NULL, &err),
         &err);
    double seconds = now() - start;
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
    double start = now();
    must(ggld_file_identity_of_fd(&identity, fd, &err), &err);
    *hit = ggld_verify_cache_has(cache, &identity, file, manifest, path);
    double seconds = now() - start;
    ggld_close(file);
    close(fd);
    return seconds;
}

/* ---- the table ---- */

static void row(const char *what, const char *than, double ratio,
                const char *wanted)
{
    printf("| %-44s | %-34s | %6.2f | %-11s |\n", what, than, ratio, wanted);
}

static void rate(const char *what, const series *s, double bytes)
{
    double seconds = median(s);
    if (seconds > 0)
        printf("%-44s %8.3f s  %6.2f GB/s\n", what, seconds,
               bytes / seconds / 1e9);
    else
        printf("%-44s not there\n", what);
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
                add(&sha256, one);
            if (j == 2)
                add(&xxh3, one);
            if (j == 1) {
                add(&dgst, run(openssl));
                add(&small, read_by_two(path, 128 << 10));
                add(&large, read_by_two(path, 1 << 20));
            }
        }
        add(&apart, seconds);
        add(&together, hash(path, SHA256 | SHA1 | XXH3 | XXH64,
                            GGLD_SCOPE_TENSOR, 0, NULL));
        if (i == 0)
            add(&sum, run(coreutils));
    }
    double fastest =
        median(&small) < median(&large) ? median(&small) : median(&large);
    rate("sha256 of every tensor", &sha256, bytes);
    rate("openssl dgst -sha256", &dgst, bytes);
    rate("sha256sum", &sum, bytes);
    rate("xxh3 of every tensor", &xxh3, bytes);
    rate("two threads of pread, 128 KiB at a time", &small, bytes);
    rate("two threads of pread, 1 MiB at a time", &large, bytes);
    rate("sha256, sha1, xxh3, xxh64 in one pass", &together, bytes);
    rate("the same in four passes", &apart, bytes);
    printf("most anonymous memory: %.1f MiB\n\n",
           (double)max_rss_anon_kib / 1024);
    printf("| %-44s | %-34s | %-6s | %-11s |\n", "rate of", "to that of",
           "ratio", "wanted");
    printf("| --- | --- | --- | --- |\n");
    row("sha256 of every tensor", "openssl dgst -sha256",
        median(&dgst) / median(&sha256), "1.8");
    row("sha256 of every tensor", "sha256sum", median(&sum) / median(&sha256),
        "10 if no SHA");
    row("xxh3 of every tensor", "two threads of pread", fastest / median(&xxh3),
        "0.8");
    row("four algorithms in one pass", "the passes apart",
        median(&apart) / median(&together), "over 1");
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
    const char *name;
    uint32_t chunk_algo;
    uint32_t flags;
    const char *wanted;
} accesses[] = {
    { "verified on access (xxh3)", GGLD_ALGO_XXH3, 0, "under 10" },
    { "verified on access (sha256)", GGLD_ALGO_SHA256, 0, "" },
    { "the same by pread, xxh3", GGLD_ALGO_XXH3, GGLD_OPEN_PREAD, "" },
    { "the same by pread, sha256", GGLD_ALGO_SHA256, GGLD_OPEN_PREAD, "" },
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
            add(&plain, gather(path, NULL, accesses[k].flags, seed));
            add(&verified, gather(path, manifest, accesses[k].flags, seed));
        }
        row("gathering 1000 rows, unverified", accesses[k].name,
            median(&verified) / median(&plain), accesses[k].wanted);
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
    double start = now();
    (void)EVP_Digest(backing.map, info.metadata_bytes, md, NULL, EVP_sha256(),
                     NULL);
    double seconds = now() - start;
    ggld_close(file);
    return seconds;
}

static double read_manifest(const char *path)
{
    ggld_manifest *manifest;
    ggld_error err;
    double start = now();
    must(ggld_manifest_read(&manifest, path, 0, &err), &err);
    double seconds = now() - start;
    ggld_manifest_free(manifest);
    return seconds;
}

static void milliseconds(const char *what, double seconds, const char *wanted)
{
    printf("| %-56s | %8.3f | %-7s |\n", what, seconds * 1e3, wanted);
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
    for (int i = 0; i < MAX_ROUNDS; i++) {
        add(&plain, open_plain(path));
        add(&digest, digest_metadata(path));
        add(&verified,
            open_verified(path, manifest_path, NULL, GGLD_VERIFY_ON_ACCESS));
        add(&parsed, read_manifest(manifest_path));
        add(&hits, look_up(path, manifest, cache, &hit));
    }
    double more = median(&verified) - median(&plain) - median(&digest);
    printf("\nOpening a model of %.1f MB of metadata, with a manifest of %zu "
           "bytes:\n\n",
           (double)metadata_bytes_of(path) / 1e6, size);
    printf("| %-56s | %-8s | %-7s |\n| --- | --- | --- |\n", "", "ms",
           "wanted");
    milliseconds("open, unverified", median(&plain), "");
    milliseconds("open, verified on access, with reading the manifest",
                 median(&verified), "");
    milliseconds("sha256 of the metadata, by libcrypto", median(&digest), "");
    milliseconds("verified more than unverified and that sha256", more, "2");
    milliseconds("of which reading the manifest", median(&parsed), "");
    milliseconds(hit ? "verify-once look-up, a hit" : "a look-up that missed",
                 median(&hits), "under 1");
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
    if (rounds < 1 || rounds > MAX_ROUNDS || mib == 0) {
        fprintf(stderr,
                "usage: bench_hash [--size MiB] [--rounds 1-%d] "
                "[--file MODEL] [--dir FOLDER] [--opened MODEL]\n",
                MAX_ROUNDS);
        return 2;
    }
    char *path = given != NULL ? strdup(given) : model_path("bench.gguf");
    if (given == NULL)
        model_write_llama(path, mib << 20);
    read_by_two(path, 1 << 20); /* into the page cache */
    bench_rates(path, rounds);
    bench_access(path, rounds);
    bench_open(opened != NULL ? opened : path);
    if (given == NULL)
        unlink(path);
    free(path);
    return 0;
}
