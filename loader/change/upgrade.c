/* SPDX-License-Identifier: MIT */
/* ggld_upgrade: everything taken over, read back, compared, named. */
#include <ggld/upgrade.h>

#include <inttypes.h>
#include <stddef.h>

#include "../base/error.h"
#include "../base/structs.h"
#include "take.h"

typedef struct upgrade {
    const ggld_file *in;
    bool is_set; /* whose split keys go */
    ggld_writer *writer;
    ggld_meter meter;
} upgrade;

static ggld_status take_options(const ggld_upgrade_options *options,
                                ggld_upgrade_options *o, ggld_error *err)
{
    *o = ggld_upgrade_options_init();
    if (options == NULL)
        return GGLD_OK;
    ggld_status status = ggld_struct_take(
        "ggld_upgrade_options", options,
        offsetof(ggld_upgrade_options, reserved), o, sizeof *o, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_all_zero(o->reserved, sizeof o->reserved) || o->reserved32 != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_upgrade_options: a reserved field is not zero");
    if ((o->flags & ~GGLD_UPGRADE_BIG_ENDIAN) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_upgrade_options: flags 0x%" PRIx32
                         " are not known",
                         o->flags & ~GGLD_UPGRADE_BIG_ENDIAN);
    return GGLD_OK;
}

static ggld_status write_all(upgrade *u, const char *path, ggld_error *err)
{
    ggld_status status = ggld_take_kvs(u->writer, u->in, u->is_set, err);
    if (status == GGLD_OK)
        status = ggld_take_tensors(u->writer, u->in, err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(u->writer, path, err);
    if (status == GGLD_OK)
        status = ggld_writer_seal(u->writer, err);
    return status;
}

static ggld_status read_back(upgrade *u, ggld_error *err)
{
    ggld_file *out = NULL;
    ggld_status status = ggld_writer_reopen(u->writer, &out, NULL, err);
    if (status == GGLD_OK)
        status = ggld_take_check_kvs(u->in, out, u->is_set, err);
    if (status == GGLD_OK)
        status = ggld_take_check_tensors(u->in, out, &u->meter, err);
    ggld_close(out);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(u->in, err);
    return status;
}

static ggld_status run(upgrade *u, const char *path,
                       const ggld_upgrade_options *o, ggld_error *err)
{
    ggld_writer_options options = ggld_writer_options_init();

    options.alignment_bytes = ggld_take_alignment(u->in);
    if ((o->flags & GGLD_UPGRADE_BIG_ENDIAN) != 0)
        options.flags |= GGLD_WRITE_BIG_ENDIAN;
    options.progress = ggld_meter_hear;
    options.progress_user = &u->meter;
    ggld_status status = ggld_writer_new(&u->writer, &options, err);
    if (status == GGLD_OK)
        status = write_all(u, path, err);
    if (status == GGLD_OK)
        status = read_back(u, err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(u->writer, err);
    ggld_writer_free(u->writer);
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
    status = ggld_take_other_path(file, path, err);
    if (status != GGLD_OK)
        return status;
    ggld_file_get_info(file, &info);
    upgrade u = { .in = file,
                  .is_set = info.n_shards > 1,
                  .meter = { .call = o.progress,
                             .user = o.progress_user,
                             .total_bytes = 2 * ggld_take_bytes(file) } };
    status = run(&u, path, &o, err);
    if (status == GGLD_OK)
        give_result(file, result);
    return status;
}
