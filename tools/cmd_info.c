/* SPDX-License-Identifier: MIT */
/* ggld info: what a file is, at a glance. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "ftype.h"
#include "halfmerged.h"
#include "js.h"
#include "model.h"
#include "pending.h"
#include "report.h"
#include "value.h"

enum { OPT_SINGLE, OPT_JSON };

/* Of all tensors of one type. */
typedef struct type_sum {
    uint32_t type;
    uint64_t n_tensors;
    uint64_t n_elems;
    uint64_t size_bytes;
} type_sum;

#define SUMS_MAX 64

typedef struct summary {
    type_sum sums[SUMS_MAX]; /* by bytes, most first */
    size_t n_sums;
    type_sum all;
    double bits_per_weight; /* 0 where there are no weights */
} summary;

/* Types past the SUMS_MAX-th go with the last one found: only files of noise
 * have so many. */
static type_sum *sum_of_type(summary *s, uint32_t type)
{
    for (size_t i = 0; i < s->n_sums; i++)
        if (s->sums[i].type == type)
            return &s->sums[i];
    if (s->n_sums == SUMS_MAX)
        return &s->sums[SUMS_MAX - 1];
    s->sums[s->n_sums].type = type;
    return &s->sums[s->n_sums++];
}

static void sum_add(type_sum *sum, const ggld_tensor_info *info)
{
    sum->n_tensors++;
    sum->n_elems += info->n_elems;
    sum->size_bytes += info->size_bytes;
}

static int sum_compare(const void *a, const void *b)
{
    const type_sum *x = a, *y = b;
    return x->size_bytes < y->size_bytes ? 1 : x->size_bytes > y->size_bytes;
}

static void summary_make(summary *s, const model *m)
{
    double weights = 0, bits = 0;

    memset(s, 0, sizeof *s);
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_tensor_info info = model_tensor(m, i);
        sum_add(sum_of_type(s, info.type), &info);
        sum_add(&s->all, &info);
        if (info.supported) {
            weights += (double)info.n_elems;
            bits += 8.0 * (double)info.size_bytes;
        }
    }
    qsort(s->sums, s->n_sums, sizeof s->sums[0], sum_compare);
    s->bits_per_weight = weights > 0 ? bits / weights : 0;
}

static void line_label(output *o, const char *label)
{
    out_printf(o, "%-14s", label);
}

static void line_size(output *o, uint64_t bytes)
{
    out_text(o, text_size(bytes).text);
    if (bytes >= 1024)
        out_printf(o, " (%s bytes)", text_grouped(bytes).text);
}

/* A line for a string that a key holds, where it does. */
static void line_string(output *o, const model *m, const char *label,
                        const char *key)
{
    const ggld_kv *kv = ggld_kv_find(m->file, key);
    ggld_string s;

    if (kv == NULL || !ggld_kv_get_string(kv, &s))
        return;
    line_label(o, label);
    text_put_name(o, s.data, s.len < 200 ? (size_t)s.len : 200);
    out_text(o, s.len < 200 ? "\n" : "...\n");
}

static void print_shards(output *o, const model *m)
{
    out_printf(o, "%-14s%" PRIu32 "\n", "shards", m->info.n_shards);
    for (uint32_t s = 0; s < m->info.n_shards; s++) {
        const ggld_file *shard = ggld_file_shard(m->file, s);
        const char *path = ggld_file_path(shard);
        ggld_file_info info = model_file_info(shard);
        out_text(o, "  ");
        text_put_name(o, path, strlen(path));
        out_printf(o, ": metadata %s, data %s, %" PRIu64 " tensor%s\n",
                   text_size(info.metadata_bytes).text,
                   text_size(info.data_bytes).text, ggld_tensor_count(shard),
                   text_plural(ggld_tensor_count(shard)));
    }
}

static void json_shards(js *w, const char *key, const model *m)
{
    js_array(w, key);
    for (uint32_t s = 0; s < m->info.n_shards; s++) {
        const ggld_file *shard = ggld_file_shard(m->file, s);
        ggld_file_info info = model_file_info(shard);
        js_object(w, NULL);
        js_text(w, "file", ggld_file_path(shard));
        js_u64(w, "version", info.version);
        js_u64(w, "file_bytes", info.file_bytes);
        js_u64(w, "metadata_bytes", info.metadata_bytes);
        js_u64(w, "data_bytes", info.data_bytes);
        js_u64(w, "tensor_count", ggld_tensor_count(shard));
        js_end(w);
    }
    js_end(w);
}

static void print_head(output *o, const model *m, const summary *s)
{
    const ggld_file_info *info = &m->info;
    ftype_verdict ftype = ftype_of_model(m);

    line_label(o, "file");
    text_put_name(o, m->path, strlen(m->path));
    out_printf(o, "\n%-14sGGUF version %u, %s-endian, alignment %" PRIu64 "\n",
               "format", (unsigned)info->version,
               info->big_endian ? "big" : "little", info->alignment_bytes);
    if (info->n_shards > 1)
        print_shards(o, m);
    line_label(o, "size");
    line_size(o, info->file_bytes);
    out_printf(o, ": metadata %s, data %s\n",
               text_size(info->metadata_bytes).text,
               text_size(info->data_bytes).text);
    line_string(o, m, "name", "general.name");
    line_string(o, m, "architecture", "general.architecture");
    if (s->all.n_tensors > 0)
        out_printf(o, "%-14s%s (%s)\n", "parameters",
                   text_count(info->n_elems).text,
                   text_grouped(info->n_elems).text);
    if (ftype.name != NULL && s->bits_per_weight > 0)
        out_printf(o, "%-14s%s%s, %.2f bits per weight\n", "quantisation",
                   ftype.name, ftype.declared ? "" : " (by its tensors)",
                   s->bits_per_weight);
    if (!m->whole)
        out_printf(o,
                   "%-14sdata: %s of %s present; %" PRIu64 " of %" PRIu64
                   " tensor%s whole\n",
                   "incomplete", text_size(info->data_bytes).text,
                   text_size(m->data_all_bytes).text, m->n_whole,
                   s->all.n_tensors, text_plural(s->all.n_tensors));
}

typedef struct kv_widths {
    size_t key;
    size_t type;
} kv_widths;

static kv_widths kv_widths_of(const model *m)
{
    kv_widths w = { 0, 0 };

    for (uint64_t i = 0; i < ggld_kv_count(m->file); i++) {
        const ggld_kv *kv = ggld_kv_at(m->file, i);
        ggld_string key = ggld_kv_key(kv);
        size_t key_width = text_name_width(key.data, key.len);
        size_t type_width = strlen(value_type_text(kv).text);
        /* One long key shall not push all values out of sight. */
        if (key_width > w.key && key_width <= 44)
            w.key = key_width;
        w.type = type_width > w.type ? type_width : w.type;
    }
    return w;
}

static void print_kvs(output *o, const model *m)
{
    const value_limits limits = { 4, 48 };
    uint64_t n = ggld_kv_count(m->file);
    kv_widths w = kv_widths_of(m);

    out_printf(o, "\n%" PRIu64 " key-value%s\n", n, text_plural(n));
    for (uint64_t i = 0; i < n; i++) {
        const ggld_kv *kv = ggld_kv_at(m->file, i);
        ggld_string key = ggld_kv_key(kv);
        out_text(o, "  ");
        text_put_column(o, key.data, key.len, w.key);
        out_printf(o, "  %-*s  ", (int)w.type, value_type_text(kv).text);
        value_print(o, kv, limits);
        out_text(o, "\n");
    }
}

static void print_sum(output *o, const char *name, const type_sum *sum,
                      uint64_t all_bytes)
{
    double share =
        all_bytes > 0 ? 100.0 * (double)sum->size_bytes / (double)all_bytes : 0;
    out_printf(o, "  %-10s %7" PRIu64 "  %10s  %10s  %18s  %5.1f%%\n", name,
               sum->n_tensors, text_count(sum->n_elems).text,
               text_size(sum->size_bytes).text,
               text_grouped(sum->size_bytes).text, share);
}

static void print_types(output *o, const summary *s)
{
    out_printf(o, "\n%" PRIu64 " tensor%s\n", s->all.n_tensors,
               text_plural(s->all.n_tensors));
    if (s->all.n_tensors == 0)
        return;
    out_printf(o, "  %-10s %7s  %10s  %10s  %18s  %6s\n", "type", "tensors",
               "parameters", "size", "bytes", "share");
    for (size_t i = 0; i < s->n_sums; i++)
        print_sum(o, model_type_text(s->sums[i].type).text, &s->sums[i],
                  s->all.size_bytes);
    if (s->n_sums > 1)
        print_sum(o, "all", &s->all, s->all.size_bytes);
}

static void json_kvs(js *w, const char *key, const model *m)
{
    const value_limits limits = { 4, VALUE_SHORT_BYTES };

    js_array(w, key);
    for (uint64_t i = 0; i < ggld_kv_count(m->file); i++)
        value_json_row(w, NULL, ggld_kv_at(m->file, i), limits);
    js_end(w);
}

static void json_types(js *w, const char *key, const summary *s)
{
    js_array(w, key);
    for (size_t i = 0; i < s->n_sums; i++) {
        js_object(w, NULL);
        js_text(w, "type", model_type_text(s->sums[i].type).text);
        js_u64(w, "type_id", s->sums[i].type);
        js_u64(w, "tensors", s->sums[i].n_tensors);
        js_u64(w, "parameters", s->sums[i].n_elems);
        js_u64(w, "size_bytes", s->sums[i].size_bytes);
        js_end(w);
    }
    js_end(w);
}

/* At least so many zeros end the file, or the files of a set; noted where they
 * are to be, but of a merge's part, which has zeros for what is still to come. */
static uint64_t zero_tails(const model *m, bool noted)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < m->info.n_shards; s++) {
        const ggld_file *shard = ggld_file_shard(m->file, s);
        uint64_t n = ggld_file_zero_tail(shard);
        if (n != 0 && noted && !halfmerged_needs(ggld_file_path(shard)))
            report_note(ggld_file_path(shard),
                        "the last %" PRIu64 " bytes or more are zero: perhaps "
                        "a download that was interrupted after its room was "
                        "set aside; 'ggld check' tells from which byte on",
                        n);
        sum += n;
    }
    return sum;
}

static void json_head(js *w, const model *m)
{
    const ggld_file_info *info = &m->info;

    js_text(w, "file", m->path);
    js_u64(w, "version", info->version);
    js_text(w, "byte_order", info->big_endian ? "big" : "little");
    js_u64(w, "alignment_bytes", info->alignment_bytes);
    json_shards(w, "shards", m);
    js_u64(w, "file_bytes", info->file_bytes);
    js_u64(w, "metadata_bytes", info->metadata_bytes);
    js_u64(w, "data_bytes", info->data_bytes);
    js_u64(w, "data_bytes_declared", m->data_all_bytes);
    js_bool(w, "whole", m->whole);
    js_u64(w, "tensors_whole", m->n_whole);
    js_u64(w, "zero_tail_bytes", zero_tails(m, false));
    js_bool(w, "readable", true);
}

static void json_pending(js *w, ggld_edit_trace trace, const ggld_error *why)
{
    bool clean = trace == GGLD_EDIT_CLEAN;

    js_text(w, "interrupted_edit", clean ? NULL : pending_name(trace));
    js_text(w, "interrupted_edit_message", clean ? NULL : why->message);
}

/* Of a file that an edit has left such that it does not open. */
static void print_json_broken(output *o, const char *path,
                              ggld_edit_trace trace, const ggld_error *why)
{
    js w = js_begin(o);

    js_object(&w, NULL);
    js_text(&w, "file", path);
    js_bool(&w, "readable", false);
    json_pending(&w, trace, why);
    js_end(&w);
}

static void print_json(output *o, const model *m, const summary *s,
                       ggld_edit_trace trace, const ggld_error *why)
{
    ftype_verdict ftype = ftype_of_model(m);
    js w = js_begin(o);

    js_object(&w, NULL);
    json_head(&w, m);
    json_pending(&w, trace, why);
    js_u64(&w, "parameters", m->info.n_elems);
    if (s->bits_per_weight > 0)
        js_f64(&w, "bits_per_weight", s->bits_per_weight);
    else
        js_null(&w, "bits_per_weight");
    js_text(&w, "quantization", ftype.name);
    js_bool(&w, "quantization_declared", ftype.declared);
    js_u64(&w, "kv_count", ggld_kv_count(m->file));
    json_kvs(&w, "kv", m);
    js_u64(&w, "tensor_count", s->all.n_tensors);
    json_types(&w, "types", s);
    js_end(&w);
}

static int info_run(const args *a)
{
    model m;
    summary s;
    ggld_error why;
    bool json = a->values[OPT_JSON] != NULL;
    /* Of one between old and new the opening says it. */
    ggld_edit_trace trace = pending_of(a->operands[0], &why);
    if (trace != GGLD_EDIT_CLEAN && !pending_is_between(trace))
        report_note(a->operands[0], "%s", why.message);
    int status = model_open_partial(&m, a->operands[0],
                                    single_flag(a->values[OPT_SINGLE]));

    if (status != STATUS_GOOD && json && trace != GGLD_EDIT_CLEAN)
        print_json_broken(a->out, a->operands[0], trace, &why);
    if (status != STATUS_GOOD)
        return status;
    model_show(&m, a->out);
    summary_make(&s, &m);
    if (json) {
        print_json(a->out, &m, &s, trace, &why);
    } else {
        (void)zero_tails(&m, true);
        print_head(a->out, &m, &s);
        print_kvs(a->out, &m);
        print_types(a->out, &s);
    }
    model_close(&m);
    return STATUS_GOOD;
}

static const option_row options[] = {
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_info = {
    "info",
    "FILE",
    "Shows what a file is: header, key-values, types of tensors",
    "Long values are shortened ('ggld kv' has them in full). A file whose\n"
    "data is not whole yet is shown as far as it is there, with a note.\n",
    1,
    1,
    options,
    info_run,
};
