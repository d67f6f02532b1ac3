/* SPDX-License-Identifier: MIT */
/* ggld bench: opening and dequantising a file, timed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/codec.h>

#include "bench.h"
#include "command.h"
#include "js.h"
#include "opts.h"
#include "report.h"

enum { OPT_ELEMS, OPT_SINGLE, OPT_JSON };

#define ELEMS_DEFAULT (UINT64_C(64) << 20)
#define TYPES_MAX     48

typedef struct result {
    bench_open open;
    bench_type types[TYPES_MAX];
    size_t n_types;
} result;

/* The largest tensor of each type that can be read. */
static void result_add(result *r, const ggld_tensor_info *info, uint64_t *elems)
{
    const ggld_type_traits *traits = ggld_type_traits_of(info->type);
    size_t i = 0;

    if (traits == NULL || !traits->can_dequantize || info->n_elems == 0)
        return;
    while (i < r->n_types && r->types[i].type != info->type)
        i++;
    if (i == TYPES_MAX || (i < r->n_types && info->n_elems <= elems[i]))
        return;
    r->n_types += i == r->n_types;
    r->types[i].type = info->type;
    r->types[i].tensor = info->index;
    elems[i] = info->n_elems;
}

static int run_types(const model *m, result *r, uint64_t max_elems)
{
    uint64_t elems[TYPES_MAX] = { 0 }, most = 1;
    int status = STATUS_GOOD;
    float *dst;

    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_tensor_info info = model_tensor(m, i);
        result_add(r, &info, elems);
        most = info.n_elems > most ? info.n_elems : most;
    }
    max_elems = max_elems < most ? max_elems : most;
    dst = max_elems <= SIZE_MAX / sizeof *dst - 1
              ? calloc((size_t)max_elems + 1, sizeof *dst)
              : NULL;
    if (dst == NULL)
        return report(m->path, "no memory for %" PRIu64 " floats: --elems",
                      max_elems);
    for (size_t i = 0; i < r->n_types && status == STATUS_GOOD; i++)
        status = bench_run_type(m, &r->types[i], dst, max_elems);
    free(dst);
    return status;
}

static void print_open(output *o, const bench_open *b)
{
    out_printf(o, "open          %.1f us (median of %" PRIu64 ")\n",
               b->open_seconds * 1e6, b->n_rounds);
    if (b->walk_seconds > 0)
        out_printf(
            o,
            "bare walk     %.1f us over the same %s string%s; open takes "
            "%.2f times that\n",
            b->walk_seconds * 1e6, text_grouped(b->n_strings).text,
            text_plural(b->n_strings), b->open_seconds / b->walk_seconds);
    out_printf(o, "heap of open  %s bytes for %s record%s",
               text_grouped(b->heap_bytes).text,
               text_grouped(b->n_records).text, text_plural(b->n_records));
    if (b->n_records > 0)
        out_printf(o, ", %.0f each",
                   (double)b->heap_bytes / (double)b->n_records);
    out_text(o, "\n");
}

static double rate_of(uint64_t n, double seconds)
{
    return seconds > 0 ? (double)n / seconds * 1e-9 : 0;
}

static uint64_t memory_bytes(const bench_type *b)
{
    return b->memory_read_bytes + b->memory_elems * sizeof(float);
}

static double memset_ratio(const bench_type *b)
{
    double set = rate_of(b->memory_elems * sizeof(float), b->memset_seconds);
    return set > 0 ? rate_of(memory_bytes(b), b->memory_seconds) / set : 0;
}

static void print_type(output *o, const bench_type *b)
{
    out_printf(o, "%-8s  %12.2f", model_type_text(b->type).text,
               rate_of(b->cache_elems, b->cache_seconds));
    if (b->memory_elems == 0)
        out_printf(o, "  in cache only: fewer than %s elements\n",
                   text_grouped(BENCH_MEMORY_MIN_ELEMS).text);
    else
        out_printf(o, "  %12s  %12.2f  %12.2f  %12.2f  %8.2f\n",
                   text_grouped(b->memory_elems).text,
                   rate_of(b->memory_elems, b->memory_seconds),
                   rate_of(memory_bytes(b), b->memory_seconds),
                   rate_of(b->memory_elems * sizeof(float), b->memset_seconds),
                   memset_ratio(b));
}

static void print_text(output *o, const result *r)
{
    print_open(o, &r->open);
    if (r->n_types == 0)
        return;
    out_printf(o, "\nto f32, one thread, %s\n\n", ggld_instruction_set());
    out_printf(o, "%-8s  %12s  %12s  %12s  %12s  %12s  %8s\n", "type",
               "in cache", "elements", "in memory", "in memory", "memset",
               "ratio");
    out_printf(o, "%-8s  %12s  %12s  %12s  %12s  %12s\n", "", "Gelem/s",
               "in memory", "Gelem/s", "GB/s", "GB/s");
    for (size_t i = 0; i < r->n_types; i++)
        print_type(o, &r->types[i]);
}

/* Rates in memory are null where there are none. */
static void json_type_row(js *w, const bench_type *b)
{
    uint64_t set_bytes = b->memory_elems * sizeof(float);
    bool known = b->memory_elems != 0;

    js_object(w, NULL);
    js_text(w, "type", model_type_text(b->type).text);
    js_u64(w, "tensor", b->tensor);
    js_u64(w, "cache_elements", b->cache_elems);
    js_measure(w, "cache_gelem_per_s",
               rate_of(b->cache_elems, b->cache_seconds));
    js_u64(w, "memory_elements", b->memory_elems);
    js_measure_if(w, "memory_gelem_per_s", known,
                  rate_of(b->memory_elems, b->memory_seconds));
    js_measure_if(w, "memory_gb_per_s", known,
                  rate_of(memory_bytes(b), b->memory_seconds));
    js_measure_if(w, "memset_gb_per_s", known,
                  rate_of(set_bytes, b->memset_seconds));
    js_measure_if(w, "memset_ratio", known, memset_ratio(b));
    js_end(w);
}

static void print_json(output *o, const model *m, const result *r)
{
    const bench_open *b = &r->open;
    bool walked = b->walk_seconds > 0;
    js w = js_begin(o);

    js_object(&w, NULL);
    js_text(&w, "file", m->path);
    js_text(&w, "instruction_set", ggld_instruction_set());
    js_u64(&w, "open_rounds", b->n_rounds);
    js_measure(&w, "open_us", b->open_seconds * 1e6);
    js_measure_if(&w, "walk_us", walked, b->walk_seconds * 1e6);
    js_measure_if(&w, "open_walk_ratio", walked,
                  walked ? b->open_seconds / b->walk_seconds : 0);
    js_u64(&w, "strings", b->n_strings);
    js_u64(&w, "records", b->n_records);
    js_u64(&w, "heap_bytes", b->heap_bytes);
    js_array(&w, "types");
    for (size_t i = 0; i < r->n_types; i++)
        json_type_row(&w, &r->types[i]);
    js_end(&w);
    js_end(&w);
}

static int bench_run(const args *a)
{
    result r = { .n_types = 0 };
    uint64_t max_elems = ELEMS_DEFAULT;
    model m;

    if (a->values[OPT_ELEMS] != NULL &&
        !opts_number(a->values[OPT_ELEMS], 1, UINT64_C(1) << 40, &max_elems))
        return report_usage(a, "--elems is '%s': a number from 1 on",
                            a->values[OPT_ELEMS]);
    int status =
        model_open_with(&m, a->operands[0], single_flag(a->values[OPT_SINGLE]));
    if (status != STATUS_GOOD)
        return status;
    status = bench_run_open(&m, &r.open);
    if (status == STATUS_GOOD)
        status = run_types(&m, &r, max_elems);
    if (status == STATUS_GOOD && a->values[OPT_JSON] != NULL)
        print_json(a->out, &m, &r);
    else if (status == STATUS_GOOD)
        print_text(a->out, &r);
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_ELEMS] = { "elems", 0, "N",
                    "floats of the large output (default 67108864)" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_bench = {
    "bench",
    "FILE",
    "Times opening and dequantising a file",
    "Opening beside a bare walk over the same strings; of each tensor type\n"
    "the largest tensor, 4096 elements in cache and up to 67108864 through\n"
    "memory, beside memset. Rates in memory count bytes read and written.\n",
    1,
    1,
    options,
    bench_run,
};
