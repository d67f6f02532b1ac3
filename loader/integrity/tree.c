/* SPDX-License-Identifier: MIT */
/* The tree of chunks. May assume nothing of the leaves but their number. */
#include "tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "digest.h"
#include "text.h"

#define FANOUT 256u

/* A row read for the first time costs a chunk's digest, and opening costs the
 * reading of all leaves, so that both want to be small. 64 KiB is what a fault
 * maps at once; at xxh3's rate it is hashed in the time of two or three such
 * faults, at sha256's in forty times that, so that finer chunks would help no
 * more than they cost. The leaves' text is at most about 1 MB. */
uint64_t ggld_chunk_bytes_for(uint32_t algo, uint64_t data_bytes)
{
    uint64_t max_chunks = (512u << 10) / ggld_algo_size(algo);
    uint64_t chunk = 64u << 10;
    while (chunk < GGLD_CHUNK_MAX_BYTES && data_bytes / chunk >= max_chunks)
        chunk *= 2;
    return chunk;
}

bool ggld_chunk_bytes_valid(uint64_t chunk_bytes)
{
    return ggld_is_power_of_two(chunk_bytes) &&
           chunk_bytes >= GGLD_CHUNK_MIN_BYTES &&
           chunk_bytes <= GGLD_CHUNK_MAX_BYTES;
}

static ggld_status no_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "manifest: no memory for its chunks' digests");
}

ggld_status ggld_tree_init(ggld_tree *tree, uint32_t algo, uint64_t chunk_bytes,
                           uint64_t data_bytes, ggld_error *err)
{
    ggld_tree t = { algo, ggld_algo_size(algo), chunk_bytes,
                    0,    data_bytes,           NULL,
                    { 0 } };
    t.n_chunks = data_bytes / chunk_bytes + (data_bytes % chunk_bytes != 0);
    /* Never zero bytes: n_chunks is at most 2^64 / 4096. */
    t.leaves = calloc(t.n_chunks + 1, t.leaf_bytes);
    if (t.leaves == NULL)
        return no_memory(err);
    *tree = t;
    return GGLD_OK;
}

ggld_status ggld_tree_copy(ggld_tree *out, const ggld_tree *tree,
                           ggld_error *err)
{
    ggld_tree t = { 0 };
    ggld_status status = ggld_tree_init(&t, tree->algo, tree->chunk_bytes,
                                        tree->data_bytes, err);
    if (status != GGLD_OK)
        return status;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): made above. */
    memcpy(t.leaves, tree->leaves, t.n_chunks * t.leaf_bytes);
    t.root = tree->root;
    *out = t;
    return GGLD_OK;
}

void ggld_tree_free(ggld_tree *tree)
{
    free(tree->leaves);
    memset(tree, 0, sizeof *tree);
}

void ggld_tree_leaf(const ggld_tree *tree, uint64_t chunk, ggld_digest *out)
{
    memset(out, 0, sizeof *out);
    out->algo = tree->algo;
    out->size = tree->leaf_bytes;
    memcpy(out->bytes, tree->leaves + chunk * tree->leaf_bytes,
           tree->leaf_bytes);
}

void ggld_tree_set_leaf(ggld_tree *tree, uint64_t chunk,
                        const ggld_digest *digest)
{
    memcpy(tree->leaves + chunk * tree->leaf_bytes, digest->bytes,
           tree->leaf_bytes);
}

uint64_t ggld_tree_chunk_size(const ggld_tree *tree, uint64_t chunk)
{
    return ggld_min_u64(tree->chunk_bytes,
                        tree->data_bytes - chunk * tree->chunk_bytes);
}

/* One level up, in place of the level below: nodes [0, count) of width bytes
 * become the first nodes of 32. Node i is written once its children, which lie
 * at or behind it where width is 32, have been read; a narrower first level is
 * read from leaves that are not written to. */
static ggld_status level_up(ggld_hasher *hasher, const uint8_t *below,
                            uint32_t width, uint64_t *count, uint8_t *above,
                            ggld_error *err)
{
    uint64_t n = (*count + FANOUT - 1) / FANOUT;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t first = i * FANOUT;
        uint64_t children = ggld_min_u64(FANOUT, *count - first);
        ggld_digest node;
        ggld_hasher_start(hasher);
        ggld_hasher_update(hasher, below + first * width,
                           (size_t)(children * width));
        ggld_status status =
            ggld_hasher_finish(hasher, GGLD_ALGO_SHA256, &node, err);
        if (status != GGLD_OK)
            return status;
        memcpy(above + i * 32, node.bytes, 32);
    }
    *count = n;
    return GGLD_OK;
}

static ggld_status tree_top(const ggld_tree *tree, ggld_digest *out,
                            ggld_error *err)
{
    uint64_t count = tree->n_chunks;
    if (count == 0)
        return ggld_digest_of(out, GGLD_ALGO_SHA256, "", 0, err);
    ggld_hasher hasher;
    uint8_t *nodes = malloc((count / FANOUT + 1) * 32);
    if (nodes == NULL)
        return no_memory(err);
    ggld_status status =
        ggld_hasher_init(&hasher, GGLD_ALGO_BIT(GGLD_ALGO_SHA256), err);
    if (status == GGLD_OK)
        status = level_up(&hasher, tree->leaves, tree->leaf_bytes, &count,
                          nodes, err);
    while (status == GGLD_OK && count > 1)
        status = level_up(&hasher, nodes, 32, &count, nodes, err);
    ggld_hasher_free(&hasher);
    if (status == GGLD_OK) {
        ggld_digest top = { GGLD_ALGO_SHA256, 32, { 0 } };
        memcpy(top.bytes, nodes, 32);
        *out = top;
    }
    free(nodes);
    return status;
}

ggld_status ggld_tree_root(const ggld_tree *tree, uint64_t metadata_bytes,
                           const ggld_digest *metadata, ggld_digest *out,
                           ggld_error *err)
{
    ggld_digest top;
    ggld_status status = tree_top(tree, &top, err);
    if (status != GGLD_OK)
        return status;

    ggld_text text = { 0 };
    ggld_text_printf(&text,
                     "ggsum root 1\nmetadata %" PRIu64 " %s:", metadata_bytes,
                     ggld_algo_name(metadata->algo));
    ggld_text_digest(&text, metadata);
    ggld_text_printf(&text,
                     "\ndata %" PRIu64 "\nchunks %s %" PRIu64 " %" PRIu64
                     "\ntop sha256:",
                     tree->data_bytes, ggld_algo_name(tree->algo),
                     tree->chunk_bytes, tree->n_chunks);
    ggld_text_digest(&text, &top);
    ggld_text_printf(&text, "\n");

    char *data;
    size_t len;
    status = ggld_text_take(&text, &data, &len, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_digest_of(out, GGLD_ALGO_SHA256, data, len, err);
    free(data);
    return status;
}
