/* SPDX-License-Identifier: MIT */
/* Every allocation of a source's opening and of ggld_export fails in its turn:
 * an error that says so, the old file is as it was, nothing is left. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/export.h>

#include "../views/check.h"
#include "../write/support.h"

int n_failed;

#include "../write/no_heap.h"

static char *folder, *out_folder;

static const char *const inputs[] = { "m-00001-of-00002.safetensors",
                                      "m-00002-of-00002.safetensors",
                                      "m.safetensors.index.json", "m.gguf" };

typedef struct trial {
    const char *what;
    size_t first, n; /* of the inputs */
    ggld_export_options options;
    int n_files; /* where all is good */
} trial;

static const ggld_export_rename renames[] = { { "a", "b.a" } };
static const ggld_export_keep keeps[] = { { "b.*", GGLD_TYPE_F32, 0 } };
static const char *const skips[] = { "ids" };

static const trial trials[] = {
    { "shards to GGUF",
      0,
      2,
      { .type = GGLD_TYPE_Q8_0,
        .architecture = "a",
        .renames = renames,
        .n_renames = 1,
        .keeps = keeps,
        .n_keeps = 1,
        .skips = skips,
        .n_skips = 1 },
      1 },
    { "an index to a set",
      2,
      1,
      { .type = GGLD_TYPE_F16,
        .max_shard_bytes = 300,
        .flags = GGLD_EXPORT_REPLACE_SHARDS },
      3 },
    { "an index to safetensors",
      2,
      1,
      { .type = GGLD_TYPE_BF16, .format = GGLD_EXPORT_SAFETENSORS },
      1 },
    { "GGUF to GGUF", 3, 1, { .type = GGLD_TYPE_Q4_0 }, 1 },
    { "GGUF to safetensors",
      3,
      1,
      { .type = GGLD_TYPE_F32, .format = GGLD_EXPORT_SAFETENSORS },
      1 },
    { "on threads", 3, 1, { .type = GGLD_TYPE_Q8_0, .n_threads = 3 }, 1 },
};

static void save_shard(const char *name, const char *json, size_t data_bytes)
{
    static const uint8_t data[2048];
    uint8_t bytes[4096] = { 0 };
    size_t n = strlen(json);

    bytes[0] = (uint8_t)n;
    bytes[1] = (uint8_t)(n >> 8);
    memcpy(bytes + 8, json, n);
    memcpy(bytes + 8 + n, data, data_bytes);
    file_save(folder_path(folder, name), bytes, 8 + n + data_bytes);
}

static ggld_status export_to(const trial *t, const char *out, ggld_error *err)
{
    ggld_export_options options = t->options;
    ggld_export_source *source = NULL;
    const char *paths[2];

    options.struct_size = sizeof options;
    if (options.n_threads == 0)
        options.n_threads = 1;
    for (size_t i = 0; i < t->n; i++)
        paths[i] = folder_path(folder, inputs[t->first + i]);
    ggld_status status = ggld_export_source_open(&source, paths, t->n, err);
    if (status == GGLD_OK)
        status = ggld_export(source, out, &options, err);
    ggld_export_source_close(source);
    return status;
}

static void empty_outputs(void)
{
    char command[300];

    snprintf(command, sizeof command, "rm -f %s/*", out_folder);
    if (folder_count(out_folder) != 0 && system(command) != 0)
        exit(99);
}

static ggld_status run_trial(void *user, ggld_error *err)
{
    const trial *t = user;

    ggld_status status = export_to(t, folder_path(out_folder, "out"), err);
    int n = folder_count(out_folder), want = status == GGLD_OK ? t->n_files : 0;
    CHECK(n == want, "%s: expected %d files, got %d: %s", t->what, want, n,
          err->message);
    empty_outputs();
    return status;
}

static void make_inputs(void)
{
    const trial to_gguf = { "", 0, 2, { .type = GGLD_TYPE_F32 }, 1 };
    const char *index = "{\"metadata\":{\"total_size\":648},\"weight_map\":{"
                        "\"a\":\"m-00001-of-00002.safetensors\","
                        "\"ids\":\"m-00001-of-00002.safetensors\","
                        "\"c\":\"m-00002-of-00002.safetensors\"}}";
    ggld_error err;

    save_shard(inputs[0],
               "{\"__metadata__\":{\"general.name\":\"x\",\"k\":\"v\"},"
               "\"a\":{\"dtype\":\"F32\",\"shape\":[2,64],"
               "\"data_offsets\":[0,512]},"
               "\"ids\":{\"dtype\":\"I32\",\"shape\":[2],"
               "\"data_offsets\":[512,520]}}",
               520);
    save_shard(inputs[1],
               "{\"c\":{\"dtype\":\"BF16\",\"shape\":[2,32],"
               "\"data_offsets\":[0,128]}}",
               128);
    file_save(folder_path(folder, inputs[2]), index, strlen(index));
    CHECK_OK(export_to(&to_gguf, folder_path(folder, inputs[3]), &err), err,
             "the inputs");
}

int main(void)
{
    folder = folder_new();
    out_folder = folder_new();
    make_inputs();
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        trial t = trials[i];
        CHECK(fail_each_call(t.what, run_trial, &t) > 0,
              "%s: expected it to ask for memory", t.what);
    }
    folder_remove(folder);
    folder_remove(out_folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
