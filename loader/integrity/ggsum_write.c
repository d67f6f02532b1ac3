/* SPDX-License-Identifier: MIT */
/* Writing ggld's own format, ggld-ggsum(5). */
#include <inttypes.h>
#include <string.h>

#include "../base/error.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

/* " ALGO:HEX" of each digest that there is, and the line's end. */
static void put_digests(const ggld_manifest *m, ggld_text *t, uint32_t scope,
                        ggld_string name)
{
    for (uint32_t algo = 1; algo < GGLD_ALGO_LIMIT; algo++) {
        const ggld_entry *entry = ggld_manifest_find(m, 0, scope, algo, name);
        if (entry == NULL)
            continue;
        ggld_text_printf(t, " %s:", ggld_algo_name(algo));
        ggld_text_digest(t, &entry->digest);
    }
    ggld_text_put(t, "\n", 1);
}

static bool has_scope(const ggld_manifest *m, uint32_t scope)
{
    for (uint64_t i = 0; i < m->n_entries; i++)
        if (m->entries[i].scope == scope)
            return true;
    return false;
}

/* Is it the first of its tensor's entries, which stand side by side? */
static bool is_first_of_tensor(const ggld_manifest *m, uint64_t i)
{
    const ggld_entry *entry = &m->entries[i];
    return entry->scope == GGLD_SCOPE_TENSOR &&
           (i == 0 || entry[-1].scope != GGLD_SCOPE_TENSOR ||
            !ggld_string_equal(entry[-1].name, entry->name));
}

static void put_tensors(const ggld_manifest *m, ggld_text *t)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < m->n_entries; i++)
        n += is_first_of_tensor(m, i);
    ggld_text_printf(t, "tensors %" PRIu64 "\n", n);
    for (uint64_t i = 0; i < m->n_entries; i++) {
        const ggld_entry *entry = &m->entries[i];
        if (!is_first_of_tensor(m, i))
            continue;
        ggld_text_printf(t, "tensor ");
        ggld_name_put(t, entry->name);
        ggld_text_put(t, " ", 1);
        ggld_shape_put(t, &m->shapes[entry->shape]);
        put_digests(m, t, GGLD_SCOPE_TENSOR, entry->name);
    }
}

static void put_chunks(const ggld_manifest *m, ggld_text *t)
{
    const ggld_tree *tree = ggld_manifest_tree(m);
    ggld_text_printf(t, "chunks %s %" PRIu64 " %" PRIu64 "\n",
                     ggld_algo_name(tree->algo), tree->chunk_bytes,
                     tree->n_chunks);
    for (uint64_t i = 0; i < tree->n_chunks; i++) {
        ggld_digest leaf;
        ggld_tree_leaf(tree, i, &leaf);
        ggld_text_digest(t, &leaf);
        ggld_text_put(t, "\n", 1);
    }
    ggld_text_printf(t, "root sha256:");
    ggld_text_digest(t, &tree->root);
    ggld_text_put(t, "\n", 1);
}

/* Of a text that goes to a sink most has left. */
static ggld_status digest_so_far(ggld_text *t, ggld_digest *out,
                                 ggld_error *err)
{
    if (t->sink == NULL)
        return ggld_digest_of(out, GGLD_ALGO_SHA256, t->data, t->len, err);
    if (!ggld_text_flush(t))
        return GGLD_OK; /* whoever takes the text says so */
    return ggld_hasher_finish(t->hasher, GGLD_ALGO_SHA256, out, err);
}

static ggld_status put_end(ggld_text *t, ggld_error *err)
{
    ggld_digest digest = { 0 };
    ggld_status status = digest_so_far(t, &digest, err);
    if (status != GGLD_OK || t->failed)
        return status;
    ggld_hasher *after = t->hasher;
    t->hasher = NULL; /* its own line is not in it */
    ggld_text_printf(t, "end sha256:");
    ggld_text_digest(t, &digest);
    ggld_text_put(t, "\n", 1);
    if (t->sink != NULL)
        (void)ggld_text_flush(t);
    t->hasher = after;
    return GGLD_OK;
}

ggld_status ggld_ggsum_write(const ggld_manifest *m, ggld_text *t,
                             ggld_error *err)
{
    ggld_string none = ggld_string_of("");
    ggld_status status = ggld_one_file(m, "ggsum", err);
    if (status != GGLD_OK)
        return status;
    const ggld_subject *subject = &m->subjects[0];
    if (!subject->has_size || !subject->has_metadata_size)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: ggsum needs the file's size, which this "
                         "one does not have");

    ggld_text_printf(t, "ggsum 1\nfile ");
    ggld_name_put(t, ggld_path_base(subject->path));
    ggld_text_printf(t, "\nsize %" PRIu64 "\n", subject->size_bytes);
    if (has_scope(m, GGLD_SCOPE_FILE)) {
        ggld_text_printf(t, "whole");
        put_digests(m, t, GGLD_SCOPE_FILE, none);
    }
    ggld_text_printf(t, "metadata %" PRIu64, subject->metadata_bytes);
    put_digests(m, t, GGLD_SCOPE_METADATA, none);
    if (has_scope(m, GGLD_SCOPE_TENSORS)) {
        ggld_text_printf(t, "together");
        put_digests(m, t, GGLD_SCOPE_TENSORS, none);
    }
    if (has_scope(m, GGLD_SCOPE_TENSOR))
        put_tensors(m, t);
    if (ggld_manifest_tree(m)->algo != 0)
        put_chunks(m, t);
    return t->failed ? GGLD_OK : put_end(t, err);
}
