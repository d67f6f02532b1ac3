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

static void json_name(js *w, const char *key, bool known, ggld_string name)
{
    if (known)
        js_string(w, key, name.data, (size_t)name.len);
    else
        js_null(w, key);
}

static void json_item(js *w, const ggld_verify_item *item)
{
    bool bad = item->bad_bytes != 0;
    js_object(w, NULL);
    js_text(w, "verdict", ggld_verdict_name(item->verdict));
    js_text(w, "of", scope_text(item->scope));
    json_name(w, "name", item->scope == GGLD_SCOPE_TENSOR, item->name);
    json_name(w, "new_name", item->verdict == GGLD_VERDICT_RENAMED,
              item->new_name);
    js_digest(w, "expected", &item->expected);
    js_digest(w, "actual", &item->actual);
    js_u64_if(w, "bad_offset", bad, item->bad_offset_bytes);
    js_u64_if(w, "bad_bytes", bad, item->bad_bytes);
    js_text(w, "message", item->message);
    js_end(w);
}

/* How many there are of each verdict, listed or not. */
static void json_counts(js *w, const ggld_verify_report *report)
{
    ggld_verify_info info = { .struct_size = sizeof info };
    if (report != NULL)
        ggld_verify_report_get_info(report, &info);
    js_object(w, "counts");
    for (uint32_t i = 0; i <= GGLD_VERDICT_UNCOVERED; i++)
        js_u64(w, ggld_verdict_name(i), info.n_by_verdict[i]);
    js_end(w);
}

/* What the root that was given is of; null where none was. */
static void json_by_root(js *w, const verifying *v)
{
    if (!v->is_pinned) {
        js_null(w, "by_root");
        return;
    }
    js_array(w, "by_root");
    js_text(w, NULL, "metadata");
    js_text(w, NULL, "chunks");
    js_end(w);
}

static void json_items(js *w, const verifying *v, const verify_run *r)
{
    listing l = { .v = v, .report = r->report };
    ggld_verify_item item = { .struct_size = sizeof item };
    js_array(w, "items");
    while (r->report != NULL && next_item(&l, &item))
        json_item(w, &item);
    js_end(w);
    js_u64(w, "items_left_out", l.n_left_out);
}

static void print_json(const verifying *v, const verify_run *r, bool good)
{
    js own = js_begin(v->a->out), *w = v->all != NULL ? v->all : &own;
    js_object(w, NULL);
    js_text(w, "file", v->path);
    js_text(w, "manifest", v->manifest_path);
    js_bool(w, "good", good);
    js_bool(w, "signed", v->is_signed);
    js_bool(w, "from_cache", v->from_cache);
    js_bool(w, "complete", good && v->complete);
    json_by_root(w, v);
    js_text(w, "unreadable",
            v->unopened.code != GGLD_OK ? v->unopened.message : NULL);
    js_text(w, "summary",
            r->report != NULL ? ggld_verify_report_summary(r->report)
                              : "good: verified before");
    json_counts(w, r->report);
    json_items(w, v, r);
    js_u64(w, "read_bytes", r->run.done_bytes);
    js_measure(w, "seconds", r->run.seconds);
    js_measure(w, "bytes_per_s", job_rate(&r->run));
    js_end(w);
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
    uint64_t n = info.n_bad + info.n_by_verdict[GGLD_VERDICT_SAME] +
                 info.n_by_verdict[GGLD_VERDICT_UNCOVERED];
    if (info.n_bad != 0)
        out_printf(o, "bad: %" PRIu64 " of %" PRIu64 " item%s", info.n_bad, n,
                   text_plural(n));
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
    if (v->all == NULL)
        return;
    js_object(v->all, NULL);
    js_text(v->all, "file", v->path);
    js_text(v->all, "manifest", v->manifest_path);
    js_bool(v->all, "good", false);
    js_text(v->all, "summary", "not compared: standard error says why");
    js_end(v->all);
}
