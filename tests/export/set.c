/* SPDX-License-Identifier: MIT */
/* A model exported into shards: tensor for tensor what one file holds, opened
 * as a set; all shards or none, whatever comes between. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/diff.h>
#include <ggld/shards.h>

#include "support.h"

#define IN       in_folder("in.safetensors")
#define WHOLE    in_folder("whole.gguf")
#define OUT      in_folder("m.gguf")
#define N        6
#define ROWS     64
#define COLS     1024
#define ELEMS    (ROWS * COLS)
#define MAX_SIZE (300u << 10)

/* N matrices, and a vector in front. */
static void save_model(float last)
{
    char json[2048];
    int at = snprintf(json, sizeof json,
                      "{\"__metadata__\":{\"general.name\":\"six\"},"
                      "\"v\":{\"dtype\":\"F32\",\"shape\":[%d],"
                      "\"data_offsets\":[0,%d]}",
                      COLS, 4 * COLS);
    size_t n = COLS + N * (size_t)ELEMS;
    float *values = calloc(n, sizeof *values);

    for (int i = 0; i < N; i++)
        at += snprintf(json + at, sizeof json - (size_t)at,
                       ",\"m%d\":{\"dtype\":\"F32\",\"shape\":[%d,%d],"
                       "\"data_offsets\":[%d,%d]}",
                       i, ROWS, COLS, 4 * (COLS + i * ELEMS),
                       4 * (COLS + (i + 1) * ELEMS));
    snprintf(json + at, sizeof json - (size_t)at, "}");
    for (size_t i = 0; i < n; i++)
        values[i] = (float)((int)(i * 7919 % 2001) - 1000) / 512;
    values[n - 1] = last;
    save_safetensors(IN, json, values, n * sizeof *values);
    free(values);
}

/* What was told of the shards. */
typedef struct told {
    uint32_t n;
    uint64_t n_tensors;
    uint64_t bytes;
    uint64_t stat_bytes;
    char first[512];
} told;

static void hear(const char *path, uint64_t n_tensors, uint64_t file_bytes,
                 void *user)
{
    told *t = user;
    struct stat st = { 0 };

    if (t->n++ == 0)
        snprintf(t->first, sizeof t->first, "%s", path);
    t->n_tensors += n_tensors;
    t->bytes += file_bytes;
    t->stat_bytes += stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static ggld_export_options set_options(uint32_t type, uint64_t max, told *t)
{
    ggld_export_options options = ggld_export_options_init();

    memset(t, 0, sizeof *t);
    options.type = type;
    options.max_shard_bytes = max;
    options.shard = hear;
    options.user = t;
    return options;
}

static int count_difference(const ggld_difference *d, void *user)
{
    (void)d;
    ++*(unsigned *)user;
    return 0;
}

static void remove_set(uint32_t n)
{
    char path[512], prefix[512];

    snprintf(prefix, sizeof prefix, "%s", in_folder("m"));
    for (uint32_t i = 0; i < n; i++) {
        ggld_shard_path(path, sizeof path, prefix, i, n);
        unlink(path);
    }
}

static void expect_same_model(const char *path, uint32_t n_shards)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *set = must_open(path), *whole = must_open(WHOLE);
    ggld_error err = { 0 };
    unsigned n = 0;

    ggld_file_get_info(set, &info);
    CHECK(info.n_shards == n_shards, "%s: expected a set of %u; got %u", path,
          (unsigned)n_shards, (unsigned)info.n_shards);
    CHECK(ggld_diff(set, whole, NULL, count_difference, &n, &err) == GGLD_OK &&
              n == 0,
          "%s: expected no difference from one file; got %u", path, n);
    for (uint64_t i = 0; i < ggld_tensor_count(whole); i++) {
        ggld_tensor_info a = { .struct_size = sizeof a }, b = a;
        ggld_tensor_get_info(ggld_tensor_at(whole, i), &a);
        ggld_tensor_get_info(ggld_tensor_at(set, i), &b);
        CHECK(a.name.len == b.name.len &&
                  memcmp(a.name.data, b.name.data, (size_t)a.name.len) == 0 &&
                  a.type == b.type,
              "%s: tensor %d is another one", path, (int)i);
    }
    ggld_close(set);
    ggld_close(whole);
}

static void test_equal(uint32_t type, uint64_t max, uint32_t n_shards)
{
    told t;
    ggld_export_options options = set_options(type, 0, &t);
    ggld_error err = { 0 };

    CHECK(export_file(IN, WHOLE, &options, &err) == GGLD_OK && t.n == 0,
          "one file: %s", err.message);
    options = set_options(type, max, &t);
    ggld_status status = export_file(IN, OUT, &options, &err);
    CHECK(status == GGLD_OK, "type %u: %s", (unsigned)type, err.message);
    CHECK(t.n == n_shards && t.n_tensors == N + 1 && t.bytes == t.stat_bytes,
          "type %u: expected %u shards, %d tensors; told of %u, %d, %d bytes "
          "of %d",
          (unsigned)type, (unsigned)n_shards, N + 1, (unsigned)t.n,
          (int)t.n_tensors, (int)t.bytes, (int)t.stat_bytes);
    CHECK(count_files() == (int)n_shards + 2, "expected %u files; got %d",
          (unsigned)n_shards + 2, count_files());
    if (status == GGLD_OK)
        expect_same_model(t.first, n_shards);
    remove_set(t.n);
    unlink(WHOLE);
}

/* ---- what is there already ---- */

static void test_there(void)
{
    told t;
    ggld_export_options options = set_options(GGLD_TYPE_F16, MAX_SIZE, &t);
    char second[512];
    ggld_error err = { 0 };
    size_t size = 0;

    snprintf(second, sizeof second, "%s", in_folder("m-00002-of-00003.gguf"));
    save(second, "old", 3);
    ggld_status status = export_file(IN, OUT, &options, &err);
    char *data = load(second, &size);
    CHECK(status == GGLD_E_INVALID &&
              strstr(err.message, "is there already") != NULL && t.n == 0,
          "a shard that is there: expected a refusal; got %s, %s",
          ggld_status_name(status), err.message);
    CHECK(count_files() == 2 && size == 3,
          "a refusal: expected 2 files, the old one; got %d", count_files());
    free(data);
    options.flags = GGLD_EXPORT_REPLACE_SHARDS;
    status = export_file(IN, OUT, &options, &err);
    CHECK(status == GGLD_OK && count_files() == 4,
          "replaced: expected 4 files; got %d: %s", count_files(), err.message);
    /* Now the set is the source, and would be the output. */
    status = export_file(second, OUT, &options, &err);
    CHECK(status == GGLD_E_INVALID &&
              strstr(err.message, "is the input") != NULL,
          "onto the source: expected a refusal; got %s, %s",
          ggld_status_name(status), err.message);
    ggld_close(must_open(second));
    CHECK(count_files() == 4, "onto the source: expected 4 files; got %d",
          count_files());
    remove_set(3);
}

/* ---- failures ---- */

static int cancel_late(uint64_t done, uint64_t total, void *user)
{
    (void)user;
    return done > total / 2;
}

static int cancel_last(uint64_t done, uint64_t total, void *user)
{
    (void)user;
    return done == total;
}

static int touch_input(uint64_t done, uint64_t total, void *user)
{
    const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

    (void)done, (void)total, (void)user;
    utimensat(AT_FDCWD, IN, times, 0);
    return 0;
}

static void test_failures(void)
{
    static const struct {
        const char *what;
        ggld_progress progress;
        float last;
        rlim_t file_bytes;
        ggld_status code;
    } rows[] = {
        { "NaN at the end", NULL, NAN, 0, GGLD_E_VALUE },
        { "cancelled", cancel_late, 1, 0, GGLD_E_CANCELLED },
        { "cancelled at the end", cancel_last, 1, 0, GGLD_E_CANCELLED },
        { "an input that changes", touch_input, 1, 0, GGLD_E_CHANGED },
        { "no room", NULL, 1, 200u << 10, GGLD_E_IO },
    };
    static const bool forced[] = { false, true };

    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        size_t r = i / 2;
        bool force = forced[i % 2];
        struct rlimit old, now;
        told t;
        ggld_export_options options = set_options(GGLD_TYPE_F16, MAX_SIZE, &t);
        char first[512];
        ggld_error err = { 0 };
        size_t size = 3;
        char *data = NULL;

        save_model(rows[r].last);
        snprintf(first, sizeof first, "%s", in_folder("m-00001-of-00003.gguf"));
        if (force) {
            save(first, "old", 3);
            options.flags = GGLD_EXPORT_REPLACE_SHARDS;
        }
        options.progress = rows[r].progress;
        getrlimit(RLIMIT_FSIZE, &old);
        now = old;
        if (rows[r].file_bytes != 0)
            now.rlim_cur = rows[r].file_bytes;
        setrlimit(RLIMIT_FSIZE, &now);
        ggld_status status = export_file(IN, OUT, &options, &err);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK(status == rows[r].code, "%s: expected %s; got %s, %s",
              rows[r].what, ggld_status_name(rows[r].code),
              ggld_status_name(status), err.message);
        if (force)
            data = load(first, &size);
        CHECK(count_files() == (force ? 2 : 1) && size == 3 && t.n == 0,
              "%s: expected nothing left but what was there; got %d files",
              rows[r].what, count_files());
        free(data);
        unlink(first);
    }
    save_model(1);
}

static void test_refusals(void)
{
    told t;
    ggld_export_options options = set_options(GGLD_TYPE_F16, MAX_SIZE, &t);
    ggld_error err = { 0 };

    CHECK(export_file(IN, in_folder("m.safetensors"), &options, &err) ==
                  GGLD_E_INVALID &&
              strstr(err.message, "for GGUF output only") != NULL,
          "safetensors: expected a refusal; got %s", err.message);
    options.flags = 1u << 31;
    CHECK(export_file(IN, OUT, &options, &err) == GGLD_E_ABI,
          "an unknown flag: expected GGLD_E_ABI; got %s", err.message);
    CHECK(count_files() == 1, "refusals: expected 1 file; got %d",
          count_files());
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    make_folder();
    save_model(1);
    /* 128 KiB a matrix in f16, two in a shard; 256 KiB in f32; 68 KiB in
     * q8_0. */
    test_equal(GGLD_TYPE_F16, MAX_SIZE, 3);
    test_equal(GGLD_TYPE_F32, MAX_SIZE, N);
    test_equal(GGLD_TYPE_Q8_0, MAX_SIZE, 2);
    test_equal(GGLD_TYPE_Q8_0, 1, N + 1);
    test_equal(GGLD_TYPE_F16, 1u << 30, 1);
    test_there();
    test_failures();
    test_refusals();
    remove_folder();
    return finish();
}
