/* SPDX-License-Identifier: MIT */
/* ggld warm: brings tensors into memory, in the order in which they are
 * needed. */
#include <uv.h>

#include "command.h"
#include "jobs.h"
#include "js.h"
#include "model.h"
#include "report.h"
#include "select.h"
#include "text.h"

enum { OPT_TENSORS, OPT_ORDER, OPT_BUDGET, OPT_IO, OPT_SINGLE, OPT_JSON };

static int warm(const args *a, const selection *s,
                const ggld_prefetch_options *options, job_run *r)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    int status = job_run_begin(r, &loop, a->operands[0], "warming");
    if (status != STATUS_GOOD)
        return status;
    if (ggld_prefetch_start(&job, &loop, s->views, s->n_views, options,
                            job_run_done, r, &err) != GGLD_OK)
        return job_run_failed(r, &loop, &err);
    return job_run_finish(r, &loop);
}

static void print_json(output *o, const selection *s, const job_run *r)
{
    js w = js_begin(o);
    js_object(&w, NULL);
    js_text(&w, "file", r->path);
    js_u64(&w, "tensors", s->n_views);
    js_u64(&w, "size_bytes", s->size_bytes);
    js_u64(&w, "warm_bytes", r->done_bytes);
    js_measure(&w, "seconds", r->seconds);
    js_measure(&w, "bytes_per_s", job_rate(r));
    js_end(&w);
}

static void print_text(output *o, const selection *s, const job_run *r)
{
    out_printf(o, "%s of %s in %zu tensor%s are warm, after %.2f s, %s/s\n",
               text_size(r->done_bytes).text, text_size(s->size_bytes).text,
               s->n_views, text_plural(s->n_views), r->seconds,
               text_size((uint64_t)job_rate(r)).text);
}

static int warm_run(const args *a)
{
    ggld_prefetch_options options = ggld_prefetch_options_init();
    selection s = { 0 };
    job_run r = { 0 };
    model m;

    int status = job_open(a, a->values[OPT_IO], a->values[OPT_BUDGET],
                          a->values[OPT_SINGLE], false, &options.io,
                          &options.max_resident_bytes, &m);
    if (status != STATUS_GOOD)
        return status;
    options.progress = job_run_progress;
    status = select_tensors(&m, a, OPT_TENSORS, a->values[OPT_ORDER], &s);
    if (status == STATUS_GOOD) {
        status = warm(a, &s, &options, &r);
        if (status == STATUS_GOOD && a->values[OPT_JSON] != NULL)
            print_json(a->out, &s, &r);
        else if (status == STATUS_GOOD)
            print_text(a->out, &s, &r);
        select_free(&s);
    }
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_TENSORS] = { "tensors", 0, "GLOB,...",
                      "only tensors with such names (default: all)",
                      .is_repeated = true },
    [OPT_ORDER] = { "order", 0, "FILE",
                    "names and patterns, one a line: these first" },
    [OPT_BUDGET] = { "budget", 0, "SIZE", "stop when so much is warm" },
    [OPT_IO] = { "io", 0, "WAY", "how to read: auto, map, pread, uring" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_warm = {
    "warm",
    "FILE",
    "Brings a model into memory, in the order it will be needed in",
    "Reads tensors into the system's page cache, so that programs which use\n"
    "the file find it there. Without --order in the order of the file.\n",
    1,
    1,
    options,
    warm_run,
};
