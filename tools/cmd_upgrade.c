/* SPDX-License-Identifier: MIT */
/* ggld upgrade: an old or foreign file in today's form. */
#include <inttypes.h>
#include <string.h>

#include <ggld/upgrade.h>

#include "command.h"
#include "leftovers.h"
#include "model.h"
#include "paths.h"
#include "progress.h"
#include "report.h"
#include "stop.h"
#include "watch.h"

enum { OPT_BIG_ENDIAN };

static void note_changes(const model *in, const ggld_upgrade_result *result)
{
    if (result->n_kvs_left_out != 0)
        report_note(in->path,
                    result->n_kvs_left_out == 1
                        ? "%" PRIu64 " key-value is left out: its key was "
                          "there before, and the first one is kept"
                        : "%" PRIu64 " key-values are left out: their keys "
                          "were there before, and the first ones are kept",
                    result->n_kvs_left_out);
    if (result->alignment_bytes != in->info.alignment_bytes)
        report_note(in->path,
                    "alignment %" PRIu64 " is not one that ggml takes: "
                    "%" PRIu64 " is written",
                    in->info.alignment_bytes, result->alignment_bytes);
}

static const char *order_text(bool big_endian)
{
    return big_endian ? "big-endian" : "little-endian";
}

static void print_result(output *o, const model *in, const char *path,
                         bool big_endian)
{
    text_put_name(o, path, strlen(path));
    out_printf(o,
               ": version %" PRIu32 " %s to version 3 %s; %" PRIu64
               " tensor%s compared\n",
               in->info.version, order_text(in->info.big_endian),
               order_text(big_endian), ggld_tensor_count(in->file),
               text_plural(ggld_tensor_count(in->file)));
}

static int upgrade(const args *a, model *in, const char *path)
{
    ggld_upgrade_options options = ggld_upgrade_options_init();
    ggld_upgrade_result result = { .struct_size = sizeof result };
    bool big_endian = a->values[OPT_BIG_ENDIAN] != NULL;
    ggld_error err;
    progress bar;

    if (big_endian)
        options.flags = GGLD_UPGRADE_BIG_ENDIAN;
    options.progress = watch_progress;
    options.progress_user = &bar;
    leftovers_remove(path);
    stop_watch();
    progress_begin(&bar, "upgrade", 0);
    ggld_status status = ggld_upgrade(in->file, path, &options, &result, &err);
    progress_end(&bar);
    if (status == GGLD_E_CANCELLED)
        return stop_report(path);
    if (status != GGLD_OK && report_is_onto_itself(&err))
        return report_usage(a, "%s", err.message);
    if (status != GGLD_OK)
        return model_failed(in, path, &err);
    note_changes(in, &result);
    print_result(a->out, in, path, big_endian);
    return STATUS_GOOD;
}

static int upgrade_run(const args *a)
{
    model in;
    int status = paths_refuse_stdout(a, "OUT", a->operands[1]);

    if (status != STATUS_GOOD)
        return status;
    if (paths_same(a->operands[0], a->operands[1]))
        return report_usage(a, "IN and OUT are the same file");
    status = model_open(&in, a->operands[0]);
    if (status != STATUS_GOOD)
        return status;
    status = upgrade(a, &in, a->operands[1]);
    model_close(&in);
    return status;
}

static const option_row options[] = {
    [OPT_BIG_ENDIAN] = { "big-endian", 0, NULL,
                         "write for a big-endian machine" },
    { NULL, 0, NULL, NULL },
};

const command_row command_upgrade = {
    "upgrade",
    "IN OUT",
    "Writes an old or big-endian model as version 3, little-endian",
    "Nothing else changes: key-values, tensors and their values are those of\n"
    "IN. All of them are read back and compared before OUT appears.\n",
    2,
    2,
    options,
    upgrade_run,
};
