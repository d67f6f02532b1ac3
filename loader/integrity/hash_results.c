/* SPDX-License-Identifier: MIT */
/* Where the digests of a hash go: of tensors no more than was asked for, as
 * there may be a million. Each tensor and chunk is written by one thread. */
#include "hash_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/tensor.h>

#include "../base/error.h"
#include "../base/plural.h"

void ggld_hash_results_put(ggld_hash_results *r, uint64_t tensor,
                           const ggld_digest *digest)
{
    memcpy(r->tensors + tensor * r->tensor_bytes +
               r->tensor_offsets[digest->algo],
           digest->bytes, digest->size);
}

void ggld_hash_results_get(const ggld_hash_results *r, uint64_t tensor,
                           ggld_digest digests[GGLD_ALGO_LIMIT])
{
    const uint8_t *at = r->tensors + tensor * r->tensor_bytes;
    memset(digests, 0, GGLD_ALGO_LIMIT * sizeof *digests);
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++) {
        if ((r->tensor_algos & GGLD_ALGO_BIT(i)) == 0)
            continue;
        digests[i].algo = i;
        digests[i].size = ggld_algo_size(i);
        memcpy(digests[i].bytes, at + r->tensor_offsets[i], digests[i].size);
    }
}

/* Tensors without bytes are in no unit. */
static ggld_status fill_empty(ggld_hash_results *r, const ggld_hash_plan *p,
                              ggld_error *err)
{
    ggld_digest nothing[GGLD_ALGO_LIMIT] = { 0 };
    ggld_status status = GGLD_OK;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++)
        if ((p->tensor_algos & GGLD_ALGO_BIT(i)) != 0)
            status = ggld_digest_of(&nothing[i], i, "", 0, err);
    for (uint64_t i = 0; i < p->n_tensors && status == GGLD_OK; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(p->file, i), &info);
        for (uint32_t a = 1; a < GGLD_ALGO_LIMIT && info.size_bytes == 0; a++)
            if (nothing[a].algo != 0)
                ggld_hash_results_put(r, i, &nothing[a]);
    }
    return status;
}

static ggld_status make_tensors(ggld_hash_results *r, const ggld_hash_plan *p,
                                ggld_error *err)
{
    r->tensor_algos = p->tensor_algos;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++) {
        r->tensor_offsets[i] = r->tensor_bytes;
        if ((p->tensor_algos & GGLD_ALGO_BIT(i)) != 0)
            r->tensor_bytes += ggld_algo_size(i);
    }
    r->tensors = calloc((size_t)p->n_tensors + 1, r->tensor_bytes);
    if (r->tensors == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash: no memory for digests of %" PRIu64 " tensor%s",
                         p->n_tensors, ggld_plural(p->n_tensors));
    return fill_empty(r, p, err);
}

ggld_status ggld_hash_results_init(ggld_hash_results *r,
                                   const ggld_hash_plan *p, ggld_error *err)
{
    uint32_t scopes = p->request.scopes;
    ggld_status status = GGLD_OK;
    memset(r, 0, sizeof *r);
    if ((scopes & GGLD_SCOPE_TENSOR) != 0)
        status = make_tensors(r, p, err);
    if (status == GGLD_OK && (scopes & GGLD_SCOPE_CHUNKS) != 0)
        status = ggld_tree_init(&r->tree, p->request.chunk_algo,
                                p->request.chunk_bytes,
                                p->file_bytes - p->metadata_bytes, err);
    if (status != GGLD_OK)
        ggld_hash_results_free(r);
    return status;
}

void ggld_hash_results_free(ggld_hash_results *r)
{
    free(r->tensors);
    ggld_tree_free(&r->tree);
    memset(r, 0, sizeof *r);
}
