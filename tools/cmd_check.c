/* SPDX-License-Identifier: MIT */
/* ggld check: everything that is to be said of a file's structure and, when
 * asked, of its numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "js.h"
#include "model.h"
#include "pending.h"
#include "report.h"
#include "scan.h"
#include "text.h"

enum { OPT_STRICT, OPT_DATA, OPT_SINGLE, OPT_JSON };

/* Guesses at what became of the file, which stand behind or among findings, to
 * be shown apart from them. More than these are seldom said. */
#define HINTS_MAX 8
typedef struct hint {
    uint32_t shard;
    char text[GGLD_MESSAGE_MAX];
} hint;

/* Of findings of one severity, code and section so many are listed as text; one
 * fault makes thousands of the same in a file that is cut in half. */
#define LISTED_MAX 10
#define KINDS_MAX  64
typedef struct kind {
    ggld_severity severity;
    ggld_status code;
    ggld_section section;
    uint64_t n;
} kind;

/* Where findings go. */
typedef struct listing {
    output *out; /* text */
    js *json;    /* in its list; or NULL: text */
    uint64_t n[GGLD_ERROR + 1];
    hint hints[HINTS_MAX];
    size_t n_hints;
    kind kinds[KINDS_MAX];
    size_t n_kinds;
} listing;

static const char *severity_name(ggld_severity severity)
{
    static const char *const names[] = { "note", "warning", "error" };
    return names[severity];
}

static const char *section_name(ggld_section section)
{
    static const char *const names[] = { "none", "file",        "header",
                                         "kv",   "tensor-info", "tensor-data" };
    return (size_t)section < sizeof names / sizeof names[0] ? names[section]
                                                            : "?";
}

static void json_finding(js *w, ggld_severity severity, const ggld_error *f)
{
    js_object(w, NULL);
    js_text(w, "severity", severity_name(severity));
    js_text(w, "code", ggld_status_name(f->code));
    js_text(w, "section", section_name(f->section));
    js_u64_if(w, "index", f->index != GGLD_NO_INDEX, f->index);
    js_u64(w, "offset", f->offset);
    js_u64(w, "shard", f->shard);
    js_text(w, "message", report_words(f->message, true).text);
    js_end(w);
}

/* Several findings may have the same one. */
static void keep_hint(listing *l, const ggld_error *finding)
{
    const char *text = ggld_error_hint(finding);

    if (text == NULL || l->n_hints == HINTS_MAX)
        return;
    for (size_t i = 0; i < l->n_hints; i++)
        if (l->hints[i].shard == finding->shard &&
            strcmp(l->hints[i].text, text) == 0)
            return;
    hint *h = &l->hints[l->n_hints++];
    h->shard = finding->shard;
    snprintf(h->text, sizeof h->text, "%s", text);
}

/* How many of its kind there were, with it. */
static uint64_t count_kind(listing *l, ggld_severity severity,
                           const ggld_error *f)
{
    size_t i = 0;

    while (i < l->n_kinds &&
           (l->kinds[i].severity != severity || l->kinds[i].code != f->code ||
            l->kinds[i].section != f->section))
        i++;
    if (i == KINDS_MAX)
        return 1;
    if (i == l->n_kinds)
        l->kinds[l->n_kinds++] = (kind){ severity, f->code, f->section, 0 };
    return ++l->kinds[i].n;
}

static void print_finding(listing *l, ggld_severity severity,
                          const ggld_error *f)
{
    if (count_kind(l, severity, f) <= LISTED_MAX)
        out_printf(l->out, "%-7s  byte %-12" PRIu64 "  %s\n",
                   severity_name(severity), f->offset,
                   report_words(f->message, true).text);
}

/* What was not listed. */
static void print_more(output *o, const listing *l)
{
    for (size_t i = 0; i < l->n_kinds; i++) {
        const kind *k = &l->kinds[i];
        uint64_t n = k->n - LISTED_MAX;
        if (k->n <= LISTED_MAX)
            continue;
        out_printf(o, "%-7s  and %" PRIu64 " more ", severity_name(k->severity),
                   n);
        if (k->code == GGLD_E_TRUNCATED && k->section == GGLD_IN_TENSOR_DATA)
            out_printf(o, "tensor%s past the end of the file\n",
                       n == 1 ? " ends" : "s end");
        else
            out_printf(o, "of %s, %s (--json has all)\n",
                       section_name(k->section), ggld_status_name(k->code));
    }
}

static void on_finding(ggld_severity severity, const ggld_error *finding,
                       void *user)
{
    listing *l = user;

    l->n[severity]++;
    keep_hint(l, finding);
    if (l->json != NULL)
        json_finding(l->json, severity, finding);
    else
        print_finding(l, severity, finding);
}

static int check_structure(const char *path, uint32_t flags, listing *l)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_error err;

    options.flags = flags;
    if (ggld_check_path(path, &options, on_finding, l, &err) != GGLD_OK)
        return report_error_single(path, &err);
    return STATUS_GOOD;
}

/* The verdict of the mode that nothing is listed for: what a check would call
 * an error, opening refuses. */
static int check_opening(const char *path, uint32_t flags, const listing *l,
                         bool *opens)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;

    options.flags = flags;
    *opens = ggld_open_path(&file, path, &options, &err) == GGLD_OK;
    ggld_close(file);
    if (!*opens && (err.code == GGLD_E_NOMEM ||
                    (err.code == GGLD_E_IO && l->n[GGLD_ERROR] == 0)))
        return report_error_single(path, &err);
    return STATUS_GOOD;
}

typedef struct verdict {
    bool readable; /* it opens */
    bool accepted; /* by ggml: it opens in strict mode */
    bool cut_off;  /* tensor data is missing */
    bool data_checked;
    uint64_t n_bad; /* tensors with values that are no numbers */
} verdict;

static const char *yes_or_no(bool yes)
{
    return yes ? "yes" : "no";
}

static void print_missing(output *o, const model *m)
{
    ggld_tensor_info first = model_tensor(m, m->first_missing);

    out_printf(o,
               "missing: %" PRIu64 " bytes; tensors whole: %" PRIu64
               " of %" PRIu64 "; the first that is not: %" PRIu64 " ",
               m->missing_bytes, m->n_whole, ggld_tensor_count(m->file),
               m->first_missing);
    text_put_quoted(o, first.name.data, first.name.len, 80);
    out_text(o, "\n");
}

static void json_missing(js *w, const model *m)
{
    ggld_tensor_info first = model_tensor(m, m->first_missing);

    js_object(w, "missing");
    js_u64(w, "bytes", m->missing_bytes);
    js_u64(w, "tensors", ggld_tensor_count(m->file));
    js_u64(w, "tensors_whole", m->n_whole);
    js_u64(w, "first_index", m->first_missing);
    js_string(w, "first_name", first.name.data, first.name.len);
    js_end(w);
}

static void print_hints(output *o, const listing *l)
{
    for (size_t i = 0; i < l->n_hints; i++) {
        out_text(o, "hint: ");
        if (l->hints[i].shard != 0)
            out_printf(o, "shard %" PRIu32 ": ", l->hints[i].shard + 1);
        out_printf(o, "%s\n", l->hints[i].text);
    }
}

static void json_hints(js *w, const listing *l)
{
    js_array(w, "hints");
    for (size_t i = 0; i < l->n_hints; i++) {
        js_object(w, NULL);
        js_u64(w, "shard", l->hints[i].shard);
        js_text(w, "text", l->hints[i].text);
        js_end(w);
    }
    js_end(w);
}

static void print_verdict(output *o, const listing *l, const model *m,
                          const verdict *v)
{
    out_printf(
        o, "%" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64 " note%s\n",
        l->n[GGLD_ERROR], text_plural(l->n[GGLD_ERROR]), l->n[GGLD_WARNING],
        text_plural(l->n[GGLD_WARNING]), l->n[GGLD_NOTE],
        text_plural(l->n[GGLD_NOTE]));
    print_hints(o, l);
    if (v->cut_off)
        print_missing(o, m);
    out_printf(o, "readable: %s\ncontainer accepted by ggml: %s\n",
               yes_or_no(v->readable), yes_or_no(v->accepted));
    if (v->data_checked)
        out_printf(o, "data all finite: %s\n", yes_or_no(v->n_bad == 0));
}

static int check_data(const args *a, listing *l, verdict *v)
{
    model m;
    int status =
        model_open_with(&m, a->operands[0], single_flag(a->values[OPT_SINGLE]));

    if (status != STATUS_GOOD)
        return status;
    model_show(&m, a->out);
    status = scan_data(&m, a->out, l->json, &v->n_bad);
    if (status == STATUS_GOOD)
        status = model_unchanged(&m);
    l->n[GGLD_ERROR] += v->n_bad;
    model_close(&m);
    return status;
}

/* An edit in place that did not come to its end is an error of the file where it
 * has left it between old and new. */
static void check_pending(const char *path, listing *l)
{
    ggld_error why;

    switch (pending_of(path, &why)) {
    case GGLD_EDIT_CLEAN:
        return;
    case GGLD_EDIT_UNTOUCHED:
    case GGLD_EDIT_DONE:
    case GGLD_EDIT_REST:
        on_finding(GGLD_NOTE, &why, l);
        return;
    case GGLD_EDIT_STRANGE:
        on_finding(GGLD_WARNING, &why, l);
        return;
    default:
        on_finding(GGLD_ERROR, &why, l);
    }
}

/* Both verdicts, whichever of them the findings are listed for. */
static int judge(const args *a, listing *l, verdict *v)
{
    bool strict = a->values[OPT_STRICT] != NULL;
    const char *path = a->operands[0];
    uint32_t flags = single_flag(a->values[OPT_SINGLE]);
    uint32_t strictly = flags | GGLD_OPEN_STRICT;
    int status = check_structure(path, strict ? strictly : flags, l);
    bool listed = l->n[GGLD_ERROR] == 0, other = false;

    if (status == STATUS_GOOD)
        status = check_opening(path, strict ? flags : strictly, l, &other);
    v->readable = strict ? other : listed;
    v->accepted = strict ? listed : other;
    if (status == STATUS_GOOD)
        check_pending(path, l);
    return status;
}

static bool check_peek(const args *a, model *m)
{
    if (!model_peek(m, a->operands[0], single_flag(a->values[OPT_SINGLE])))
        return false;
    model_show(m, a->out);
    return true;
}

/* All but the findings in data. */
static int check_all(const args *a, listing *l, model *m, verdict *v)
{
    /* It is opened several times, and has to be the same each time. */
    bool there = check_peek(a, m);
    int status = judge(a, l, v);

    if (status == STATUS_GOOD && model_is_cut(m))
        status = STATUS_FAULT;
    if (status == STATUS_GOOD)
        v->cut_off = (there || check_peek(a, m)) && m->missing_bytes != 0;
    v->data_checked = v->readable && a->values[OPT_DATA] != NULL;
    return status;
}

static int check_text(const args *a, listing *l, model *m, verdict *v)
{
    int status = check_all(a, l, m, v);

    print_more(a->out, l);
    if (status == STATUS_GOOD && v->data_checked)
        status = check_data(a, l, v);
    if (status == STATUS_GOOD)
        print_verdict(a->out, l, m, v);
    return status;
}

static int check_json(const args *a, listing *l, model *m, verdict *v)
{
    js w = js_begin(a->out);

    /* cppcheck-suppress autoVariables; taken back below */
    l->json = &w;
    js_object(&w, NULL);
    js_text(&w, "file", a->operands[0]);
    js_array(&w, "findings");
    int status = check_all(a, l, m, v);
    js_end(&w);
    if (v->cut_off)
        json_missing(&w, m);
    else
        js_null(&w, "missing");
    json_hints(&w, l);
    js_bool(&w, "readable", v->readable);
    js_bool(&w, "accepted_by_ggml", v->accepted);
    js_bool(&w, "data_checked", v->data_checked);
    js_array(&w, "data_findings");
    if (status == STATUS_GOOD && v->data_checked)
        status = check_data(a, l, v);
    js_end(&w);
    js_end(&w);
    l->json = NULL;
    if (status != STATUS_GOOD)
        out_drop(a->out);
    return status;
}

static int check_run(const args *a)
{
    listing l = { .out = a->out };
    verdict v = { .n_bad = 0 };
    model m = { .file = NULL };
    int status = a->values[OPT_JSON] != NULL ? check_json(a, &l, &m, &v)
                                             : check_text(a, &l, &m, &v);

    model_close(&m);
    if (status != STATUS_GOOD)
        return status;
    return l.n[GGLD_ERROR] == 0 ? STATUS_GOOD : STATUS_FAULT;
}

static const option_row options[] = {
    [OPT_STRICT] = { "strict", 0, NULL,
                     "what ggml would refuse is an error too" },
    [OPT_DATA] = { "data", 0, NULL,
                   "look for NaN and infinity in scales and floats" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_check = {
    "check",
    "FILE",
    "Checks a file's structure and, with --data, its numbers",
    "Lists every finding with its severity and byte, then hints at what\n"
    "became of the file, what is missing of one that is cut off, and two\n"
    "verdicts: whether it can be read, and whether ggml takes it as a\n"
    "container. Exit status 1 where there is an error among the findings.\n"
    "Of a shard all of its set are checked.\n",
    1,
    1,
    options,
    check_run,
};
