/* SPDX-License-Identifier: MIT */
/* Comparing tensors: by name, and what is missing once more by its digest among
 * what only the file has. */
#include "comparison.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/tensor.h>

#include "../base/error.h"
#include "../base/plural.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"
#include "verify.h"

static bool has_tensor(const ggld_manifest *m, ggld_string name)
{
    for (uint32_t algo = 1; algo < GGLD_ALGO_LIMIT; algo++)
        if (ggld_manifest_find(m, 0, GGLD_SCOPE_TENSOR, algo, name) != NULL)
            return true;
    return false;
}

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

/* Its digest is another matter: it is compared too. Said once, though each of
 * the tensor's digests has an entry. */
static void compare_shape(ggld_comparison *c, const ggld_entry *entry,
                          const ggld_entry *actual, const ggld_found *of)
{
    ggld_found reshaped = *of, *item = &reshaped;
    if (entry->shape == GGLD_NO_SHAPE || actual->shape == GGLD_NO_SHAPE ||
        (c->last_shaped.data != NULL &&
         ggld_string_equal(c->last_shaped, entry->name)))
        return;
    c->last_shaped = entry->name;
    const ggld_shape *a = &c->expected->shapes[entry->shape];
    const ggld_shape *b = &c->actual->shapes[actual->shape];
    bool same_dims =
        a->n_dims == b->n_dims && memcmp(a->dims, b->dims, sizeof a->dims) == 0;
    if (a->type == b->type && same_dims)
        return;
    memset(&item->expected, 0, sizeof item->expected);
    memset(&item->actual, 0, sizeof item->actual);
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
}

static int by_digest(const void *a, const void *b)
{
    const ggld_extra *x = a, *y = b;
    int order =
        memcmp(x->digest->bytes, y->digest->bytes, sizeof x->digest->bytes);
    if (order != 0)
        return order;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Takes the first extra tensor with that digest that is left. */
static const ggld_extra *take_extra(const ggld_comparison *c,
                                    const ggld_digest *digest)
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

static void put_renamed(ggld_comparison *c, ggld_found *item,
                        ggld_string new_name)
{
    item->verdict = GGLD_VERDICT_RENAMED;
    item->new_name = new_name;
    item->actual = item->expected;
    ggld_report_put(c->report, item, "tensor %s is called %s now",
                    ggld_quote(item->name.data, item->name.len).text,
                    ggld_quote(new_name.data, new_name.len).text);
}

static void compare_missing(ggld_comparison *c, const ggld_entry *entry,
                            ggld_found *item)
{
    const ggld_extra *other = NULL;
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
        compare_shape(c, entry,
                      ggld_manifest_find(c->actual, 0, GGLD_SCOPE_TENSOR,
                                         c->rename_algo, info.name),
                      item);
        return;
    }
    item->verdict = GGLD_VERDICT_MISSING;
    ggld_report_put(c->report, item, "tensor %s is not in the file",
                    ggld_quote(item->name.data, item->name.len).text);
}

void ggld_compare_tensor(ggld_comparison *c, const ggld_entry *entry)
{
    ggld_found item = ggld_found_of(entry);
    ggld_tensor_info info = { .struct_size = sizeof info };
    const ggld_entry *actual = ggld_manifest_find(
        c->actual, 0, GGLD_SCOPE_TENSOR, entry->digest.algo, entry->name);
    if (actual == NULL) {
        compare_missing(c, entry, &item);
        return;
    }
    item.actual = actual->digest;
    ggld_tensor_get_info(
        ggld_tensor_find_n(c->file, entry->name.data, (size_t)entry->name.len),
        &info);
    compare_shape(c, entry, actual, &item);
    if (ggld_digest_equal(&item.expected, &item.actual)) {
        ggld_report_put(c->report, &item, "%s", "");
        return;
    }
    item.verdict = GGLD_VERDICT_DIFFERS;
    ggld_find_bad_range(c, info.file_offset_bytes, info.size_bytes, &item);
    ggld_put_differs(c, &item);
}

static bool in_file(const ggld_file *file, ggld_string name)
{
    return ggld_tensor_find_n(file, name.data, (size_t)name.len) != NULL;
}

ggld_status ggld_verify_fits(const ggld_manifest *expected,
                             const ggld_file *file, ggld_error *err)
{
    uint64_t n_named = 0, n_there = ggld_tensor_count(file);
    ggld_string last = { NULL, 0 };
    for (uint64_t i = 0; i < expected->n_entries; i++) {
        const ggld_entry *entry = &expected->entries[i];
        if (entry->scope != GGLD_SCOPE_TENSOR ||
            (last.data != NULL && ggld_string_equal(last, entry->name)))
            continue;
        if (in_file(file, entry->name))
            return GGLD_OK;
        last = entry->name;
        n_named++;
    }
    if (n_named == 0 || n_named == n_there)
        return GGLD_OK;
    return ggld_fail(
        err, GGLD_E_INVALID, ggld_nowhere(),
        "verify: the manifest is of another model: 0 of the "
        "%" PRIu64 " tensor%s that it names are in the file, which "
        "has %" PRIu64 " other%s",
        n_named, ggld_plural(n_named), n_there, ggld_plural(n_there));
}

/* Renames are told by the best algo that the manifest has for tensors. */
ggld_status ggld_find_extras(ggld_comparison *c, ggld_error *err)
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
                         "verify: no memory for %" PRIu64 " tensor%s", n,
                         ggld_plural(n));
    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(c->file, i), &info);
        if (has_tensor(c->expected, info.name))
            continue;
        const ggld_entry *actual = ggld_manifest_find(
            c->actual, 0, GGLD_SCOPE_TENSOR, c->rename_algo, info.name);
        ggld_extra e = { i, &actual->digest, false, 0 };
        c->extras[c->n_extras++] = e;
    }
    qsort(c->extras, (size_t)c->n_extras, sizeof *c->extras, by_digest);
    return GGLD_OK;
}

static int by_index(const void *a, const void *b)
{
    const ggld_extra *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

void ggld_put_extras(ggld_comparison *c)
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
