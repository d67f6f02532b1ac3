/* SPDX-License-Identifier: MIT */
/* What ggld verify says of a file: what is not as it should be, so many of it,
 * and the verdict. */
#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "text.h"
#include "verifying.h"

/* ---- which items are listed ---- */

/* What is wrong may be wrong a million times. */
#define MOST_ITEMS 1000u

typedef struct listing {
    const verifying *v;
    const ggld_verify_report *report;
    uint64_t next;
    uint64_t n_listed;
    uint64_t n_left_out; /* known once there is no next */
} listing;

static bool next_item(listing *l, ggld_verify_item *item)
{
    bool all = l->v->a->values[VERIFY_ALL] != NULL;
    while (ggld_verify_report_at(l->report, l->next++, item)) {
        if (item->verdict == GGLD_VERDICT_SAME && !all)
            continue;
        if (all || l->n_listed < MOST_ITEMS) {
            l->n_listed++;
            return true;
        }
        l->n_left_out++;
    }
    ggld_verify_info info = { .struct_size = sizeof info };
    ggld_verify_report_get_info(l->report, &info);
    l->n_left_out += info.n_left_out;
    return false;
}

/* ---- JSON ---- */

static json_object *json_item(const ggld_verify_item *item)
{
    json_object *row = js_object();
    bool renamed = item->verdict == GGLD_VERDICT_RENAMED;
    js_set_text(row, "verdict", ggld_verdict_name(item->verdict));
    js_set_text(row, "of", scope_text(item->scope));
    js_set(row, "name",
           item->scope == GGLD_SCOPE_TENSOR
               ? js_text(item->name.data, (size_t)item->name.len)
               : NULL);
    js_set(row, "new_name",
           renamed ? js_text(item->new_name.data, (size_t)item->new_name.len)
                   : NULL);
    js_set(row, "expected", js_digest(&item->expected));
    js_set(row, "actual", js_digest(&item->actual));
    js_set(row, "bad_offset",
           item->bad_bytes != 0 ? js_u64(item->bad_offset_bytes) : NULL);
    js_set(row, "bad_bytes",
           item->bad_bytes != 0 ? js_u64(item->bad_bytes) : NULL);
    js_set_text(row, "message", item->message);
    return row;
}

/* How many there are of each verdict, listed or not. */
static json_object *json_counts(const ggld_verify_report *report)
{
    json_object *counts = js_object();
    ggld_verify_info info = { .struct_size = sizeof info };
    if (report != NULL)
        ggld_verify_report_get_info(report, &info);
    for (uint32_t i = 0; i <= GGLD_VERDICT_UNCOVERED; i++)
        js_set_u64(counts, ggld_verdict_name(i), info.n_by_verdict[i]);
    return counts;
}

/* What the root that was given is of; null where none was. */
static json_object *json_by_root(const verifying *v)
{
    if (!v->is_pinned)
        return NULL;
    json_object *scopes = js_array();
    js_append(scopes, js_text("metadata", 8));
    js_append(scopes, js_text("chunks", 6));
    return scopes;
}

static void print_json(const verifying *v, const verify_run *r, bool good)
{
    json_object *object = js_object(), *items = js_array();
    listing l = { .v = v, .report = r->report };
    ggld_verify_item item = { .struct_size = sizeof item };
    while (r->report != NULL && next_item(&l, &item))
        js_append(items, json_item(&item));
    js_set_text(object, "file", v->path);
    js_set_text(object, "manifest", v->manifest_path);
    js_set(object, "good", js_bool(good));
    js_set(object, "signed", js_bool(v->is_signed));
    js_set(object, "from_cache", js_bool(v->from_cache));
    js_set(object, "complete", js_bool(good && v->complete));
    js_set(object, "by_root", json_by_root(v));
    js_set(object, "unreadable",
           v->unopened.code != GGLD_OK
               ? js_text(v->unopened.message, strlen(v->unopened.message))
               : NULL);
    js_set_text(object, "summary",
                r->report != NULL ? ggld_verify_report_summary(r->report)
                                  : "good: verified before");
    js_set(object, "counts", json_counts(r->report));
    js_set(object, "items", items);
    js_set_u64(object, "items_left_out", l.n_left_out);
    js_set_u64(object, "read_bytes", r->run.done_bytes);
    js_set(object, "seconds", js_measure(r->run.seconds));
    js_set(object, "bytes_per_s", js_measure(job_rate(&r->run)));
    if (v->all != NULL)
        js_append(v->all, object);
    else
        js_print(v->a->out, object);
}

/* ---- lines ---- */

static void print_shard(const verifying *v)
{
    const char *slash = strrchr(v->path, '/');
    const char *name = slash != NULL ? slash + 1 : v->path;
    if (!v->of_set)
        return;
    text_put_name(v->a->out, name, strlen(name));
    out_text(v->a->out, ": ");
}

static void print_item(output *o, const ggld_verify_item *item)
{
    out_printf(o, "%-9s  ", ggld_verdict_name(item->verdict));
    if (item->verdict != GGLD_VERDICT_SAME) {
        out_text(o, item->message); /* names in it are safe already */
    } else {
        out_printf(o, "%s of ", ggld_algo_name(item->expected.algo));
        out_text(o, scope_text(item->scope));
        out_text(o, item->name.len != 0 ? " " : "");
        text_put_name(o, item->name.data, (size_t)item->name.len);
    }
    out_text(o, "\n");
}

static void print_report(const verifying *v, const ggld_verify_report *report)
{
    output *o = v->a->out;
    listing l = { .v = v, .report = report };
    ggld_verify_item item = { .struct_size = sizeof item };
    ggld_verify_info info = { .struct_size = sizeof info };
    ggld_verify_report_get_info(report, &info);
    while (next_item(&l, &item)) {
        print_shard(v);
        print_item(o, &item);
    }
    if (l.n_left_out != 0) {
        print_shard(v);
        out_printf(o, "and %" PRIu64 " more\n", l.n_left_out);
    }
    print_shard(v);
    if (info.n_bad != 0)
        out_printf(o, "bad: %" PRIu64 " of %" PRIu64 " items", info.n_bad,
                   info.n_bad + info.n_by_verdict[GGLD_VERDICT_SAME] +
                       info.n_by_verdict[GGLD_VERDICT_UNCOVERED]);
    else
        out_text(o, ggld_verify_report_summary(report));
}

static void print_text(const verifying *v, const verify_run *r, bool good)
{
    if (r->report != NULL)
        print_report(v, r->report);
    else {
        print_shard(v);
        out_text(v->a->out, "good: verified before, and not changed since");
        if (!v->complete)
            out_text(v->a->out, "; not all of it is covered");
    }
    if (!v->complete && v->a->values[VERIFY_COMPLETE] != NULL)
        out_text(v->a->out, " (and so not complete)");
    if (v->is_pinned && good)
        out_text(v->a->out,
                 " (by the root: metadata and chunks, and nothing else)");
    out_text(v->a->out, v->is_signed ? " (signed)\n" : "\n");
    if (r->report != NULL)
        job_note(&r->run);
}

void verify_print(const verifying *v, const verify_run *r, bool good)
{
    if (v->a->values[VERIFY_JSON] != NULL)
        print_json(v, r, good);
    else
        print_text(v, r, good);
}

void verify_print_failed(const verifying *v)
{
    json_object *object;
    if (v->all == NULL)
        return;
    object = js_object();
    js_set_text(object, "file", v->path);
    js_set_text(object, "manifest", v->manifest_path);
    js_set(object, "good", js_bool(false));
    js_set_text(object, "summary", "not compared: standard error says why");
    js_append(v->all, object);
}
