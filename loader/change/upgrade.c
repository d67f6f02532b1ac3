/* SPDX-License-Identifier: MIT */
/* ggld_upgrade: everything rewritten, and what could not stay. */
#include <ggld/upgrade.h>

#include <stddef.h>

#include "../base/error.h"
#include "../base/structs.h"
#include "rewrite.h"

static ggld_status take_options(const ggld_upgrade_options *options,
                                ggld_upgrade_options *o, ggld_error *err)
{
    *o = ggld_upgrade_options_init();
    if (options == NULL)
        return GGLD_OK;
    ggld_status status = ggld_struct_take(
        "ggld_upgrade_options", options,
        offsetof(ggld_upgrade_options, reserved), o, sizeof *o, err);
    if (status == GGLD_OK)
        status = ggld_struct_check(
            "ggld_upgrade_options", o->flags & ~GGLD_UPGRADE_BIG_ENDIAN,
            o->reserved32 == 0 &&
                ggld_all_zero(o->reserved, sizeof o->reserved),
            err);
    return status;
}

static void give_result(const ggld_file *in, ggld_upgrade_result *result)
{
    ggld_upgrade_result ours = { .struct_size = sizeof ours,
                                 .n_kvs_left_out = ggld_take_again(in),
                                 .alignment_bytes = ggld_take_alignment(in) };
    if (result != NULL)
        ggld_struct_give(result, &ours, sizeof ours);
}

ggld_status ggld_upgrade(const ggld_file *file, const char *path,
                         const ggld_upgrade_options *options,
                         ggld_upgrade_result *result, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_upgrade_options o;

    ggld_status status = take_options(options, &o, err);
    if (status != GGLD_OK)
        return status;
    if (file == NULL || path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "the %s is NULL",
                         file == NULL ? "file" : "path");
    ggld_file_get_info(file, &info);
    ggld_rewrite r = { .in = file,
                       .drop_split = info.n_shards > 1,
                       .big_endian = (o.flags & GGLD_UPGRADE_BIG_ENDIAN) != 0,
                       .compare = true,
                       .meter = { .call = o.progress,
                                  .user = o.progress_user } };
    status = ggld_rewrite_run(&r, path, err);
    if (status == GGLD_OK)
        give_result(file, result);
    return status;
}
