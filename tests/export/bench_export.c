/* SPDX-License-Identifier: MIT */
/* Measures ggld_export() beside what bounds it, the ways taking turns: reading
 * the input, from the disk, writing as many bytes as the output has, to the
 * disk, and converting what is in memory on all cores. Files are made and
 * removed here.
 *
 *   bench_export [--size MiB] [--rounds N] [--dir FOLDER] [--json] */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/codec.h>
#include <ggld/export.h>

#include "../jobs/figures.h"

#define IO_BYTES    (1u << 20)
#define N_TENSORS   16
#define ROW         4096
#define CHUNK_ELEMS (1u << 16)
#define MAX_CORES   64

typedef struct bench_case {
    const char *key;
    const char *what; /* rate of it, to the least of read, write and kernel */
    const char *in;   /* names in the folder */
    const char *out;
    uint32_t from, type;
} bench_case;

static const bench_case cases[] = {
    { "f16_to_f16", "f16 safetensors to f16 GGUF", "f16.safetensors",
      "f16.gguf", GGLD_TYPE_F16, GGLD_TYPE_F16 },
    { "f16_to_q8_0", "f16 safetensors to q8_0 GGUF", "f16.safetensors",
      "q8_0.gguf", GGLD_TYPE_F16, GGLD_TYPE_Q8_0 },
    { "f16_to_q4_0", "f16 safetensors to q4_0 GGUF", "f16.safetensors",
      "q4_0.gguf", GGLD_TYPE_F16, GGLD_TYPE_Q4_0 },
    { "f32_to_f16", "f32 safetensors to f16 GGUF", "f32.safetensors", "c.gguf",
      GGLD_TYPE_F32, GGLD_TYPE_F16 },
    { "f32_to_q8_0", "f32 safetensors to q8_0 GGUF", "f32.safetensors",
      "c.gguf", GGLD_TYPE_F32, GGLD_TYPE_Q8_0 },
    { "bf16_to_f16", "bf16 safetensors to f16 GGUF", "bf16.safetensors",
      "c.gguf", GGLD_TYPE_BF16, GGLD_TYPE_F16 },
    { "bf16_to_bf16", "bf16 safetensors to bf16 GGUF", "bf16.safetensors",
      "c.gguf", GGLD_TYPE_BF16, GGLD_TYPE_BF16 },
    { "bf16_to_q8_0", "bf16 safetensors to q8_0 GGUF", "bf16.safetensors",
      "c.gguf", GGLD_TYPE_BF16, GGLD_TYPE_Q8_0 },
    { "quantize_q8_0", "f16 GGUF to q8_0 (quantize)", "f16.gguf", "q.gguf",
      GGLD_TYPE_F16, GGLD_TYPE_Q8_0 },
    { "quantize_f32", "f16 GGUF to f32 (quantize)", "f16.gguf", "q.gguf",
      GGLD_TYPE_F16, GGLD_TYPE_F32 },
    { "q8_0_to_f16", "q8_0 GGUF to f16 safetensors", "q8_0.gguf",
      "out.safetensors", GGLD_TYPE_Q8_0, GGLD_TYPE_F16 },
};
#define N_CASES (sizeof cases / sizeof cases[0])

/* Of one size in bytes. */
static const struct {
    const char *name;
    const char *dtype;
    uint32_t width;
} inputs[] = {
    { "f16.safetensors", "F16", 2 },
    { "f32.safetensors", "F32", 4 },
    { "bf16.safetensors", "BF16", 2 },
};
#define N_INPUTS (sizeof inputs / sizeof inputs[0])

static const char *folder = "/var/tmp";
static long peak_anon_kib;

static void die(const char *what)
{
    fprintf(stderr, "bench_export: %s: %s\n", what, strerror(errno));
    exit(1);
}

static const char *path_of(const char *name)
{
    static char paths[4][4096];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/ggld-bench-%d-%s", folder,
             (int)getpid(), name);
    return path;
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        die(path);
    return (uint64_t)st.st_size;
}

/* Not in memory any more: the next read is the disk's. */
static void make_cold(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0 ||
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        die(path);
    close(fd);
}

/* ---- what bounds it ---- */

typedef struct reader {
    const char *path;
    off_t begin, end;
} reader;

static void *read_part(void *arg)
{
    const reader *r = arg;
    char *buffer = malloc(IO_BYTES);
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || buffer == NULL)
        die(r->path);
    for (off_t at = r->begin; at < r->end;) {
        ssize_t n = pread(fd, buffer, IO_BYTES, at);
        if (n <= 0)
            die(r->path);
        at += n;
    }
    close(fd);
    free(buffer);
    return NULL;
}

/* By two threads, which is as fast as by more. */
static double read_cold(const char *path)
{
    off_t size = (off_t)size_of(path), half = size / 2 / IO_BYTES * IO_BYTES;
    reader a = { path, 0, half }, b = { path, half, size };
    pthread_t other;
    make_cold(path);
    double start = series_clock();
    pthread_create(&other, NULL, read_part, &b);
    read_part(&a);
    pthread_join(other, NULL);
    return series_clock() - start;
}

static double write_synced(uint64_t size)
{
    const char *path = path_of("written");
    char *buffer = malloc(IO_BYTES);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || buffer == NULL)
        die(path);
    memset(buffer, 0x5A, IO_BYTES);
    double start = series_clock();
    if (fallocate(fd, 0, 0, (off_t)size) != 0 && errno != EOPNOTSUPP)
        die(path);
    for (uint64_t done = 0; done < size;) {
        uint64_t left = size - done;
        ssize_t n =
            write(fd, buffer, left < IO_BYTES ? (size_t)left : IO_BYTES);
        if (n <= 0)
            die(path);
        done += (uint64_t)n;
    }
    if (fsync(fd) != 0)
        die(path);
    double seconds = series_clock() - start;
    close(fd);
    unlink(path);
    free(buffer);
    return seconds;
}

typedef struct kernel {
    uint32_t from, to;
    uint64_t n_chunks; /* that this core makes */
} kernel;

static uint64_t bytes_of(uint32_t type, uint64_t n_elems)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    return n_elems / traits->block_elems * traits->block_bytes;
}

/* One chunk again and again, in the core's own cache. */
static void *run_kernel(void *arg)
{
    const kernel *k = arg;
    size_t in_bytes = (size_t)bytes_of(k->from, CHUNK_ELEMS);
    size_t out_bytes = (size_t)bytes_of(k->to, CHUNK_ELEMS);
    uint8_t *in = calloc(1, in_bytes), *out = malloc(out_bytes);
    float *values = malloc(CHUNK_ELEMS * sizeof *values);
    ggld_status status = GGLD_OK;
    if (in == NULL || out == NULL || values == NULL)
        die("memory");
    for (size_t i = 0; i < in_bytes; i++)
        in[i] = (uint8_t)(i * 37 % 59);
    for (uint64_t i = 0; i < k->n_chunks && status == GGLD_OK; i++) {
        if (k->from == k->to) {
            memcpy(out, in, in_bytes);
            continue;
        }
        status = ggld_dequantize_f32(k->from, in, in_bytes, values, CHUNK_ELEMS,
                                     NULL);
        if (status == GGLD_OK)
            status = ggld_quantize_f32(k->to, values, CHUNK_ELEMS, out,
                                       out_bytes, NULL);
    }
    if (status != GGLD_OK)
        die("kernel");
    free(in);
    free(out);
    free(values);
    return NULL;
}

static double run_kernels(uint32_t from, uint32_t to, uint64_t n_elems)
{
    pthread_t threads[MAX_CORES];
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n > MAX_CORES ? MAX_CORES : n;
    kernel k = { from, to, n_elems / CHUNK_ELEMS / (uint64_t)n };
    double start = series_clock();
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run_kernel, &k);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return series_clock() - start;
}

/* ---- ggld ---- */

static int sample_memory(uint64_t done, uint64_t total, void *user)
{
    static uint64_t calls;
    char line[128];
    long kib;
    (void)done, (void)total, (void)user;
    if (calls++ % 64 != 0)
        return 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "RssAnon: %ld kB", &kib) == 1 && kib > peak_anon_kib)
            peak_anon_kib = kib;
    if (f != NULL)
        fclose(f);
    return 0;
}

static double export_cold(const char *in, const char *out, uint32_t type)
{
    ggld_export_options options = ggld_export_options_init();
    ggld_export_source *source;
    ggld_error err;
    options.type = type;
    options.progress = sample_memory;
    unlink(out);
    make_cold(in);
    double start = series_clock();
    ggld_status status = ggld_export_source_open(&source, &in, 1, &err);
    if (status == GGLD_OK) {
        status = ggld_export(source, out, &options, &err);
        ggld_export_source_close(source);
    }
    if (status != GGLD_OK) {
        fprintf(stderr, "bench_export: %s\n", err.message);
        exit(1);
    }
    return series_clock() - start;
}

/* ---- the input ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Numbers of either sign up to 2, none of them special: of any of the types the
 * highest bit of the exponent is among those that are cleared. */
static void fill(uint8_t *bytes, size_t size, uint64_t *state)
{
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word = next_random(state) & 0xBFFFBFFFBFFFBFFFu;
        memcpy(bytes + i, &word, 8);
    }
}

static void make_input(const char *path, const char *dtype, uint32_t width,
                       uint64_t bytes)
{
    uint64_t rows = bytes / N_TENSORS / ROW / width, each = rows * ROW * width;
    char header[8192] = "{";
    size_t n = 1;
    for (int i = 0; i < N_TENSORS; i++)
        n += (size_t)snprintf(header + n, sizeof header - n,
                              "%s\"t%d\":{\"dtype\":\"%s\",\"shape\":[%llu,%d],"
                              "\"data_offsets\":[%llu,%llu]}",
                              i > 0 ? "," : "", i, dtype,
                              (unsigned long long)rows, ROW,
                              (unsigned long long)each * (unsigned)i,
                              (unsigned long long)each * (unsigned)(i + 1));
    header[n++] = '}';
    while (n % 8 != 0)
        header[n++] = ' ';
    FILE *f = fopen(path, "wb");
    uint8_t *buffer = malloc(IO_BYTES), length[8];
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(n >> 8 * i);
    if (f == NULL || buffer == NULL || fwrite(length, 8, 1, f) != 1 ||
        fwrite(header, n, 1, f) != 1)
        die(path);
    for (uint64_t left = each * N_TENSORS; left > 0;) {
        size_t part = left < IO_BYTES ? (size_t)left : IO_BYTES;
        fill(buffer, part, &state);
        if (fwrite(buffer, part, 1, f) != 1)
            die(path);
        left -= part;
    }
    if (fclose(f) != 0)
        die(path);
    free(buffer);
}

/* ---- the table ---- */

static void run_case(figures *f, const bench_case *c, uint64_t mib, int rounds)
{
    /* What is quantised was made of halves. */
    uint64_t n_elems = c->from == GGLD_TYPE_F32 ? mib << 18 : mib << 19;
    series reading = { 0 }, writing = { 0 }, kernels = { 0 }, ours = { 0 };
    for (int i = 0; i < rounds; i++) {
        const char *in = path_of(c->in), *out = path_of(c->out);
        series_add(&ours, export_cold(in, out, c->type));
        series_add(&reading, read_cold(in));
        series_add(&writing, write_synced(size_of(out)));
        series_add(&kernels, run_kernels(c->from, c->type, n_elems));
    }
    double read = series_median(&reading), write = series_median(&writing);
    double cores = series_median(&kernels), all = series_median(&ours);
    double most = read > write ? read : write;
    most = cores > most ? cores : most;
    /* Where most is not what bounds it, the ratio says so. */
    double cells[] = { all, read, write, cores, most / all };
    figures_row(f, c->what, cells);
    figures_promise(f, c->key, c->what, most / all, ">= 0.8");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uint64_t mib = 1024;
    int rounds = 3;
    figures out;
    bool json = argc > 1 && strcmp(argv[argc - 1], "--json") == 0;
    argc -= json;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--size") == 0)
            mib = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--dir") == 0)
            folder = argv[i + 1];
    }
    rounds = rounds < 1 ? 1 : rounds > SERIES_MAX ? SERIES_MAX : rounds;
    for (size_t i = 0; i < N_INPUTS; i++)
        make_input(path_of(inputs[i].name), inputs[i].dtype, inputs[i].width,
                   mib << 20);
    static const figures_column columns[] = {
        { "seconds", "ggld", 2 },
        { "read_seconds", "read", 2 },
        { "write_seconds", "write", 2 },
        { "kernel_seconds", "kernel", 2 },
        { "ratio", "ratio to the longest of these", 2 },
    };
    figures_begin(&out, json);
    figures_value(&out, "mib", "MiB of each input", (double)mib, 0);
    figures_value(&out, "rounds", "medians of rounds", rounds, 0);
    figures_table(&out, "convert",
                  "input not in memory, output synced; seconds", "from, to",
                  columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < N_CASES; i++)
        run_case(&out, &cases[i], mib, rounds);
    figures_table_end(&out);
    figures_promise(&out, "anonymous_mib", "most anonymous memory, MiB",
                    (double)peak_anon_kib / 1024, "<= 128");
    figures_end(&out);
    for (size_t i = 0; i < N_INPUTS; i++)
        unlink(path_of(inputs[i].name));
    for (size_t i = 0; i < N_CASES; i++)
        unlink(path_of(cases[i].out));
    return 0;
}
