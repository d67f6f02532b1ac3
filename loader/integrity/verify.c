/* SPDX-License-Identifier: MIT */
/* Goes through a manifest entry by entry, then through what only the file has.
 * Both manifests are sealed; tensors are found by name, and those that are
 * missing once more by their digest. */
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/tensor.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "formats.h"
#include "names.h"
#include "report.h"

/* A tensor that the manifest does not name. */
typedef struct extra {
    uint64_t index;
    const ggld_digest *digest; /* by the algo that renames are told from */
    bool taken;
    uint64_t n_taken; /* of the run with this digest, kept at its first one */
} extra;

typedef struct comparison {
    const ggld_manifest *expected;
    const ggld_manifest *actual;
    const ggld_file *file;
    ggld_verify_report *report;
    uint32_t rename_algo; /* 0: the manifest has no tensors */
    extra *extras;        /* by digest */
    uint64_t n_extras;
    ggld_string last_renamed; /* its other digests need no search */
    ggld_string last_new_name;
} comparison;

ggld_status ggld_verify_request_of(const ggld_manifest *expected,
                                   ggld_hash_request *out, ggld_error *err)
{
    ggld_hash_request r = { 0, 0, 0, 0 };
    for (uint64_t i = 0; i < expected->n_entries; i++) {
        r.scopes |= expected->entries[i].scope;
        r.algos |= GGLD_ALGO_BIT(expected->entries[i].digest.algo);
    }
    if (expected->tree.algo != 0) {
        r.scopes |= GGLD_SCOPE_CHUNKS;
        r.chunk_algo = expected->tree.algo;
        r.chunk_bytes = expected->tree.chunk_bytes;
    }
    if (r.scopes == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verify: the manifest has no digests at all");
    *out = r;
    return GGLD_OK;
}

static bool has_tensor(const ggld_manifest *m, ggld_string name)
{
    for (uint32_t algo = 1; algo < GGLD_ALGO_LIMIT; algo++)
        if (ggld_manifest_find(m, 0, GGLD_SCOPE_TENSOR, algo, name) != NULL)
            return true;
    return false;
}

/* ---- chunks ---- */

/* The first chunk in [first, end) whose digests differ, or end. */
static uint64_t bad_chunk(const comparison *c, uint64_t first, uint64_t end)
{
    const ggld_tree *a = &c->expected->tree, *b = &c->actual->tree;
    for (uint64_t i = first; i < end; i++) {
        if (i >= a->n_chunks || i >= b->n_chunks ||
            memcmp(a->leaves + i * a->leaf_bytes, b->leaves + i * b->leaf_bytes,
                   a->leaf_bytes) != 0)
            return i;
    }
    return end;
}

/* Sets the item's bad range to the first bad chunk of [offset, offset + size)
 * of the file. */
static void find_bad_range(const comparison *c, uint64_t offset, uint64_t size,
                           ggld_found *item)
{
    const ggld_tree *tree = &c->expected->tree;
    uint64_t data = c->actual->subjects[0].metadata_bytes;
    if (tree->algo == 0 || size == 0 || offset < data)
        return;
    uint64_t first = (offset - data) / tree->chunk_bytes;
    uint64_t end = (offset - data + size - 1) / tree->chunk_bytes + 1;
    uint64_t bad = bad_chunk(c, first, end);
    if (bad == end)
        return;
    uint64_t begin = data + bad * tree->chunk_bytes;
    uint64_t stop = ggld_min_u64(begin + tree->chunk_bytes, offset + size);
    begin = begin > offset ? begin : offset;
    item->bad_offset = begin;
    item->bad_bytes = stop - begin;
}

static uint64_t count_bad(const comparison *c, uint64_t first, uint64_t end)
{
    uint64_t n = 0;
    for (uint64_t i = bad_chunk(c, first, end); i < end;
         i = bad_chunk(c, i + 1, end))
        n++;
    return n;
}

static void compare_tree(comparison *c)
{
    const ggld_tree *a = &c->expected->tree, *b = &c->actual->tree;
    uint64_t n = a->n_chunks > b->n_chunks ? a->n_chunks : b->n_chunks;
    ggld_found item = { .scope = GGLD_SCOPE_CHUNKS,
                        .name = { "", 0 },
                        .new_name = { "", 0 },
                        .expected = a->root,
                        .actual = b->root };
    if (a->algo == 0)
        return;
    uint64_t bad = bad_chunk(c, 0, n);
    if (bad == n) {
        ggld_report_put(c->report, &item, "%s", "");
        return;
    }
    item.verdict = GGLD_VERDICT_DIFFERS;
    if (bad < a->n_chunks)
        ggld_tree_leaf(a, bad, &item.expected);
    if (bad < b->n_chunks)
        ggld_tree_leaf(b, bad, &item.actual);
    item.bad_offset =
        c->actual->subjects[0].metadata_bytes + bad * a->chunk_bytes;
    item.bad_bytes =
        bad < b->n_chunks ? ggld_tree_chunk_size(b, bad) : a->chunk_bytes;
    ggld_report_put(c->report, &item,
                    "%" PRIu64 " of %" PRIu64 " chunks of the data section "
                    "differ, the first one at bytes %" PRIu64 " + %" PRIu64,
                    count_bad(c, 0, n), n, item.bad_offset, item.bad_bytes);
}

/* ---- digests ---- */

/* "tensor 'x'" and so on. */
static ggld_quoted subject_text(const ggld_found *item)
{
    ggld_quoted q;
    if (item->scope == GGLD_SCOPE_TENSOR)
        return ggld_quote(item->name.data, item->name.len);
    memset(&q, 0, sizeof q);
    switch (item->scope) {
    case GGLD_SCOPE_FILE:
        strcpy(q.text, "the file");
        break;
    case GGLD_SCOPE_METADATA:
        strcpy(q.text, "the metadata");
        break;
    default:
        strcpy(q.text, "the tensors together");
        break;
    }
    return q;
}

static void put_differs(comparison *c, const ggld_found *item)
{
    char expected[GGLD_DIGEST_TEXT_MAX], actual[GGLD_DIGEST_TEXT_MAX];
    char where[64] = "";
    const char *kind = item->scope == GGLD_SCOPE_TENSOR ? "tensor " : "";
    const char *algo = ggld_algo_name(item->expected.algo);
    ggld_digest_text(&item->expected, expected);
    ggld_digest_text(&item->actual, actual);
    if (ggld_digest_is_empty_input(&item->expected)) {
        ggld_report_put(c->report, item,
                        "%s%s differs: the manifest has the %s of no bytes at "
                        "all (%.16s...), made of an empty file; it is %s",
                        kind, subject_text(item).text, algo, expected, actual);
        return;
    }
    if (item->bad_bytes != 0)
        snprintf(where, sizeof where, " first in bytes %" PRIu64 " + %" PRIu64,
                 item->bad_offset, item->bad_bytes);
    ggld_report_put(c->report, item, "%s%s differs%s: expected %s %s, it is %s",
                    kind, subject_text(item).text, where, algo, expected,
                    actual);
}

static ggld_found item_of(const ggld_entry *entry)
{
    ggld_found item = { .scope = entry->scope,
                        .name = entry->name,
                        .new_name = { "", 0 },
                        .expected = entry->digest };
    return item;
}

static void compare_one(comparison *c, const ggld_entry *entry)
{
    ggld_found item = item_of(entry);
    const ggld_entry *actual = ggld_manifest_find(
        c->actual, 0, entry->scope, entry->digest.algo, entry->name);
    if (actual != NULL)
        item.actual = actual->digest;
    if (ggld_digest_equal(&item.expected, &item.actual)) {
        ggld_report_put(c->report, &item, "%s", "");
        return;
    }
    item.verdict = GGLD_VERDICT_DIFFERS;
    put_differs(c, &item);
}

/* ---- tensors ---- */

static ggld_string shape_text(const ggld_shape *shape, ggld_text *t)
{
    ggld_string text = { "", 0 };
    ggld_shape_put(t, shape);
    if (!t->failed) {
        text.data = t->data;
        text.len = t->len;
    }
    return text;
}

static bool compare_shape(comparison *c, const ggld_entry *entry,
                          const ggld_entry *actual, ggld_found *item)
{
    if (entry->shape == GGLD_NO_SHAPE)
        return true;
    const ggld_shape *a = &c->expected->shapes[entry->shape];
    const ggld_shape *b = &c->actual->shapes[actual->shape];
    bool same_dims =
        a->n_dims == b->n_dims && memcmp(a->dims, b->dims, sizeof a->dims) == 0;
    if (a->type == b->type && same_dims)
        return true;
    ggld_text was = { 0 }, is = { 0 };
    ggld_string was_text = shape_text(a, &was);
    ggld_string is_text = shape_text(b, &is);
    item->verdict =
        a->type != b->type ? GGLD_VERDICT_RETYPED : GGLD_VERDICT_RESHAPED;
    ggld_report_put(c->report, item,
                    "tensor %s is %s: expected %.*s, it is %.*s",
                    ggld_quote(item->name.data, item->name.len).text,
                    ggld_verdict_name(item->verdict), (int)was_text.len,
                    was_text.data, (int)is_text.len, is_text.data);
    ggld_text_free(&was);
    ggld_text_free(&is);
    return false;
}

static int by_digest(const void *a, const void *b)
{
    const extra *x = a, *y = b;
    int order =
        memcmp(x->digest->bytes, y->digest->bytes, sizeof x->digest->bytes);
    if (order != 0)
        return order;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Takes the first extra tensor with that digest that is left. */
static const extra *take_extra(const comparison *c, const ggld_digest *digest)
{
    uint64_t low = 0, high = c->n_extras;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (memcmp(c->extras[middle].digest->bytes, digest->bytes,
                   sizeof digest->bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == c->n_extras)
        return NULL;
    uint64_t next = low + c->extras[low].n_taken;
    if (next >= c->n_extras ||
        !ggld_digest_equal(c->extras[next].digest, digest))
        return NULL;
    c->extras[low].n_taken++;
    c->extras[next].taken = true;
    return &c->extras[next];
}

static void put_renamed(comparison *c, ggld_found *item, ggld_string new_name)
{
    item->verdict = GGLD_VERDICT_RENAMED;
    item->new_name = new_name;
    item->actual = item->expected;
    ggld_report_put(c->report, item, "tensor %s is called %s now",
                    ggld_quote(item->name.data, item->name.len).text,
                    ggld_quote(new_name.data, new_name.len).text);
}

static void compare_missing(comparison *c, ggld_found *item)
{
    const extra *other = NULL;
    if (c->last_renamed.data != NULL &&
        ggld_string_equal(c->last_renamed, item->name)) {
        put_renamed(c, item, c->last_new_name);
        return;
    }
    if (item->expected.algo == c->rename_algo &&
        !ggld_digest_is_empty_input(&item->expected))
        other = take_extra(c, &item->expected);
    if (other != NULL) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(c->file, other->index), &info);
        c->last_renamed = item->name;
        c->last_new_name = info.name;
        put_renamed(c, item, info.name);
        return;
    }
    item->verdict = GGLD_VERDICT_MISSING;
    ggld_report_put(c->report, item, "tensor %s is not in the file",
                    ggld_quote(item->name.data, item->name.len).text);
}

static void compare_tensor(comparison *c, const ggld_entry *entry)
{
    ggld_found item = item_of(entry);
    ggld_tensor_info info = { .struct_size = sizeof info };
    const ggld_entry *actual = ggld_manifest_find(
        c->actual, 0, GGLD_SCOPE_TENSOR, entry->digest.algo, entry->name);
    if (actual == NULL) {
        compare_missing(c, &item);
        return;
    }
    item.actual = actual->digest;
    ggld_tensor_get_info(
        ggld_tensor_find_n(c->file, entry->name.data, (size_t)entry->name.len),
        &info);
    if (!compare_shape(c, entry, actual, &item))
        return;
    if (ggld_digest_equal(&item.expected, &item.actual)) {
        ggld_report_put(c->report, &item, "%s", "");
        return;
    }
    item.verdict = GGLD_VERDICT_DIFFERS;
    find_bad_range(c, info.file_offset_bytes, info.size_bytes, &item);
    put_differs(c, &item);
}

/* Renames are told by the best algo that the manifest has for tensors. */
static ggld_status find_extras(comparison *c, ggld_error *err)
{
    uint32_t algos = 0;
    for (uint64_t i = 0; i < c->expected->n_entries; i++)
        if (c->expected->entries[i].scope == GGLD_SCOPE_TENSOR)
            algos |= GGLD_ALGO_BIT(c->expected->entries[i].digest.algo);
    c->rename_algo = ggld_algo_best(algos);
    if (c->rename_algo == 0)
        return GGLD_OK;
    uint64_t n = ggld_tensor_count(c->file);
    c->extras = calloc((size_t)n + 1, sizeof *c->extras);
    if (c->extras == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for %" PRIu64 " tensors", n);
    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(c->file, i), &info);
        if (has_tensor(c->expected, info.name))
            continue;
        const ggld_entry *actual = ggld_manifest_find(
            c->actual, 0, GGLD_SCOPE_TENSOR, c->rename_algo, info.name);
        extra e = { i, &actual->digest, false, 0 };
        c->extras[c->n_extras++] = e;
    }
    qsort(c->extras, (size_t)c->n_extras, sizeof *c->extras, by_digest);
    return GGLD_OK;
}

static int by_index(const void *a, const void *b)
{
    const extra *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void put_extras(comparison *c)
{
    if (c->n_extras != 0) /* else there may be no array */
        qsort(c->extras, (size_t)c->n_extras, sizeof *c->extras, by_index);
    for (uint64_t i = 0; i < c->n_extras; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        if (c->extras[i].taken)
            continue;
        ggld_tensor_get_info(ggld_tensor_at(c->file, c->extras[i].index),
                             &info);
        ggld_found item = { .verdict = GGLD_VERDICT_EXTRA,
                            .scope = GGLD_SCOPE_TENSOR,
                            .name = info.name,
                            .new_name = { "", 0 },
                            .actual = *c->extras[i].digest };
        ggld_report_put(c->report, &item, "tensor %s is not in the manifest",
                        ggld_quote(info.name.data, info.name.len).text);
    }
}

/* ---- sizes, and what is not covered ---- */

static void compare_size(comparison *c, uint32_t scope, uint64_t expected,
                         uint64_t actual)
{
    ggld_found item = { .verdict = GGLD_VERDICT_RESIZED,
                        .scope = scope,
                        .name = { "", 0 },
                        .new_name = { "", 0 } };
    if (expected != actual)
        ggld_report_put(c->report, &item,
                        "%s: expected %" PRIu64 " bytes, it has %" PRIu64,
                        subject_text(&item).text, expected, actual);
}

static void note_uncovered(comparison *c, uint32_t scope, const char *text)
{
    ggld_found item = { .verdict = GGLD_VERDICT_UNCOVERED,
                        .scope = scope,
                        .name = { "", 0 },
                        .new_name = { "", 0 } };
    ggld_report_put(c->report, &item,
                    "the manifest has no digest of %s: not checked", text);
}

static void note_gaps(comparison *c)
{
    uint32_t scopes = c->expected->tree.algo != 0 ? GGLD_SCOPE_CHUNKS : 0;
    for (uint64_t i = 0; i < c->expected->n_entries; i++)
        scopes |= c->expected->entries[i].scope;
    if ((scopes & GGLD_SCOPE_FILE) != 0)
        return;
    if ((scopes & GGLD_SCOPE_METADATA) == 0)
        note_uncovered(c, GGLD_SCOPE_METADATA, "the metadata");
    if ((scopes &
         (GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS | GGLD_SCOPE_CHUNKS)) == 0)
        note_uncovered(c, GGLD_SCOPE_TENSORS, "the tensors");
}

static void compare_all(comparison *c)
{
    const ggld_subject *said = &c->expected->subjects[0];
    const ggld_subject *is = &c->actual->subjects[0];
    if (said->has_size)
        compare_size(c, GGLD_SCOPE_FILE, said->size_bytes, is->size_bytes);
    if (said->has_metadata_size)
        compare_size(c, GGLD_SCOPE_METADATA, said->metadata_bytes,
                     is->metadata_bytes);
    for (uint64_t i = 0; i < c->expected->n_entries; i++) {
        const ggld_entry *entry = &c->expected->entries[i];
        if (entry->scope == GGLD_SCOPE_TENSOR)
            compare_tensor(c, entry);
        else
            compare_one(c, entry);
    }
    compare_tree(c);
    put_extras(c);
    note_gaps(c);
}

ggld_status ggld_verify_compare(ggld_verify_report **out,
                                const ggld_manifest *expected,
                                const ggld_manifest *actual,
                                const ggld_file *file, ggld_error *err)
{
    ggld_verify_report *report = calloc(1, sizeof *report);
    comparison c = {
        .expected = expected, .actual = actual, .file = file, .report = report
    };
    if (report == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for the report");
    ggld_status status = find_extras(&c, err);
    if (status == GGLD_OK) {
        compare_all(&c);
        status = ggld_report_close(report, err);
    }
    free(c.extras);
    if (status != GGLD_OK) {
        ggld_verify_report_free(report);
        return status;
    }
    *out = report;
    return GGLD_OK;
}
