/* SPDX-License-Identifier: MIT */
/* From results to a manifest, in the order that the formats write. */
#include "hash_manifest.h"

#include <stdlib.h>
#include <string.h>

#include <ggld/tensor.h>

#include "../base/error.h"
#include "names.h"

static ggld_status no_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "hash: no memory for the manifest");
}

static ggld_status add_scope(ggld_manifest *m, uint32_t scope,
                             const ggld_digest *digests, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++) {
        ggld_entry entry = {
            scope, 0, GGLD_NO_SHAPE, 0, { "", 0 }, digests[i]
        };
        if (digests[i].algo != 0)
            status = ggld_manifest_add(m, &entry, err);
    }
    return status;
}

static ggld_status add_tensor(ggld_manifest *m, const ggld_tensor *tensor,
                              const ggld_digest *digests, char **room,
                              ggld_error *err)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(tensor, &info);
    ggld_shape shape = { info.type, info.n_dims, { 1, 1, 1, 1 } };
    memcpy(shape.dims, info.dims, sizeof shape.dims);
    ggld_entry entry = { GGLD_SCOPE_TENSOR, 0, 0, 0, info.name, { 0 } };
    memcpy(*room, info.name.data, (size_t)info.name.len);
    entry.name.data = *room;
    *room += info.name.len;
    ggld_status status = ggld_manifest_add_shape(m, &shape, &entry.shape, err);
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++) {
        entry.digest = digests[i];
        if (digests[i].algo != 0)
            status = ggld_manifest_add(m, &entry, err);
    }
    return status;
}

/* The names outlive the file. */
static ggld_status add_tensors(ggld_manifest *m, const ggld_hash_plan *plan,
                               const ggld_hash_results *results,
                               ggld_error *err)
{
    uint64_t names_bytes = 0;
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < plan->n_tensors; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(plan->file, i), &info);
        names_bytes += info.name.len;
    }
    char *room = ggld_manifest_block(m, names_bytes);
    if (room == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < plan->n_tensors && status == GGLD_OK; i++) {
        ggld_digest digests[GGLD_ALGO_LIMIT];
        ggld_hash_results_get(results, i, digests);
        status =
            add_tensor(m, ggld_tensor_at(plan->file, i), digests, &room, err);
    }
    return status;
}

static ggld_status add_subject(ggld_manifest *m, const ggld_hash_plan *plan,
                               const char *name, ggld_error *err)
{
    size_t len = strlen(name);
    uint32_t subject;
    char *copy = ggld_manifest_block(m, len);
    if (copy == NULL)
        return no_memory(err);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): has a length. */
    memcpy(copy, name, len);
    ggld_string path = { copy, len };
    ggld_status status = ggld_manifest_add_subject(m, path, &subject, err);
    if (status != GGLD_OK)
        return status;
    ggld_subject *s = &m->subjects[subject];
    s->has_size = true;
    s->size_bytes = plan->file_bytes;
    s->has_metadata_size = true;
    s->metadata_bytes = plan->metadata_bytes;
    return GGLD_OK;
}

static ggld_status add_tree(ggld_manifest *m, const ggld_hash_plan *plan,
                            ggld_hash_results *results, ggld_error *err)
{
    const ggld_entry *metadata = ggld_manifest_best(m, GGLD_SCOPE_METADATA);
    ggld_status status =
        ggld_tree_root(&results->tree, plan->metadata_bytes, &metadata->digest,
                       &results->tree.root, err);
    if (status != GGLD_OK)
        return status;
    m->subjects[0].tree = results->tree;
    memset(&results->tree, 0, sizeof results->tree);
    return GGLD_OK;
}

static ggld_status fill(ggld_manifest *m, const ggld_hash_plan *plan,
                        ggld_hash_results *results, const char *name,
                        ggld_error *err)
{
    ggld_status status = add_subject(m, plan, name, err);
    if (status == GGLD_OK)
        status = add_scope(m, GGLD_SCOPE_FILE, results->file, err);
    if (status == GGLD_OK)
        status = add_scope(m, GGLD_SCOPE_METADATA, results->metadata, err);
    if (status == GGLD_OK)
        status = add_scope(m, GGLD_SCOPE_TENSORS, results->together, err);
    if (status == GGLD_OK && results->tensors != NULL)
        status = add_tensors(m, plan, results, err);
    if (status == GGLD_OK && results->tree.algo != 0)
        status = add_tree(m, plan, results, err);
    return status == GGLD_OK ? ggld_manifest_seal(m, "hash", err) : status;
}

ggld_status ggld_hash_manifest(const ggld_hash_plan *plan,
                               ggld_hash_results *results, const char *name,
                               ggld_manifest **out, ggld_error *err)
{
    ggld_manifest *m = ggld_manifest_new();
    if (m == NULL)
        return no_memory(err);
    ggld_status status = fill(m, plan, results, name, err);
    if (status != GGLD_OK) {
        ggld_manifest_free(m);
        return status;
    }
    *out = m;
    return GGLD_OK;
}
