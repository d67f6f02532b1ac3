/* SPDX-License-Identifier: MIT */
/* ggld_set_writer: byte for byte the shards that a split of the whole file
 * makes, however the data is put; what is refused, and that nothing is left. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/shards.h>

#include "../views/check.h"
#include "models.h"

int n_failed;

static char *folder;

/* Tensors of the model, in bytes of I8; one that is copied may follow. */
static const uint64_t sizes[] = { 100, 0, 64, 1000, 1, 0, 33 };
#define N_TENSORS (sizeof sizes / sizeof sizes[0])
#define N_BYTES   1198

static ggld_writer *model_writer(uint32_t alignment, uint32_t flags,
                                 const ggld_tensor *copied)
{
    ggld_writer_options options = ggld_writer_options_init();
    ggld_error err = { .message = "" };
    ggld_writer *w = NULL;

    options.alignment_bytes = alignment;
    options.flags = flags;
    CHECK_OK(ggld_writer_new(&w, &options, &err), err, "new");
    if (w == NULL)
        exit(1);
    CHECK_OK(ggld_writer_set_string(w, "general.name", "a set", 5, &err), err,
             "name");
    CHECK_OK(ggld_writer_set_u16(w, "split.count", 9, &err), err, "old key");
    for (unsigned i = 0; i < N_TENSORS; i++) {
        char name[16];
        int n = snprintf(name, sizeof name, "t%u", i);
        CHECK_OK(ggld_writer_declare_tensor(w, name, (size_t)n, GGLD_TYPE_I8,
                                            &sizes[i], 1, &err),
                 err, name);
    }
    if (copied != NULL)
        CHECK_OK(ggld_writer_copy_tensor(w, copied, &err), err, "copied");
    return w;
}

static void path_to(char out[256], const char *name)
{
    snprintf(out, 256, "%s", folder_path(folder, name));
}

static void data_fill(uint8_t data[N_BYTES])
{
    for (unsigned i = 0; i < N_BYTES; i++)
        data[i] = (uint8_t)(i * 37);
}

static void remove_shards(const char *prefix, uint32_t count)
{
    char path[300];
    for (uint32_t i = 0; i < count; i++) {
        ggld_shard_path(path, sizeof path, prefix, i, count);
        remove(path);
    }
}

/* The whole, and its split under the name "split". */
static uint32_t split_whole(const ggld_split_options *options,
                            uint32_t alignment, uint32_t flags,
                            const ggld_tensor *copied)
{
    char path[256], prefix[256];
    uint8_t data[N_BYTES];
    ggld_error err = { .message = "" };
    ggld_file *file = NULL;
    ggld_split_plan *plan = NULL;
    ggld_writer *w = model_writer(alignment, flags, copied);

    data_fill(data);
    path_to(path, "whole.gguf");
    path_to(prefix, "split");
    CHECK_OK(ggld_writer_begin(w, path, &err), err, "whole: begin");
    CHECK_OK(ggld_writer_put_bytes(w, data, N_BYTES, &err), err, "whole: put");
    CHECK_OK(ggld_writer_finish(w, &err), err, "whole: finish");
    ggld_writer_free(w);
    ggld_open_options single = ggld_open_options_init();
    single.flags = GGLD_OPEN_SINGLE;
    CHECK_OK(ggld_open_path(&file, path, &single, &err), err, "whole: open");
    CHECK_OK(ggld_split_plan_new(&plan, file, options, &err), err, "plan");
    CHECK_OK(ggld_split_write(plan, prefix, &err), err, "split");
    uint32_t count = ggld_split_plan_count(plan);
    ggld_split_plan_free(plan);
    ggld_close(file);
    remove(path);
    return count;
}

static void expect_same_files(uint32_t count, const char *what)
{
    char a[256], b[256], path[300];

    path_to(a, "split");
    path_to(b, "set");
    for (uint32_t i = 0; i < count; i++) {
        ggld_shard_path(path, sizeof path, a, i, count);
        image want = file_load(path);
        ggld_shard_path(path, sizeof path, b, i, count);
        CHECK(access(path, F_OK) == 0, "%s: expected %s", what, path);
        if (access(path, F_OK) == 0) {
            image got = file_load(path);
            const char *why =
                bytes_differ(got.data, got.size, want.data, want.size);
            CHECK(why == NULL, "%s: shard %" PRIu32 ": %s", what, i, why);
            image_free(&got);
        }
        image_free(&want);
    }
}

typedef struct shape {
    uint64_t max_bytes, max_tensors;
    uint32_t split_flags, alignment, writer_flags;
    bool copies;
} shape;

/* Data in pieces of step bytes. */
static void test_shape(const shape *s, size_t step, const ggld_tensor *copied)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_error err = { .message = "" };
    ggld_set_writer *set = NULL;
    char prefix[256], what[80];
    uint8_t data[N_BYTES];

    snprintf(what, sizeof what, "%d bytes, %d tensors, in pieces of %d",
             (int)s->max_bytes, (int)s->max_tensors, (int)step);
    options.max_bytes = s->max_bytes;
    options.max_tensors = s->max_tensors;
    options.flags = s->split_flags;
    uint32_t count =
        split_whole(&options, s->alignment, s->writer_flags, copied);
    data_fill(data);
    path_to(prefix, "set");
    ggld_writer *w = model_writer(s->alignment, s->writer_flags, copied);
    CHECK_OK(ggld_set_writer_begin(&set, w, prefix, &options, &err), err, what);
    if (set == NULL)
        exit(1);
    uint32_t planned = ggld_split_plan_count(ggld_set_writer_plan(set));
    CHECK(planned == count, "%s: expected %" PRIu32 " shards, got %" PRIu32,
          what, count, planned);
    for (size_t at = 0; at < N_BYTES; at += step)
        CHECK_OK(ggld_set_writer_put_bytes(
                     set, data + at, at + step < N_BYTES ? step : N_BYTES - at,
                     &err),
                 err, what);
    CHECK_OK(ggld_set_writer_seal(set, &err), err, what);
    CHECK(folder_count(folder) == 2 * (int)count + 1,
          "%s: expected no more files than %" PRIu32 " temporary ones", what,
          count);
    CHECK_OK(ggld_set_writer_finish(set, &err), err, what);
    ggld_set_writer_free(set);
    ggld_writer_free(w);
    expect_same_files(count, what);
    CHECK(folder_count(folder) == 2 * (int)count + 1,
          "%s: expected %" PRIu32 " shards twice; got %d files", what, count,
          folder_count(folder) - 1);
    remove_shards(prefix, count);
    path_to(prefix, "split");
    remove_shards(prefix, count);
}

static void test_shapes(void)
{
    static const shape shapes[] = {
        { .max_tensors = 1 },
        { .max_tensors = 3 },
        { .max_tensors = 100 },
        { .max_bytes = 1 },
        { .max_bytes = 400 },
        { .max_bytes = 700 },
        { .max_bytes = 100000 },
        { .max_bytes = 700, .max_tensors = 2, .alignment = 64 },
        { .max_tensors = 3, .split_flags = GGLD_SPLIT_BARE_FIRST },
        { .max_tensors = 2, .alignment = 8 },
        { .max_tensors = 3, .writer_flags = GGLD_WRITE_BIG_ENDIAN },
        { .max_tensors = 7, .copies = true },
        { .max_tensors = 1, .copies = true },
    };
    static const size_t steps[] = { 1, 77, N_BYTES };
    ggld_error err = { .message = "" };
    model_made made = { .version = 3, .big_endian = true };
    image im = model_image(&made);
    ggld_file *other = NULL;

    file_save(folder_path(folder, "other.gguf"), im.data, im.size);
    image_free(&im);
    CHECK_OK(
        ggld_open_path(&other, folder_path(folder, "other.gguf"), NULL, &err),
        err, "other");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
            test_shape(&shapes[i], steps[k],
                       shapes[i].copies ? ggld_tensor_find(other, "f") : NULL);
    ggld_close(other);
    remove(folder_path(folder, "other.gguf"));
}

/* ---- refusals ---- */

static void expect(ggld_status got, ggld_status wanted, const ggld_error *err,
                   const char *message, const char *what)
{
    CHECK(got == wanted && strstr(err->message, message) != NULL,
          "%s: expected %s, '%s'; got %s, '%s'", what, ggld_status_name(wanted),
          message, ggld_status_name(got), err->message);
}

static void expect_empty(const char *what)
{
    CHECK(folder_count(folder) == 0, "%s: expected nothing left, got %d files",
          what, folder_count(folder));
}

static void test_data(void)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_error err = { .message = "" };
    uint8_t data[N_BYTES + 1] = { 0 };
    /* To the byte; one too few, one too many; the end of a shard. */
    static const size_t puts[] = { 0, 100, 164, N_BYTES - 1, N_BYTES + 1 };
    char prefix[256];

    path_to(prefix, "set");
    options.max_tensors = 3;
    for (size_t i = 0; i < sizeof puts / sizeof puts[0]; i++) {
        ggld_writer *w = model_writer(32, 0, NULL);
        ggld_set_writer *set = NULL;
        CHECK_OK(ggld_set_writer_begin(&set, w, prefix, &options, &err), err,
                 "begin");
        ggld_status status =
            ggld_set_writer_put_bytes(set, data, puts[i], &err);
        if (puts[i] > N_BYTES)
            expect(status, GGLD_E_INVALID, &err,
                   "1 bytes more than the declared tensors hold", "surplus");
        else
            expect(ggld_set_writer_seal(set, &err), GGLD_E_INVALID, &err,
                   "bytes were put", "missing");
        expect(ggld_set_writer_seal(set, &err), GGLD_E_INVALID, &err,
               "a call has failed", "after a failure");
        expect(ggld_set_writer_finish(set, &err), GGLD_E_INVALID, &err,
               "a call has failed", "after a failure");
        ggld_set_writer_free(set);
        ggld_writer_free(w);
        expect_empty("data");
    }
}

static void test_calls(void)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_error err = { .message = "" };
    ggld_set_writer *untouched = (ggld_set_writer *)&n_failed;
    ggld_set_writer *set = untouched;
    ggld_writer *w = model_writer(32, 0, NULL);
    uint8_t data[N_BYTES] = { 0 };
    char prefix[256];

    path_to(prefix, "set");
    expect(ggld_set_writer_begin(&set, NULL, prefix, &options, &err),
           GGLD_E_INVALID, &err, "the writer is NULL", "no model");
    expect(ggld_set_writer_begin(&set, w, NULL, &options, &err), GGLD_E_INVALID,
           &err, "the prefix is NULL", "no prefix");
    expect(ggld_set_writer_begin(&set, w, prefix, &options, &err),
           GGLD_E_INVALID, &err, "where to split", "no limit");
    CHECK(set == untouched, "a failed begin: expected *out untouched");
    expect(ggld_writer_begin(w, prefix, &err), GGLD_E_INVALID, &err,
           "a call has failed", "the model after a failed begin");
    ggld_writer_free(w);
    options.max_tensors = 3;
    w = model_writer(32, 0, NULL);
    CHECK_OK(ggld_set_writer_begin(&set, w, prefix, &options, &err), err,
             "begin");
    expect(ggld_writer_set_u8(w, "a", 1, &err), GGLD_E_INVALID, &err,
           "it has finished", "the model after begin");
    expect(ggld_set_writer_finish(set, &err), GGLD_E_INVALID, &err,
           "it is not sealed", "finish before seal");
    CHECK_OK(ggld_set_writer_put_bytes(set, data, N_BYTES, &err), err, "put");
    CHECK_OK(ggld_set_writer_put_bytes(set, NULL, 0, &err), err, "put nothing");
    CHECK_OK(ggld_set_writer_seal(set, &err), err, "seal");
    expect(ggld_set_writer_put_bytes(set, data, 1, &err), GGLD_E_INVALID, &err,
           "it is sealed", "put after seal");
    ggld_set_writer_free(set);
    ggld_writer_free(w);
    ggld_set_writer_free(NULL);
    expect_empty("sealed and freed");
}

int main(void)
{
    folder = folder_new();
    test_shapes();
    test_data();
    test_calls();
    folder_remove(folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
