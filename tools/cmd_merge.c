/* SPDX-License-Identifier: MIT */
/* ggld merge: the shards of a model as one file. */
#include <inttypes.h>
#include <string.h>

#include <ggld/shards.h>

#include "command.h"
#include "halfmerged.h"
#include "leftovers.h"
#include "model.h"
#include "paths.h"
#include "progress.h"
#include "report.h"
#include "stop.h"
#include "watch.h"

enum { OPT_DELETE, OPT_CONSUME };

/* in: NULL where it is not open. */
static int failed(const args *a, model *in, const char *path,
                  const ggld_error *err)
{
    if (err->code == GGLD_E_CANCELLED)
        return stop_report(path);
    if (report_is_onto_itself(err))
        return report_usage(a, "%s", err->message);
    if (in != NULL)
        return model_failed(in, path, err);
    return report_error(err->section == GGLD_IN_FILE ? path : a->operands[0],
                        err);
}

static void print_result(const args *a, const model *in, const char *path)
{
    bool gone = a->values[OPT_DELETE] != NULL;

    text_put_name(a->out, path, strlen(path));
    out_printf(a->out, ": %" PRIu32 " shard%s, %" PRIu64 " tensor%s%s\n",
               in->info.n_shards, text_plural(in->info.n_shards),
               ggld_tensor_count(in->file),
               text_plural(ggld_tensor_count(in->file)),
               gone ? "; compared, and the shards removed" : "");
}

static int merge(const args *a, ggld_merge_options *options)
{
    const char *path = a->operands[1];
    ggld_error err;
    model in;
    int status = model_open(&in, a->operands[0]);

    if (status != STATUS_GOOD)
        return status;
    if (a->values[OPT_DELETE] != NULL)
        options->flags = GGLD_MERGE_DELETE;
    leftovers_remove(path);
    ggld_status result = ggld_merge(in.file, path, options, &err);
    progress_end(options->progress_user);
    if (result == GGLD_OK)
        print_result(a, &in, path);
    else
        status = failed(a, &in, path, &err);
    model_close(&in);
    return status;
}

/* ---- consume ---- */

static int consume(const args *a, const ggld_merge_options *options)
{
    const char *path = a->operands[1];
    ggld_error err;

    ggld_status result =
        ggld_merge_consume(a->operands[0], path, options, &err);
    progress_end(options->progress_user);
    if (result == GGLD_OK) {
        text_put_name(a->out, path, strlen(path));
        out_text(a->out, ": merged, and the shards consumed\n");
        return STATUS_GOOD;
    }
    int status = halfmerged_into(path) ? report_error(path, &err)
                                       : failed(a, NULL, path, &err);
    halfmerged_note_failure(path, &err);
    return status;
}

static int merge_run(const args *a)
{
    ggld_merge_options options = ggld_merge_options_init();
    progress bar;
    int status = paths_refuse_stdout(a, "OUT", a->operands[1]);

    if (status != STATUS_GOOD)
        return status;
    if (a->values[OPT_DELETE] != NULL && a->values[OPT_CONSUME] != NULL)
        return report_usage(a, "--delete-inputs and --consume exclude each "
                               "other");
    options.progress = watch_progress;
    options.progress_user = &bar;
    stop_watch();
    progress_begin(&bar, "merge", 0);
    bool consumes = a->values[OPT_CONSUME] != NULL;
    status = consumes ? consume(a, &options) : merge(a, &options);
    /* Which of them is to go on, where it is not this one. */
    if (status != STATUS_GOOD && !(consumes && halfmerged_into(a->operands[1])))
        halfmerged_note(a->operands[0]);
    return status;
}

static const option_row options[] = {
    [OPT_DELETE] = { "delete-inputs", 0, NULL,
                     "remove the shards when OUT is there and compared" },
    [OPT_CONSUME] = { "consume", 0, NULL,
                      "DESTRUCTIVE: remove each shard once it is in OUT" },
    { NULL, 0, NULL, NULL },
};

const command_row command_merge = {
    "merge",
    "SHARD OUT",
    "Writes the shards of a model as one file",
    "SHARD is any of them; the others are found by their names. OUT appears\n"
    "only complete. --consume is for disks that have no room for both: it\n"
    "destroys the shards one by one, each when its part of OUT is synced and\n"
    "compared. After a failure or a crash the same command goes on.\n",
    2,
    2,
    options,
    merge_run,
};
