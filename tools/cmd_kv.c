/* SPDX-License-Identifier: MIT */
/* ggld kv: every key-value, or one in full. */
#include <inttypes.h>

#include "command.h"
#include "js.h"
#include "model.h"
#include "nearest.h"
#include "report.h"
#include "value.h"

enum { OPT_SINGLE, OPT_RAW, OPT_JSON };

static int report_no_key(model *m, const char *key)
{
    nearest near = nearest_begin(key);

    if (model_is_cut(m))
        return STATUS_FAULT;
    for (uint64_t i = 0; i < ggld_kv_count(m->file); i++) {
        ggld_string other = ggld_kv_key(ggld_kv_at(m->file, i));
        nearest_offer(&near, other.data, other.len);
    }
    if (near.word[0] != '\0')
        return report(m->path, "no key '%s' (did you mean '%s'?)", key,
                      near.word);
    return report(m->path, "no key '%s'; 'ggld kv FILE' lists all", key);
}

static void print_all(output *o, const model *m)
{
    const value_limits limits = { 8, 200 };

    for (uint64_t i = 0; i < ggld_kv_count(m->file); i++) {
        const ggld_kv *kv = ggld_kv_at(m->file, i);
        ggld_string key = ggld_kv_key(kv);
        text_put_name(o, key.data, key.len);
        out_printf(o, " (%s) = ", value_type_text(kv).text);
        value_print(o, kv, limits);
        out_text(o, "\n");
    }
}

static void print_all_json(output *o, const model *m)
{
    js w = js_begin(o);

    js_object(&w, NULL);
    js_text(&w, "file", m->path);
    js_array(&w, "kv");
    for (uint64_t i = 0; i < ggld_kv_count(m->file); i++)
        value_json_row(&w, NULL, ggld_kv_at(m->file, i), value_limits_none());
    js_end(&w);
    js_end(&w);
}

/* As 'ggld edit --set KEY=@FILE' takes it: to the last byte. */
static int print_raw(output *o, const model *m, const ggld_kv *kv)
{
    ggld_array_iter it;
    ggld_string key = ggld_kv_key(kv);

    if (ggld_kv_get_array(kv, &it))
        return report(m->path,
                      "key '%.*s' is an array of %" PRIu64
                      ", and --raw prints one value: without it there is an "
                      "element a line, or --json",
                      (int)key.len, key.data, it.n_elems);
    value_print_raw(o, kv);
    return STATUS_GOOD;
}

static int print_one(const args *a, model *m, const char *key)
{
    const ggld_kv *kv = ggld_kv_find(m->file, key);

    if (kv == NULL)
        return report_no_key(m, key);
    if (a->values[OPT_RAW] != NULL)
        return print_raw(a->out, m, kv);
    js w = js_begin(a->out);
    if (a->values[OPT_JSON] != NULL)
        value_json_row(&w, NULL, kv, value_limits_none());
    else
        value_print_full(a->out, kv);
    return STATUS_GOOD;
}

static int check_options(const args *a)
{
    if (a->values[OPT_RAW] == NULL)
        return STATUS_GOOD;
    if (a->n_operands != 2)
        return report_usage(a, "--raw is of one value: a KEY is wanted");
    if (a->values[OPT_JSON] != NULL)
        return report_usage(a, "--raw and --json exclude each other");
    return STATUS_GOOD;
}

static int kv_run(const args *a)
{
    model m;
    int status = check_options(a);

    if (status != STATUS_GOOD)
        return status;
    status = model_open_partial(&m, a->operands[0],
                                single_flag(a->values[OPT_SINGLE]));
    if (status != STATUS_GOOD)
        return status;
    model_show(&m, a->out);
    if (a->n_operands == 2)
        status = print_one(a, &m, a->operands[1]);
    else if (a->values[OPT_JSON] != NULL)
        print_all_json(a->out, &m);
    else
        print_all(a->out, &m);
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_RAW] = { "raw", 0, NULL,
                  "with KEY: the value alone, byte for byte, no newline" },
    [OPT_JSON] = { "json", 0, NULL, "print JSON, every value in full" },
    { NULL, 0, NULL, NULL },
};

const command_row command_kv = {
    "kv",
    "FILE [KEY]",
    "Lists key-values, or prints one in full",
    "With KEY: a string as it is, an array one element a line. Without: one\n"
    "line for each, long values shortened.\n",
    1,
    2,
    options,
    kv_run,
};
