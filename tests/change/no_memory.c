/* SPDX-License-Identifier: MIT */
/* Every allocation of upgrade, diff, split, merge and the set writer fails in its
 * turn: an error that says so, what was there is as it was, nothing is left.
 * Views ask for none. */
#include <stdlib.h>
#include <string.h>

#include "../views/check.h"
#include "models.h"

int n_failed;

#include "../write/no_heap.h"

static char *folder, *out_folder;
static ggld_file *old_file, *whole, *set;

static ggld_status split_to(const char *prefix, ggld_error *err)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;

    options.max_tensors = 1;
    options.flags = GGLD_SPLIT_FORCE;
    ggld_status status = ggld_split_plan_new(&plan, whole, &options, err);
    if (status == GGLD_OK)
        status = ggld_split_write(plan, prefix, err);
    ggld_split_plan_free(plan);
    return status;
}

/* ---- what is tried ---- */

static ggld_status upgrade(const char *out, ggld_error *err)
{
    return ggld_upgrade(old_file, out, NULL, NULL, err);
}

static ggld_status merge(const char *out, ggld_error *err)
{
    ggld_merge_options options = ggld_merge_options_init();

    options.flags = GGLD_MERGE_COMPARE;
    return ggld_merge(set, out, &options, err);
}

static int on_difference(const ggld_difference *d, void *user)
{
    (void)d, (void)user;
    return 0;
}

static ggld_status diff(const char *out, ggld_error *err)
{
    ggld_diff_options options = ggld_diff_options_init();

    (void)out;
    options.flags = GGLD_DIFF_VALUES;
    return ggld_diff(old_file, whole, &options, on_difference, NULL, err);
}

static ggld_status put_set(const char *out, ggld_error *err)
{
    static const float data[300];
    ggld_split_options options = ggld_split_options_init();
    ggld_set_writer *w = NULL;
    ggld_writer *model = NULL;

    options.max_tensors = 1;
    options.flags = GGLD_SPLIT_FORCE;
    ggld_status status = ggld_writer_new(&model, NULL, err);
    for (uint64_t i = 0; i < ggld_kv_count(whole) && status == GGLD_OK; i++)
        status = ggld_writer_copy_kv(model, ggld_kv_at(whole, i), err);
    if (status == GGLD_OK)
        status = ggld_writer_declare_tensor(model, "put", 3, GGLD_TYPE_F32,
                                            (const uint64_t[]){ 300 }, 1, err);
    if (status == GGLD_OK)
        status = ggld_writer_copy_tensor(model, ggld_tensor_at(whole, 1), err);
    if (status == GGLD_OK)
        status = ggld_set_writer_begin(&w, model, out, &options, err);
    if (status == GGLD_OK)
        status = ggld_set_writer_put_bytes(w, data, sizeof data, err);
    if (status == GGLD_OK)
        status = ggld_set_writer_seal(w, err);
    if (status == GGLD_OK)
        status = ggld_set_writer_finish(w, err);
    ggld_set_writer_free(w);
    ggld_writer_free(model);
    return status;
}

typedef struct trial {
    const char *what;
    ggld_status (*run)(const char *out, ggld_error *err);
    int n_files; /* that it makes */
} trial;

static const trial trials[] = {
    { "upgrade", upgrade, 1 },    { "merge", merge, 1 },
    { "diff", diff, 0 },          { "split", split_to, 3 },
    { "set writer", put_set, 2 },
};

static void remove_outputs(void)
{
    char path[300];

    for (uint32_t n = 2; n <= 3; n++)
        for (uint32_t i = 0; i < n; i++) {
            ggld_shard_path(path, sizeof path, folder_path(out_folder, "out"),
                            i, n);
            remove(path);
        }
    remove(folder_path(out_folder, "out"));
}

/* Nothing is left, or all of it is there. */
static ggld_status run_trial(void *user, ggld_error *err)
{
    const trial *t = user;

    ggld_status status = t->run(folder_path(out_folder, "out"), err);
    int n = folder_count(out_folder);
    CHECK(n == (status == GGLD_OK ? t->n_files : 0),
          "%s: expected %d files, got %d: %s", t->what,
          status == GGLD_OK ? t->n_files : 0, n, err->message);
    remove_outputs();
    return status;
}

/* ---- views ---- */

static ggld_status use_views(void *user, ggld_error *err)
{
    const uint64_t rows[] = { 2, 0 };
    const ggld_tensor *t = ggld_tensor_find(user, "f");
    ggld_view view = ggld_tensor_view(t), part, row;
    float values[300];
    uint16_t halves[300];
    const void *data = NULL;
    size_t n;
    uint8_t bytes[64];

    ggld_status status = ggld_view_elems(&part, &view, 7, 200, err);
    if (status == GGLD_OK)
        status = ggld_view_rows(&row, &view, 1, 2, err);
    if (status == GGLD_OK)
        status = ggld_view_index(&row, &view, 2, err);
    if (status == GGLD_OK)
        status = ggld_view_read_f32(&part, values, 200, err);
    if (status == GGLD_OK)
        status = ggld_view_read_f16(&view, halves, 300, err);
    if (status == GGLD_OK)
        status = ggld_view_gather_f32(&view, rows, 2, values, 200, err);
    if (status == GGLD_OK)
        status = ggld_tensor_read_bytes(t, 3, bytes, sizeof bytes, err);
    if (status == GGLD_OK)
        status = ggld_tensor_verify(t, 0, 1200, err);
    if (status == GGLD_OK && ggld_tensor_map(t, &data, &n, err) != GGLD_OK)
        CHECK(err->code == GGLD_E_UNSUPPORTED, "%s", err->message);
    return status;
}

static void test_views(void)
{
    static const struct {
        const char *what;
        uint32_t flags;
    } ways[] = { { "map", 0 },
                 { "copy", GGLD_OPEN_COPY },
                 { "pread", GGLD_OPEN_PREAD } };
    static const char *const names[] = { "old.gguf", "whole.gguf" };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            ggld_open_options options = ggld_open_options_init();
            ggld_file *file = NULL;
            ggld_error err;
            options.flags = ways[i].flags;
            CHECK_OK(ggld_open_path(&file, folder_path(folder, names[k]),
                                    &options, &err),
                     err, names[k]);
            long n = fail_each_call(ways[i].what, use_views, file);
            CHECK(n == 0, "views by %s: expected no allocation, got %ld",
                  ways[i].what, n);
            ggld_close(file);
        }
}

int main(void)
{
    const model_made big_endian = { .version = 1, .big_endian = true };
    const model_made plain = { .unknown = true, .value_at = 3 };
    char first[300];
    ggld_error err;

    folder = folder_new();
    out_folder = folder_new();
    old_file = model_open(folder, "old.gguf", &big_endian);
    whole = model_open(folder, "whole.gguf", &plain);
    CHECK_OK(split_to(folder_path(folder, "m"), &err), err, "split");
    ggld_shard_path(first, sizeof first, folder_path(folder, "m"), 0, 3);
    set = must_open(first);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        trial t = trials[i];
        long n = fail_each_call(t.what, run_trial, &t);
        CHECK(n > 0 || t.n_files == 0, "%s: expected it to ask for memory",
              t.what);
    }
    test_views();
    ggld_close(old_file);
    ggld_close(whole);
    ggld_close(set);
    folder_remove(folder);
    folder_remove(out_folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
