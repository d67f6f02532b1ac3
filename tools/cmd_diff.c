/* SPDX-License-Identifier: MIT */
/* ggld diff: what two models say differently. Its exit status is diff's own:
 * 0 the same, 1 different, 2 trouble. */
#include <stdio.h>

#include <ggld/diff.h>

#include "command.h"
#include "differ.h"
#include "js.h"
#include "model.h"
#include "progress.h"
#include "report.h"
#include "stop.h"
#include "watch.h"

enum { OPT_VALUES, OPT_METADATA, OPT_JSON };

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

typedef struct findings {
    output *out;
    js *list; /* NULL: text */
    uint64_t n;
} findings;

static int take_difference(const ggld_difference *d, void *user)
{
    findings *f = user;

    f->n++;
    if (f->list != NULL)
        differ_json(f->list, d);
    else
        differ_print(f->out, d);
    return 0;
}

/* Errors do not say which of the two they are about, but where data is read. */
static int trouble(model *first, model *second, const ggld_error *err)
{
    char both[512];
    bool cut = model_is_cut(first);

    if (model_is_cut(second) || cut)
        return TROUBLE;
    if (err->code == GGLD_E_CANCELLED)
        report(first->path, "stopped by a signal");
    else {
        snprintf(both, sizeof both, "%.200s or %.200s", first->path,
                 second->path);
        report_error(both, err);
    }
    return TROUBLE;
}

static int compare(const args *a, model *first, model *second)
{
    ggld_diff_options options = ggld_diff_options_init();
    bool json = a->values[OPT_JSON] != NULL;
    js w = js_begin(a->out);
    findings f = { .out = a->out, .list = json ? &w : NULL };
    ggld_error err;
    progress bar;

    options.flags = (a->values[OPT_VALUES] != NULL ? GGLD_DIFF_VALUES : 0) |
                    (a->values[OPT_METADATA] != NULL ? GGLD_DIFF_METADATA : 0);
    options.progress = watch_progress;
    options.progress_user = &bar;
    if (json) {
        js_object(&w, NULL);
        js_text(&w, "a", first->path);
        js_text(&w, "b", second->path);
        js_array(&w, "differences");
    }
    stop_watch();
    progress_begin(&bar, "diff", 0);
    ggld_status status = ggld_diff(first->file, second->file, &options,
                                   take_difference, &f, &err);
    progress_end(&bar);
    if (status != GGLD_OK) {
        if (json)
            out_drop(a->out);
        return trouble(first, second, &err);
    }
    if (json) {
        js_end(&w);
        js_bool(&w, "same", f.n == 0);
        js_end(&w);
    }
    if (out_flush(a->out) != 0)
        return TROUBLE; /* main says why */
    return f.n == 0 ? SAME : DIFFERENT;
}

static int diff_run(const args *a)
{
    model first, second;
    int status = TROUBLE;

    if (a->values[OPT_VALUES] != NULL && a->values[OPT_METADATA] != NULL)
        return report_usage(a, "--values and --metadata exclude each other");
    if (model_open(&first, a->operands[0]) != STATUS_GOOD)
        return TROUBLE;
    model_show(&first, a->out);
    if (model_open(&second, a->operands[1]) == STATUS_GOOD) {
        model_show(&second, a->out);
        status = compare(a, &first, &second);
        model_close(&second);
    }
    model_close(&first);
    return status;
}

static const option_row options[] = {
    [OPT_VALUES] = { "values", 0, NULL, "measure how far values are apart" },
    [OPT_METADATA] = { "metadata", 0, NULL, "do not read tensors' data" },
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_diff = {
    "diff",
    "A B",
    "Lists what two models say differently",
    "Key-values and tensors that B lacks (-), has besides (+), or has\n"
    "otherwise (!), whatever versions, byte orders and shards. --values adds\n"
    "the greatest and the root mean square difference of values that are not\n"
    "stored alike; of two NaNs it is 0, a NaN beside a number is counted.\n"
    "Exit status: 0 the same, 1 different, 2 trouble.\n",
    2,
    2,
    options,
    diff_run,
};
