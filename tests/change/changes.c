/* SPDX-License-Identifier: MIT */
/* Inputs that change while upgrade, split, merge and edit read them. */
#include <stdlib.h>
#include <string.h>

#include <ggld/edit.h>

#include "../views/check.h"
#include "changing.h"
#include "models.h"

int n_failed;

static ggld_status open_input(ggld_file **out, const char *in, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();

    options.flags = GGLD_OPEN_PREAD;
    return ggld_open_path(out, in, &options, err);
}

static ggld_status upgrade(const char *in, const char *out,
                           ggld_progress progress, void *user, ggld_error *err)
{
    ggld_upgrade_options options = ggld_upgrade_options_init();
    ggld_file *file = NULL;

    options.progress = progress;
    options.progress_user = user;
    ggld_status status = open_input(&file, in, err);
    if (status == GGLD_OK)
        status = ggld_upgrade(file, out, &options, NULL, err);
    ggld_close(file);
    return status;
}

static ggld_status split(const char *in, const char *out,
                         ggld_progress progress, void *user, ggld_error *err)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_file *file = NULL;

    options.max_tensors = 1;
    options.progress = progress;
    options.progress_user = user;
    ggld_status status = open_input(&file, in, err);
    if (status == GGLD_OK)
        status = ggld_split_plan_new(&plan, file, &options, err);
    if (status == GGLD_OK)
        status = ggld_split_write(plan, out, err);
    ggld_split_plan_free(plan);
    ggld_close(file);
    return status;
}

static ggld_status merge(const char *in, const char *out,
                         ggld_progress progress, void *user, ggld_error *err)
{
    ggld_merge_options options = ggld_merge_options_init();
    ggld_file *file = NULL;

    options.progress = progress;
    options.progress_user = user;
    ggld_status status = open_input(&file, in, err);
    if (status == GGLD_OK)
        status = ggld_merge(file, out, &options, err);
    ggld_close(file);
    return status;
}

static ggld_status edit(const char *in, const char *out, ggld_progress progress,
                        void *user, ggld_error *err)
{
    const ggld_edit_value value = { .struct_size = sizeof value,
                                    .type = GGLD_VALUE_STRING,
                                    .data = "edited",
                                    .size = 6 };
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit *edit = NULL;

    options.progress = progress;
    options.progress_user = user;
    ggld_status status = ggld_edit_open(&edit, in, &options, err);
    if (status == GGLD_OK)
        status = ggld_edit_set(edit, "general.name", &value, err);
    if (status == GGLD_OK)
        status = ggld_edit_write(edit, out, err);
    ggld_edit_free(edit);
    return status;
}

static const making makings[] = {
    { "upgrade", upgrade, false, false, 0 },
    { "split", split, false, true, 0 },
    { "merge", merge, false, false, 1 },
    { "merge, its second shard", merge, false, false, 2 },
    { "edit -o", edit, false, false, 0 },
    { "edit", edit, true, false, 0 },
};

static void save_model(const char *path)
{
    const model_made m = { .unknown = true };
    image im = model_image(&m);

    file_save(path, im.data, im.size);
    image_free(&im);
}

static void save_shards(const char *prefix, uint32_t n)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_file *file = NULL;
    char model[300];
    ggld_error err = { .message = "" };

    snprintf(model, sizeof model, "%s.model", prefix);
    save_model(model);
    if (ggld_open_path(&file, model, NULL, &err) != GGLD_OK)
        exit(99);
    options.max_tensors = (ggld_tensor_count(file) + n - 1) / n;
    if (ggld_split_plan_new(&plan, file, &options, &err) != GGLD_OK ||
        ggld_split_plan_count(plan) != n ||
        ggld_split_write(plan, prefix, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        exit(99);
    }
    ggld_split_plan_free(plan);
    ggld_close(file);
    if (remove(model) != 0)
        exit(99);
}

static void save_one_shard(const char *prefix)
{
    save_shards(prefix, 1);
}

static void save_two_shards(const char *prefix)
{
    save_shards(prefix, 2);
}

int main(void)
{
    static void (*const save[])(
        const char *path) = { save_model, save_one_shard, save_two_shards };

    for (size_t i = 0; i < sizeof makings / sizeof makings[0]; i++)
        try_each_change(&makings[i], save[makings[i].n_shards]);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
