/* SPDX-License-Identifier: MIT */
/* ggld window: touches a tensor through a float window, and shows what that took
 * in faults, time and memory. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <ggld/window.h>

#include "command.h"
#include "js.h"
#include "model.h"
#include "opts.h"
#include "progress.h"
#include "report.h"
#include "stop.h"
#include "text.h"

enum { OPT_TOUCH, OPT_BUDGET, OPT_CHUNK, OPT_COUNT, OPT_SINGLE, OPT_JSON };

#define COUNT_RANDOM 10000u
/* Elements between two looks at the bar and for Ctrl-C. */
#define STEP_ELEMS  (1u << 18)
#define STEP_RANDOM 64u

typedef struct touching {
    const char *path;
    ggld_tensor_info info;
    bool at_random;
    uint64_t n_touches; /* elements */
    ggld_window *window;
    ggld_window_counts counts;
    double open_seconds; /* where it is filled at open, most of all */
    double seconds;      /* with them */
} touching;

static int parse(const args *a, touching *t, ggld_window_options *o)
{
    const char *touch = a->values[OPT_TOUCH];
    const char *budget = a->values[OPT_BUDGET];
    const char *chunk = a->values[OPT_CHUNK];
    const char *count = a->values[OPT_COUNT];
    if (touch != NULL && strcmp(touch, "random") != 0 &&
        strcmp(touch, "order") != 0)
        return report_usage(a, "--touch is '%s': order or random", touch);
    t->at_random = touch != NULL && strcmp(touch, "random") == 0;
    if (budget != NULL && (!opts_size(budget, &o->max_resident_bytes) ||
                           o->max_resident_bytes == 0))
        return report_usage(a, "--budget is '%s': a size like 256M or 4G",
                            budget);
    if (chunk != NULL &&
        (!opts_size(chunk, &o->chunk_bytes) || o->chunk_bytes == 0))
        return report_usage(a, "--chunk is '%s': a size like 64K or 1M", chunk);
    t->n_touches = t->at_random ? COUNT_RANDOM : UINT64_MAX;
    if (count != NULL && !opts_number(count, 1, UINT64_MAX, &t->n_touches))
        return report_usage(a,
                            "--count is '%s': a number of elements, at "
                            "least 1",
                            count);
    return STATUS_GOOD;
}

/* ---- touching ---- */

/* What is added up can't be left out by the compiler. */
static float touch_order(const float *data, uint64_t n, progress *bar)
{
    float sum = 0;
    for (uint64_t at = 0; at < n && !stop_asked(); at += STEP_ELEMS) {
        uint64_t end = n - at < STEP_ELEMS ? n : at + STEP_ELEMS;
        for (uint64_t i = at; i < end; i++)
            sum += data[i];
        progress_add(bar, (end - at) * sizeof *data);
    }
    return sum;
}

static float touch_random(const float *data, uint64_t n_elems, uint64_t n,
                          progress *bar)
{
    uint64_t state = 1;
    float sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        sum += data[(state >> 20) % n_elems];
        if (i % STEP_RANDOM != 0)
            continue;
        if (stop_asked())
            break;
        progress_add(bar, STEP_RANDOM * sizeof *data);
    }
    return sum;
}

static int touch(touching *t)
{
    const float *data = ggld_window_data(t->window);
    uint64_t n = t->info.n_elems;
    volatile float sum;
    progress bar;
    ggld_error err;
    if (!t->at_random && t->n_touches > n)
        t->n_touches = n;
    if (n == 0)
        t->n_touches = 0;
    stop_watch();
    progress_begin(&bar, "touching", t->n_touches * sizeof *data);
    sum = t->at_random ? touch_random(data, n, t->n_touches, &bar)
                       : touch_order(data, t->n_touches, &bar);
    (void)sum;
    t->seconds = t->open_seconds + progress_clock() - bar.started;
    progress_end(&bar);
    if (stop_asked())
        return stop_report_reader(t->path);
    t->counts.struct_size = sizeof t->counts;
    ggld_window_stats(t->window, &t->counts);
    return ggld_window_status(t->window, &err) == GGLD_OK
               ? STATUS_GOOD
               : report_error(t->path, &err);
}

/* ---- printing ---- */

static double rate(const touching *t)
{
    double bytes = (double)t->n_touches * sizeof(float);
    return t->seconds > 0 ? bytes / t->seconds : 0;
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* The errno by name, where it is one that is met; else in words. */
static const char *no_faults(const ggld_window_counts *c)
{
    switch (c->sys_errno) {
    case EPERM:
        return "EPERM, not permitted: a filter of system calls, as containers "
               "have";
    case ENOSYS:
        return "ENOSYS: not in this kernel";
    case EINVAL:
        return "EINVAL: this kernel has it for root alone (5.11 and later for "
               "all)";
    default:
        return strerror((int)c->sys_errno);
    }
}

static void print_text(output *o, const touching *t)
{
    const ggld_window_counts *c = &t->counts;
    text_put_name(o, t->info.name.data, t->info.name.len);
    out_printf(o, ": %s, %s of floats, chunks of %s\n",
               model_type_text(t->info.type).text,
               text_size(c->size_bytes).text, text_size(c->chunk_bytes).text);
    if (c->lazy == 0)
        out_printf(o,
                   "filled at open, in %.3f s: no faults to fill it by "
                   "(userfaultfd: %s)\n",
                   t->open_seconds, no_faults(c));
    if (t->at_random)
        out_printf(o, "at random   %s element%s in %.3f s, %.2f µs each\n",
                   text_grouped(t->n_touches).text, text_plural(t->n_touches),
                   t->seconds,
                   t->n_touches != 0 ? t->seconds * 1e6 / (double)t->n_touches
                                     : 0.0);
    else
        out_printf(o, "in order    %s element%s in %.3f s, %s/s\n",
                   text_grouped(t->n_touches).text, text_plural(t->n_touches),
                   t->seconds, text_size((uint64_t)rate(t)).text);
    out_printf(o, "faults      %s\n", text_grouped(c->n_faults).text);
    out_printf(o, "chunks      %s filled,", text_grouped(c->n_filled).text);
    out_printf(o, " %s of them ahead,", text_grouped(c->n_ahead).text);
    out_printf(o, " %s dropped\n", text_grouped(c->n_dropped).text);
    out_printf(o,
               "time        %.3f s reading, %.3f s putting in place, %.3f s "
               "dropping\n",
               seconds(c->read_ns), seconds(c->place_ns), seconds(c->drop_ns));
    out_printf(o, "resident    %s, at most %s",
               text_size(c->resident_bytes).text,
               text_size(c->peak_bytes).text);
    out_printf(o, " of %s\n", text_size(c->max_resident_bytes).text);
}

static void print_json(output *o, const touching *t)
{
    const ggld_window_counts *c = &t->counts;
    js w = js_begin(o);
    js_object(&w, NULL);
    js_text(&w, "file", t->path);
    js_string(&w, "tensor", t->info.name.data, t->info.name.len);
    js_text(&w, "type", model_type_text(t->info.type).text);
    js_text(&w, "touch", t->at_random ? "random" : "order");
    js_bool(&w, "lazy", c->lazy != 0);
    js_text(&w, "not_lazy_because", c->lazy != 0 ? NULL : no_faults(c));
    js_u64(&w, "size_bytes", c->size_bytes);
    js_u64(&w, "chunk_bytes", c->chunk_bytes);
    js_u64(&w, "budget_bytes", c->max_resident_bytes);
    js_u64(&w, "touches", t->n_touches);
    js_measure(&w, "open_s", t->open_seconds);
    js_measure(&w, "seconds", t->seconds);
    js_measure(&w, "bytes_per_s", rate(t));
    js_u64(&w, "faults", c->n_faults);
    js_u64(&w, "filled", c->n_filled);
    js_u64(&w, "ahead", c->n_ahead);
    js_u64(&w, "dropped", c->n_dropped);
    js_measure(&w, "read_s", seconds(c->read_ns));
    js_measure(&w, "place_s", seconds(c->place_ns));
    js_measure(&w, "drop_s", seconds(c->drop_ns));
    js_u64(&w, "resident_bytes", c->resident_bytes);
    js_u64(&w, "peak_bytes", c->peak_bytes);
    js_end(&w);
}

static int no_window(const char *path, const ggld_error *err)
{
    int status = report_error(path, err);
    if (strstr(err->message, "max_resident_bytes") != NULL)
        report_note(path, "max_resident_bytes is what --budget gives");
    return status;
}

static int window_touch(const args *a, model *m, touching *t,
                        const ggld_window_options *o)
{
    const ggld_tensor *tensor = ggld_tensor_find(m->file, a->operands[1]);
    ggld_error err;
    if (tensor == NULL)
        return model_no_tensor(m, a->operands[1]);
    ggld_view view = ggld_tensor_view(tensor);
    t->info = model_tensor_info(tensor);
    double began = progress_clock();
    if (ggld_window_open(&t->window, &view, o, &err) != GGLD_OK)
        return no_window(m->path, &err);
    t->open_seconds = progress_clock() - began;
    int status = touch(t);
    if (status == STATUS_GOOD && a->values[OPT_JSON] != NULL)
        print_json(a->out, t);
    else if (status == STATUS_GOOD)
        print_text(a->out, t);
    ggld_window_close(t->window);
    return status;
}

static int window_run(const args *a)
{
    ggld_window_options o = ggld_window_options_init();
    touching t = { .path = a->operands[0] };
    model m;
    int status = parse(a, &t, &o);
    if (status == STATUS_GOOD)
        status = model_open_with(&m, a->operands[0],
                                 single_flag(a->values[OPT_SINGLE]));
    if (status != STATUS_GOOD)
        return status;
    status = window_touch(a, &m, &t, &o);
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_TOUCH] = { "touch", 0, "WAY", "order (default) or random" },
    [OPT_BUDGET] = { "budget", 0, "SIZE", "of floats in memory at a time" },
    [OPT_CHUNK] = { "chunk", 0, "SIZE", "filled at a time (default: 64K)" },
    [OPT_COUNT] = { "count", 0, "N",
                    "elements to touch (default: all; at random 10000)" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_window = {
    "window",
    "FILE TENSOR",
    "Touches a tensor through a float window, and shows what that took",
    "A window is a tensor as a plain array of floats that fills itself where\n"
    "it is touched, within a budget of memory: in faults, chunks and time.\n",
    2,
    2,
    options,
    window_run,
};
