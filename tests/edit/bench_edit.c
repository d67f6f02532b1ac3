/* SPDX-License-Identifier: MIT */
/* How long an edit in place takes, of models of 400 MB and of 4 GB, beside what
 * the disk alone takes for as much metadata: written to a new file and synced.
 *
 *     bench_edit [--dir FOLDER] [--json]
 *
 * The models have the metadata of one with 128,256 tokens. Their data takes
 * room on the disk, as a real model's does, but was never written: the file
 * system knows it to be zeros. Nothing here is of its bytes. FOLDER should be on
 * ext4 or xfs, where room can be inserted. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ggld/edit.h>
#include <ggld/write.h>

#include "../jobs/figures.h"

#define N_TOKENS 128256u
#define N_RUNS   9
#define N_SIZES  2

static const uint64_t sizes[N_SIZES] = { UINT64_C(400) << 20, UINT64_C(4096)
                                                                  << 20 };
static ggld_error err;

static double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(ggld_status status)
{
    if (status == GGLD_OK)
        return;
    fprintf(stderr, "bench_edit: %s\n", err.message);
    exit(1);
}

static void must_system(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_edit: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- models ---- */

static void set_texts(ggld_writer *w, const char *key, const char *format,
                      unsigned n)
{
    ggld_string *texts = malloc(n * sizeof *texts);
    char *pool = malloc(n * (size_t)24), *at = pool;

    must_system(texts != NULL && pool != NULL, "memory");
    for (unsigned i = 0; i < n; i++) {
        int len = snprintf(at, 24, format, i);
        texts[i] = (ggld_string){ at, (uint64_t)len };
        at += len;
    }
    must(ggld_writer_set_strings(w, key, texts, n, &err));
    free(texts);
    free(pool);
}

static void make_model(const char *path, uint64_t data_bytes, uint64_t reserve)
{
    ggld_writer_options options = ggld_writer_options_init();
    const uint64_t dims[] = { data_bytes / 64 };
    ggld_writer *w = NULL;
    char name[32];

    options.reserve_bytes = reserve;
    must(ggld_writer_new(&w, &options, &err));
    must(ggld_writer_set_string(w, "general.name", "bench", 5, &err));
    must(
        ggld_writer_set_string(w, "tokenizer.chat_template", "short", 5, &err));
    set_texts(w, "tokenizer.ggml.tokens", "token%05x", N_TOKENS);
    set_texts(w, "tokenizer.ggml.merges", "tok en%05x", 2 * N_TOKENS);
    for (unsigned i = 0; i < 64; i++) {
        int len = snprintf(name, sizeof name, "blk.%u.weight", i);
        must(ggld_writer_declare_tensor(w, name, (size_t)len, GGLD_TYPE_I8,
                                        dims, 1, &err));
    }
    must(ggld_writer_begin(w, path, &err));
    must(ggld_writer_put_zeros(w, dims[0] * 64, &err));
    must(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
}

/* ---- what is timed ---- */

static double time_edit(const char *path, size_t template_bytes,
                        ggld_edit_way want)
{
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit_plan plan = { .struct_size = sizeof plan };
    ggld_edit *edit = NULL;
    char *text = malloc(template_bytes);

    must_system(text != NULL, "memory");
    memset(text, 'x', template_bytes);
    /* As the command does it, from the opening on. */
    double start = clock_ms();
    ggld_edit_value v = { .struct_size = sizeof v,
                          .type = GGLD_VALUE_STRING,
                          .data = text,
                          .size = template_bytes };
    options.flags = GGLD_EDIT_IN_PLACE;
    must(ggld_edit_open(&edit, path, &options, &err));
    must(ggld_edit_set(edit, "tokenizer.chat_template", &v, &err));
    must(ggld_edit_plan_of(edit, &plan, &err));
    must(ggld_edit_in_place(edit, &err));
    ggld_edit_free(edit);
    double taken = clock_ms() - start;
    free(text);
    if (plan.in_place != want) {
        fprintf(stderr, "bench_edit: expected way %d, got %d\n", (int)want,
                (int)plan.in_place);
        exit(1);
    }
    return taken;
}

static double time_writing(const char *path, const void *bytes, size_t size)
{
    double start = clock_ms();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    must_system(fd >= 0, path);
    must_system(write(fd, bytes, size) == (ssize_t)size && fsync(fd) == 0,
                path);
    must_system(close(fd) == 0, path);
    double taken = clock_ms() - start;
    remove(path);
    return taken;
}

static size_t metadata_bytes(const char *path)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *f = NULL;
    must(ggld_open_path(&f, path, NULL, &err));
    ggld_file_get_info(f, &info);
    ggld_close(f);
    return (size_t)info.metadata_bytes;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, N_RUNS, sizeof *times, compare);
    return times[N_RUNS / 2];
}

typedef struct result {
    size_t metadata;
    double write_ms[N_SIZES]; /* medians */
    double slack_ms[N_SIZES];
    double insert_ms[N_SIZES];
} result;

/* Inserting: a longer text each time, past what was left. */
static void run_size(const char *folder, int i, result *r)
{
    char path[4096], other[4096];
    double writes[N_RUNS], slack[N_RUNS], inserts[N_RUNS];
    size_t template_bytes = 20000;

    snprintf(path, sizeof path, "%s/bench-edit.gguf", folder);
    snprintf(other, sizeof other, "%s/bench-edit.bytes", folder);
    make_model(path, sizes[i], 16384);
    r->metadata = metadata_bytes(path);
    void *bytes = calloc(1, r->metadata);
    must_system(bytes != NULL, "memory");
    for (int k = 0; k < N_RUNS; k++) {
        writes[k] = time_writing(other, bytes, r->metadata);
        slack[k] = time_edit(path, 1000 + 10 * (size_t)k, GGLD_EDIT_FITS);
    }
    for (int k = 0; k < N_RUNS; k++) {
        template_bytes += 8192;
        inserts[k] = time_edit(path, template_bytes, GGLD_EDIT_INSERTS);
    }
    r->write_ms[i] = median(writes);
    r->slack_ms[i] = median(slack);
    r->insert_ms[i] = median(inserts);
    free(bytes);
    remove(path);
}

static void promise_kind(figures *out, const double *edit, const double *writes,
                         const char *const keys[2], const char *const texts[2])
{
    figures_promise(out, keys[0], texts[0], edit[1] / (3 * writes[1] + 50),
                    "<= 1");
    figures_promise(out, keys[1], texts[1], edit[1] / edit[0], "");
}

static void print_result(const result *r, bool json)
{
    static const figures_column columns[] = {
        { "write_ms", "write and sync, ms", 1 },
        { "slack_ms", "edit, into slack", 1 },
        { "insert_ms", "edit, room inserted", 1 },
    };
    static const char *const slack_keys[] = { "slack_of_bound",
                                              "slack_of_small" };
    static const char *const slack_texts[] = {
        "into slack, 4096 MB: of 3 x write and sync + 50 ms",
        "into slack, 4096 MB: of what 400 MB take"
    };
    static const char *const insert_keys[] = { "insert_of_bound",
                                               "insert_of_small" };
    static const char *const insert_texts[] = {
        "room inserted, 4096 MB: of 3 x write and sync + 50 ms",
        "room inserted, 4096 MB: of what 400 MB take"
    };
    figures out;
    figures_begin(&out, json);
    figures_value(&out, "metadata_bytes", "bytes of metadata",
                  (double)r->metadata, 0);
    figures_value(&out, "runs", "medians of runs", N_RUNS, 0);
    figures_table(&out, "edits",
                  "edits in place; data has room on the disk, but was never "
                  "written",
                  "model", columns, sizeof columns / sizeof columns[0]);
    for (int i = 0; i < N_SIZES; i++) {
        char name[32];
        double cells[] = { r->write_ms[i], r->slack_ms[i], r->insert_ms[i] };
        snprintf(name, sizeof name, "%" PRIu64 " MB", sizes[i] >> 20);
        figures_row(&out, name, cells);
    }
    figures_table_end(&out);
    promise_kind(&out, r->slack_ms, r->write_ms, slack_keys, slack_texts);
    promise_kind(&out, r->insert_ms, r->write_ms, insert_keys, insert_texts);
    figures_end(&out);
}

int main(int argc, char **argv)
{
    const char *folder = ".";
    bool json = false;
    result r = { 0 };

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            folder = argv[++i];
        else if (strcmp(argv[i], "--json") == 0)
            json = true;
        else
            return 2;
    }
    for (int i = 0; i < N_SIZES; i++)
        run_size(folder, i, &r);
    print_result(&r, json);
    return 0;
}
