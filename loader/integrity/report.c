/* SPDX-License-Identifier: MIT */
/* Items of a report, its verdict, and the public getters. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/plural.h"
#include "../base/quote.h"

const char *ggld_verdict_name(uint32_t verdict)
{
    static const char *const names[] = {
        [GGLD_VERDICT_SAME] = "same",
        [GGLD_VERDICT_DIFFERS] = "differs",
        [GGLD_VERDICT_MISSING] = "missing",
        [GGLD_VERDICT_EXTRA] = "extra",
        [GGLD_VERDICT_RENAMED] = "renamed",
        [GGLD_VERDICT_RETYPED] = "retyped",
        [GGLD_VERDICT_RESHAPED] = "reshaped",
        [GGLD_VERDICT_RESIZED] = "resized",
        [GGLD_VERDICT_UNCOVERED] = "uncovered",
    };
    return verdict < GGLD_VERDICTS ? names[verdict] : "?";
}

static bool is_bad(uint32_t verdict)
{
    return verdict != GGLD_VERDICT_SAME && verdict != GGLD_VERDICT_UNCOVERED;
}

/* ---- putting together ---- */

static bool room_for_one(ggld_verify_report *r)
{
    if (r->n_items < r->capacity)
        return true;
    uint64_t capacity = r->capacity == 0 ? 64 : r->capacity * 2;
    ggld_found *items =
        reallocarray(r->items, (size_t)capacity, sizeof *r->items);
    if (items == NULL)
        return false;
    r->items = items;
    r->capacity = capacity;
    return true;
}

#define NAMES_BYTES (64u << 10)

static bool room_for_name(ggld_verify_report *r, size_t len)
{
    if (r->names != NULL && r->names->size - r->names->used >= len)
        return true;
    size_t size = len > NAMES_BYTES ? len : NAMES_BYTES;
    ggld_report_block *block = malloc(sizeof *block + size);
    if (block == NULL)
        return false;
    block->next = r->names;
    block->used = 0;
    block->size = size;
    r->names = block;
    return true;
}

static bool keep(ggld_verify_report *r, ggld_string *name)
{
    if (name->len == 0) {
        name->data = "";
        return true;
    }
    if (!room_for_name(r, (size_t)name->len))
        return false;
    char *copy = r->names->data + r->names->used;
    memcpy(copy, name->data, (size_t)name->len);
    r->names->used += (size_t)name->len;
    name->data = copy;
    return true;
}

static char *message_of(const ggld_verify_report *r, const char *format,
                        va_list args)
{
    char text[GGLD_MESSAGE_MAX];
    size_t used = strlen(r->label);
    memcpy(text, r->label, used);
    if (vsnprintf(text + used, sizeof text - used, format, args) >=
        (int)(sizeof text - used))
        memcpy(text + sizeof text - 4, "...", 4);
    return strdup(text);
}

static void count(ggld_verify_report *r, const ggld_found *item)
{
    bool compared = item->expected.algo != 0 && item->actual.algo != 0;
    r->n_compared += compared;
    r->n_by_verdict[item->verdict]++;
    r->n_bad += is_bad(item->verdict);
    if (item->verdict == GGLD_VERDICT_UNCOVERED) {
        r->metadata_uncovered |= item->scope == GGLD_SCOPE_METADATA;
        r->data_uncovered |= item->scope != GGLD_SCOPE_METADATA;
    }
    if (item->verdict == GGLD_VERDICT_SAME)
        r->n_by_scope[item->scope % 32]++;
}

void ggld_report_put(ggld_verify_report *r, const ggld_found *found,
                     const char *format, ...)
{
    ggld_found item = *found;
    count(r, &item);
    if (r->no_same && item.verdict == GGLD_VERDICT_SAME)
        return;
    if (is_bad(item.verdict) && r->n_bad > GGLD_REPORT_MOST_BAD) {
        r->n_left_out++;
        return;
    }
    if (!room_for_one(r) || !keep(r, &item.name) || !keep(r, &item.new_name)) {
        r->failed = true;
        return;
    }
    item.message = NULL;
    item.shard = r->shard;
    if (item.verdict != GGLD_VERDICT_SAME) {
        va_list args;
        va_start(args, format);
        item.message = message_of(r, format, args);
        va_end(args);
        r->failed |= item.message == NULL;
    }
    r->items[r->n_items++] = item;
}

/* ---- the verdict ---- */

static const char *first_bad(const ggld_verify_report *r)
{
    for (uint64_t i = 0; i < r->n_items; i++)
        if (is_bad(r->items[i].verdict) && r->items[i].message != NULL)
            return r->items[i].message;
    return "";
}

static void summarize_good(ggld_verify_report *r)
{
    const uint64_t *n = r->n_by_scope;
    int len = snprintf(r->summary, sizeof r->summary, "good:");
    const struct {
        uint32_t scope;
        const char *text;
    } parts[] = {
        { GGLD_SCOPE_FILE, "the whole file" },
        { GGLD_SCOPE_METADATA, "metadata" },
        { GGLD_SCOPE_TENSORS, "the tensors together" },
        { GGLD_SCOPE_CHUNKS, "the chunks of the data section" },
    };
    const char *comma = "";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (n[parts[i].scope] == 0)
            continue;
        len += snprintf(r->summary + len, sizeof r->summary - (size_t)len,
                        "%s %s", comma, parts[i].text);
        comma = ",";
    }
    if (n[GGLD_SCOPE_TENSOR] != 0)
        len +=
            snprintf(r->summary + len, sizeof r->summary - (size_t)len,
                     "%s %" PRIu64 " digest%s of tensors", comma,
                     n[GGLD_SCOPE_TENSOR], ggld_plural(n[GGLD_SCOPE_TENSOR]));
    if (r->n_by_verdict[GGLD_VERDICT_UNCOVERED] != 0)
        snprintf(r->summary + len, sizeof r->summary - (size_t)len,
                 "; not covered: %s%s%s",
                 r->metadata_uncovered ? "the metadata" : "",
                 r->metadata_uncovered && r->data_uncovered ? ", " : "",
                 r->data_uncovered ? "the tensors" : "");
}

/* The first, cut where there is no room for the rest, and seen to be cut. */
static void summarize_bad(ggld_verify_report *r)
{
    const char *first = first_bad(r), *dots = "";
    char more[40];
    uint64_t len = strlen(first);

    snprintf(more, sizeof more, " (and %" PRIu64 " more)", r->n_bad - 1);
    size_t room = sizeof r->summary - 1 - strlen(more);
    if (len > room) {
        dots = "...";
        len = ggld_utf8_prefix(first, room - strlen(dots));
    }
    snprintf(r->summary, sizeof r->summary, "%.*s%s%s", (int)len, first, dots,
             more);
}

ggld_status ggld_report_close(ggld_verify_report *r, ggld_error *err)
{
    if (r->failed)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for the report");
    if (r->n_bad == 1)
        snprintf(r->summary, sizeof r->summary, "%s", first_bad(r));
    else if (r->n_bad != 0)
        summarize_bad(r);
    else if (r->n_compared == 0)
        snprintf(r->summary, sizeof r->summary,
                 "nothing was compared: the manifest has no digest of this "
                 "file");
    else
        summarize_good(r);
    return GGLD_OK;
}

/* ---- getters ---- */

uint64_t ggld_verify_report_count(const ggld_verify_report *r)
{
    return r->n_items;
}

bool ggld_verify_report_at(const ggld_verify_report *r, uint64_t index,
                           ggld_verify_item *out)
{
    if (index >= r->n_items)
        return false;
    const ggld_found *found = &r->items[index];
    ggld_verify_item item = { 0 };
    item.struct_size = out->struct_size;
    item.verdict = found->verdict;
    item.scope = found->scope;
    item.name = found->name;
    item.new_name = found->new_name;
    item.expected = found->expected;
    item.actual = found->actual;
    item.bad_offset_bytes = found->bad_offset;
    item.bad_bytes = found->bad_bytes;
    item.shard = found->shard;
    if (found->message != NULL)
        memcpy(item.message, found->message, strlen(found->message) + 1);
    memcpy(out, &item, ggld_min_u64(out->struct_size, sizeof item));
    return true;
}

bool ggld_verify_report_good(const ggld_verify_report *r)
{
    return r->n_bad == 0 && r->n_compared != 0;
}

bool ggld_verify_report_complete(const ggld_verify_report *r)
{
    return ggld_verify_report_good(r) &&
           r->n_by_verdict[GGLD_VERDICT_UNCOVERED] == 0;
}

void ggld_verify_report_get_info(const ggld_verify_report *r,
                                 ggld_verify_info *out)
{
    ggld_verify_info info = { 0 };
    info.struct_size = out->struct_size;
    info.n_compared = r->n_compared;
    info.n_bad = r->n_bad;
    info.n_left_out = r->n_left_out;
    memcpy(info.n_by_verdict, r->n_by_verdict, sizeof r->n_by_verdict);
    memcpy(out, &info, ggld_min_u64(out->struct_size, sizeof info));
}

const char *ggld_verify_report_summary(const ggld_verify_report *r)
{
    return r->summary;
}

void ggld_verify_report_free(ggld_verify_report *r)
{
    if (r == NULL)
        return;
    for (uint64_t i = 0; i < r->n_items; i++)
        free(r->items[i].message);
    free(r->items);
    while (r->names != NULL) {
        ggld_report_block *block = r->names;
        r->names = block->next;
        free(block);
    }
    free(r);
}
