/* SPDX-License-Identifier: MIT */
/* ggld_upgrade and ggld_merge: each system call in turn fails, is interrupted,
 * does less, or is the last. */
#include <stdlib.h>

#include "../views/check.h"
#include "models.h"
#include "whole.h"

int n_failed;

static char *folder;
static ggld_file *old_file, *set;

static ggld_file *make_set(const ggld_file *whole)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    char first[300];
    ggld_error err;

    options.max_tensors = 1;
    if (ggld_split_plan_new(&plan, whole, &options, &err) != GGLD_OK ||
        ggld_split_write(plan, folder_path(folder, "m"), &err) != GGLD_OK)
        exit(99);
    ggld_shard_path(first, sizeof first, folder_path(folder, "m"), 0,
                    ggld_split_plan_count(plan));
    ggld_split_plan_free(plan);
    return must_open(first);
}

static ggld_status upgrade(const char *out, ggld_error *err)
{
    return ggld_upgrade(old_file, out, NULL, NULL, err);
}

static ggld_status merge(const char *out, ggld_error *err)
{
    return ggld_merge(set, out, NULL, err);
}

static ggld_status merge_compared(const char *out, ggld_error *err)
{
    ggld_merge_options options = ggld_merge_options_init();

    options.flags = GGLD_MERGE_COMPARE;
    return ggld_merge(set, out, &options, err);
}

static const writing writings[] = {
    { "upgrade", upgrade },
    { "merge", merge },
    { "merge, compared", merge_compared },
};

int main(void)
{
    const model_made big_endian = { .version = 1, .big_endian = true };
    const model_made plain = { .unknown = true };

    folder = folder_new();
    old_file = model_open(folder, "old.gguf", &big_endian);
    ggld_file *whole = model_open(folder, "whole.gguf", &plain);
    set = make_set(whole);
    for (size_t i = 0; i < sizeof writings / sizeof writings[0]; i++)
        try_each_call(&writings[i]);
    ggld_close(old_file);
    ggld_close(whole);
    ggld_close(set);
    folder_remove(folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
