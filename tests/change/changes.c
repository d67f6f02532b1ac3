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
    { "upgrade", upgrade, false, false }, { "split", split, false, true },
    { "merge", merge, false, false },     { "edit -o", edit, false, false },
    { "edit", edit, true, false },
};

static void save_model(const char *path)
{
    const model_made m = { .unknown = true };
    image im = model_image(&m);

    file_save(path, im.data, im.size);
    image_free(&im);
}

/* The one shard of a set of one. */
static void save_set(const char *path)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_file *file = NULL;
    char model[300], shard[300];
    ggld_error err;

    options.max_tensors = 9;
    snprintf(model, sizeof model, "%s.model", path);
    save_model(model);
    if (ggld_open_path(&file, model, NULL, &err) != GGLD_OK ||
        ggld_split_plan_new(&plan, file, &options, &err) != GGLD_OK ||
        ggld_split_write(plan, path, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        exit(99);
    }
    ggld_split_plan_free(plan);
    ggld_close(file);
    ggld_shard_path(shard, sizeof shard, path, 0, 1);
    if (rename(shard, path) != 0 || remove(model) != 0)
        exit(99);
}

int main(void)
{
    for (size_t i = 0; i < sizeof makings / sizeof makings[0]; i++)
        try_each_change(&makings[i],
                        makings[i].run == merge ? save_set : save_model);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
