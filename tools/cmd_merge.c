/* SPDX-License-Identifier: MIT */
/* ggld merge: the shards of a model as one file. */
#include <inttypes.h>
#include <string.h>

#include <ggld/shards.h>

#include "command.h"
#include "model.h"
#include "progress.h"
#include "report.h"
#include "stop.h"
#include "watch.h"

enum { OPT_DELETE };

static void print_result(const args *a, const model *in, const char *path)
{
    bool gone = a->values[OPT_DELETE] != NULL;

    text_put_name(a->out, path, strlen(path));
    out_printf(a->out, ": %" PRIu32 " shards, %" PRIu64 " tensors%s\n",
               in->info.n_shards, ggld_tensor_count(in->file),
               gone ? "; compared, and the shards removed" : "");
}

static int merge(const args *a, const model *in, const char *path)
{
    ggld_merge_options options = ggld_merge_options_init();
    ggld_error err;
    progress bar;

    options.flags = a->values[OPT_DELETE] != NULL ? GGLD_MERGE_DELETE : 0;
    options.progress = watch_progress;
    options.progress_user = &bar;
    stop_watch();
    progress_begin(&bar, "merge", 0);
    ggld_status status = ggld_merge(in->file, path, &options, &err);
    progress_end(&bar);
    if (status == GGLD_E_CANCELLED)
        return stop_report(path);
    if (status != GGLD_OK)
        return report_error(err.section == GGLD_IN_FILE ? path : in->path,
                            &err);
    print_result(a, in, path);
    return STATUS_GOOD;
}

static int merge_run(const args *a)
{
    model in;
    int status = model_open(&in, a->operands[0]);

    if (status != STATUS_GOOD)
        return status;
    status = merge(a, &in, a->operands[1]);
    model_close(&in);
    return status;
}

static const option_row options[] = {
    [OPT_DELETE] = { "delete-inputs", 0, NULL,
                     "remove the shards when OUT is there and compared" },
    { NULL, 0, NULL, NULL },
};

const command_row command_merge = {
    "merge",
    "SHARD OUT",
    "Writes the shards of a model as one file",
    "SHARD is any of them; the others are found by their names. OUT appears\n"
    "only complete.\n",
    2,
    2,
    options,
    merge_run,
};
