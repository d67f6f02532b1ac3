/* SPDX-License-Identifier: MIT */
/* Goes through a manifest entry by entry, then through what only the file has.
 * Both manifests are sealed. Tensors are verify_tensors.c's. */
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/plural.h"
#include "../base/quote.h"
#include "comparison.h"
#include "digest.h"
#include "names.h"

ggld_status ggld_verify_request_of(const ggld_manifest *expected,
                                   ggld_hash_request *out, ggld_error *err)
{
    ggld_hash_request r = { 0, 0, 0, 0 };
    for (uint64_t i = 0; i < expected->n_entries; i++) {
        r.scopes |= expected->entries[i].scope;
        r.algos |= GGLD_ALGO_BIT(expected->entries[i].digest.algo);
    }
    const ggld_tree *tree = ggld_manifest_tree(expected);
    if (tree->algo != 0) {
        r.scopes |= GGLD_SCOPE_CHUNKS;
        r.chunk_algo = tree->algo;
        r.chunk_bytes = tree->chunk_bytes;
    }
    if (r.scopes == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verify: the manifest has no digests at all");
    *out = r;
    return GGLD_OK;
}

/* ---- chunks ---- */

/* The first chunk in [first, end) whose digests differ, or end. */
static uint64_t bad_chunk(const ggld_comparison *c, uint64_t first,
                          uint64_t end)
{
    const ggld_tree *a = ggld_manifest_tree(c->expected);
    const ggld_tree *b = ggld_manifest_tree(c->actual);
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
void ggld_find_bad_range(const ggld_comparison *c, uint64_t offset,
                         uint64_t size, ggld_found *item)
{
    const ggld_tree *tree = ggld_manifest_tree(c->expected);
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

static uint64_t count_bad(const ggld_comparison *c, uint64_t first,
                          uint64_t end)
{
    uint64_t n = 0;
    for (uint64_t i = bad_chunk(c, first, end); i < end;
         i = bad_chunk(c, i + 1, end))
        n++;
    return n;
}

static void put_bad_chunks(ggld_comparison *c, const ggld_found *item,
                           uint64_t n)
{
    char expected[GGLD_DIGEST_TEXT_MAX] = "none";
    char actual[GGLD_DIGEST_TEXT_MAX] = "none";
    uint64_t n_bad = count_bad(c, 0, n);
    if (item->expected.algo != 0)
        ggld_digest_text(&item->expected, expected);
    if (item->actual.algo != 0)
        ggld_digest_text(&item->actual, actual);
    ggld_report_put(c->report, item,
                    "%" PRIu64 " of %" PRIu64 " chunk%s differ%s, the first at "
                    "bytes %" PRIu64 " + %" PRIu64 ": expected %s %s, it is %s",
                    n_bad, n, ggld_plural(n), n_bad == 1 ? "s" : "",
                    item->bad_offset, item->bad_bytes,
                    ggld_algo_name(ggld_manifest_tree(c->expected)->algo),
                    expected, actual);
}

static void compare_tree(ggld_comparison *c)
{
    const ggld_tree *a = ggld_manifest_tree(c->expected);
    const ggld_tree *b = ggld_manifest_tree(c->actual);
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
    memset(&item.expected, 0, sizeof item.expected);
    memset(&item.actual, 0, sizeof item.actual);
    if (bad < a->n_chunks)
        ggld_tree_leaf(a, bad, &item.expected);
    if (bad < b->n_chunks)
        ggld_tree_leaf(b, bad, &item.actual);
    item.bad_offset =
        c->actual->subjects[0].metadata_bytes + bad * a->chunk_bytes;
    item.bad_bytes =
        bad < b->n_chunks ? ggld_tree_chunk_size(b, bad) : a->chunk_bytes;
    put_bad_chunks(c, &item, n);
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

void ggld_put_differs(ggld_comparison *c, const ggld_found *item)
{
    char expected[GGLD_DIGEST_TEXT_MAX], actual[GGLD_DIGEST_TEXT_MAX];
    char where[64] = "";
    const char *kind = item->scope == GGLD_SCOPE_TENSOR ? "tensor " : "";
    const char *verb = item->scope == GGLD_SCOPE_TENSORS ? "differ" : "differs";
    const char *algo = ggld_algo_name(item->expected.algo);
    ggld_digest_text(&item->expected, expected);
    ggld_digest_text(&item->actual, actual);
    if (ggld_digest_is_empty_input(&item->expected)) {
        ggld_report_put(c->report, item,
                        "%s%s %s: the manifest has the %s of no bytes at "
                        "all (%.16s...), made of an empty file; it is %s",
                        kind, subject_text(item).text, verb, algo, expected,
                        actual);
        return;
    }
    if (item->bad_bytes != 0)
        snprintf(where, sizeof where, " first in bytes %" PRIu64 " + %" PRIu64,
                 item->bad_offset, item->bad_bytes);
    ggld_report_put(c->report, item, "%s%s %s%s: expected %s %s, it is %s",
                    kind, subject_text(item).text, verb, where, algo, expected,
                    actual);
}

static void compare_one(ggld_comparison *c, const ggld_entry *entry)
{
    ggld_found item = ggld_found_of(entry);
    const ggld_entry *actual = ggld_manifest_find(
        c->actual, 0, entry->scope, entry->digest.algo, entry->name);
    if (actual != NULL)
        item.actual = actual->digest;
    if (ggld_digest_equal(&item.expected, &item.actual)) {
        ggld_report_put(c->report, &item, "%s", "");
        return;
    }
    item.verdict = GGLD_VERDICT_DIFFERS;
    ggld_put_differs(c, &item);
}

/* ---- sizes, and what is not covered ---- */

static void compare_size(ggld_comparison *c, uint32_t scope, uint64_t expected,
                         uint64_t actual)
{
    ggld_found item = { .verdict = GGLD_VERDICT_RESIZED,
                        .scope = scope,
                        .name = { "", 0 },
                        .new_name = { "", 0 } };
    if (expected != actual)
        ggld_report_put(c->report, &item,
                        "%s: expected %" PRIu64 " byte%s, it has %" PRIu64,
                        subject_text(&item).text, expected,
                        ggld_plural(expected), actual);
}

static void note_uncovered(ggld_comparison *c, uint32_t scope, const char *text)
{
    ggld_found item = { .verdict = GGLD_VERDICT_UNCOVERED,
                        .scope = scope,
                        .name = { "", 0 },
                        .new_name = { "", 0 } };
    ggld_report_put(c->report, &item,
                    "the manifest has no digest of %s: not checked", text);
}

static void note_gaps(ggld_comparison *c)
{
    uint32_t scopes = ggld_manifest_all_scopes(c->expected);
    if ((scopes & GGLD_SCOPE_FILE) != 0)
        return;
    if ((scopes & GGLD_SCOPE_METADATA) == 0)
        note_uncovered(c, GGLD_SCOPE_METADATA, "the metadata");
    if ((scopes &
         (GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS | GGLD_SCOPE_CHUNKS)) == 0)
        note_uncovered(c, GGLD_SCOPE_TENSORS, "the tensors");
}

/* llama-gguf-hash ends with a line about all tensors for each of its digests.
 * Where tensors have one that they have not together, a line is not there, and
 * nothing else shows that the text was cut behind another. */
static void note_missing_end(ggld_comparison *c)
{
    uint32_t of_each = 0, of_all = 0;
    if (c->expected->format != GGLD_MANIFEST_LLAMA)
        return;
    for (uint64_t i = 0; i < c->expected->n_entries; i++) {
        const ggld_entry *entry = &c->expected->entries[i];
        uint32_t bit = GGLD_ALGO_BIT(entry->digest.algo);
        of_each |= entry->scope == GGLD_SCOPE_TENSOR ? bit : 0;
        of_all |= entry->scope == GGLD_SCOPE_TENSORS ? bit : 0;
    }
    for (uint32_t algo = 1; algo < GGLD_ALGO_LIMIT; algo++) {
        char text[64];
        if ((of_each & ~of_all & GGLD_ALGO_BIT(algo)) == 0)
            continue;
        snprintf(text, sizeof text, "the tensors together by %s, a last line",
                 ggld_algo_name(algo));
        note_uncovered(c, GGLD_SCOPE_TENSORS, text);
    }
}

static void compare_all(ggld_comparison *c)
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
            ggld_compare_tensor(c, entry);
        else
            compare_one(c, entry);
    }
    compare_tree(c);
    ggld_put_extras(c);
    note_gaps(c);
    note_missing_end(c);
}

/* What is put from now on is about that file. */
static void speak_of(ggld_verify_report *report, const ggld_file *file,
                     bool of_set)
{
    ggld_file_info info = { .struct_size = sizeof info };
    const char *path = of_set ? ggld_file_path(file) : NULL;
    ggld_file_get_info(file, &info);
    report->shard = of_set ? info.shard : 0;
    report->label[0] = '\0';
    if (path != NULL) {
        ggld_string name = ggld_path_base(ggld_string_of(path));
        uint64_t most = 60; /* of a long one its end, with the number */
        if (name.len > most) {
            name.data += name.len - most;
            name.len = most;
        }
        snprintf(report->label, sizeof report->label,
                 "%s: ", ggld_quote(name.data, name.len).text);
    }
}

ggld_status ggld_verify_compare(ggld_verify_report **out,
                                const ggld_manifest *expected,
                                const ggld_manifest *actual,
                                const ggld_file *file, bool of_set,
                                ggld_error *err)
{
    ggld_verify_report *report =
        *out != NULL ? *out : calloc(1, sizeof *report);
    ggld_comparison c = {
        .expected = expected, .actual = actual, .file = file, .report = report
    };
    if (report == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for the report");
    speak_of(report, file, of_set);
    ggld_status status = ggld_find_extras(&c, err);
    if (status == GGLD_OK) {
        compare_all(&c);
        status = ggld_report_close(report, err);
    }
    free(c.extras);
    if (status == GGLD_OK)
        *out = report;
    else if (*out == NULL)
        ggld_verify_report_free(report);
    return status;
}

/* ---- without a look inside ---- */

static bool is_whole(const ggld_comparison *c, const ggld_entry *entry)
{
    if (entry->scope == GGLD_SCOPE_FILE)
        return true;
    return entry->scope == GGLD_SCOPE_METADATA &&
           ggld_manifest_find(c->actual, 0, entry->scope, entry->digest.algo,
                              entry->name) != NULL;
}

static void compare_whole(ggld_comparison *c)
{
    const ggld_subject *said = &c->expected->subjects[0];
    uint64_t n_left = ggld_manifest_tree(c->expected)->algo != 0;
    if (said->has_size)
        compare_size(c, GGLD_SCOPE_FILE, said->size_bytes,
                     c->actual->subjects[0].size_bytes);
    for (uint64_t i = 0; i < c->expected->n_entries; i++) {
        const ggld_entry *entry = &c->expected->entries[i];
        if (is_whole(c, entry))
            compare_one(c, entry);
        else
            n_left++;
    }
    if (n_left == 0)
        return;
    ggld_found item = { .verdict = GGLD_VERDICT_UNCOVERED,
                        .scope = GGLD_SCOPE_TENSORS,
                        .name = { "", 0 },
                        .new_name = { "", 0 } };
    ggld_report_put(c->report, &item,
                    "%" PRIu64 " digest%s of what is inside: not checked, as "
                    "the file does not open",
                    n_left, ggld_plural(n_left));
}

ggld_status ggld_verify_compare_whole(ggld_verify_report **out,
                                      const ggld_manifest *expected,
                                      const ggld_manifest *actual,
                                      ggld_error *err)
{
    ggld_verify_report *report = calloc(1, sizeof *report);
    ggld_comparison c = { .expected = expected,
                          .actual = actual,
                          .report = report };
    if (report == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for the report");
    compare_whole(&c);
    ggld_status status = ggld_report_close(report, err);
    if (status != GGLD_OK) {
        ggld_verify_report_free(report);
        return status;
    }
    *out = report;
    return GGLD_OK;
}
