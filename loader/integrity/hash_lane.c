/* SPDX-License-Identifier: MIT */
/* Feeding lanes. Places are sorted and don't overlap; bytes come in order, but
 * may begin before and end behind what a lane is to digest. */
#include "hash_lane.h"

#include <string.h>

#include "../base/checked.h"

ggld_status ggld_hash_lane_init(ggld_hash_lane *lane, uint32_t scope,
                                uint32_t algos, ggld_error *err)
{
    memset(lane, 0, sizeof *lane);
    lane->scope = scope;
    lane->algos = algos;
    return ggld_hasher_init(&lane->hasher, algos, err);
}

void ggld_hash_lane_free(ggld_hash_lane *lane)
{
    ggld_hasher_free(&lane->hasher);
}

void ggld_hash_lane_start(ggld_hash_lane *lane, uint64_t first, uint64_t end)
{
    lane->next = first;
    lane->end = end;
    ggld_hasher_start(&lane->hasher);
}

/* All algos of the lane's run into an array by algo. */
static ggld_status lane_digests(ggld_hash_lane *lane, ggld_digest *out,
                                ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++)
        if ((lane->algos & GGLD_ALGO_BIT(i)) != 0)
            status = ggld_hasher_finish(&lane->hasher, i, &out[i], err);
    return status;
}

/* The part of [offset, offset + size) that lies in [begin, begin + n). */
static uint64_t overlap(uint64_t offset, uint64_t size, uint64_t begin,
                        uint64_t n, uint64_t *skip)
{
    uint64_t from = offset > begin ? offset : begin;
    uint64_t to = ggld_min_u64(offset + size, begin + n);
    *skip = from - offset;
    return to > from ? to - from : 0;
}

static void feed_range(ggld_hash_lane *lane, uint64_t offset,
                       const uint8_t *data, uint64_t size, uint64_t begin,
                       uint64_t n)
{
    uint64_t skip;
    uint64_t len = overlap(offset, size, begin, n, &skip);
    if (len != 0)
        ggld_hasher_update(&lane->hasher, data + skip, (size_t)len);
}

/* each: a digest of its own for each tensor. */
static ggld_status feed_tensors(ggld_hash_lane *lane, const ggld_hash_plan *p,
                                ggld_hash_results *results, bool each,
                                uint64_t offset, const uint8_t *data,
                                uint64_t size, ggld_error *err)
{
    while (lane->next < lane->end) {
        const ggld_tensor_place *place = &p->places[lane->next];
        if (place->offset >= offset + size)
            break;
        feed_range(lane, offset, data, size, place->offset, place->size);
        if (place->offset + place->size > offset + size)
            break;
        lane->next++;
        if (!each)
            continue;
        ggld_digest digests[GGLD_ALGO_LIMIT] = { 0 };
        ggld_status status = lane_digests(lane, digests, err);
        if (status != GGLD_OK)
            return status;
        for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++)
            if (digests[i].algo != 0)
                ggld_hash_results_put(results, place->index, &digests[i]);
        ggld_hasher_start(&lane->hasher);
    }
    return GGLD_OK;
}

static ggld_status feed_chunks(ggld_hash_lane *lane, const ggld_hash_plan *p,
                               ggld_hash_results *results, uint64_t offset,
                               const uint8_t *data, uint64_t size,
                               ggld_error *err)
{
    ggld_tree *tree = &results->tree;
    while (lane->next < lane->end) {
        uint64_t begin = p->metadata_bytes + lane->next * tree->chunk_bytes;
        uint64_t n = ggld_tree_chunk_size(tree, lane->next);
        ggld_digest leaf;
        ggld_status status;
        if (begin >= offset + size)
            break;
        if (begin >= offset && begin + n <= offset + size) {
            status = ggld_digest_of(&leaf, tree->algo, data + (begin - offset),
                                    (size_t)n, err);
        } else {
            feed_range(lane, offset, data, size, begin, n);
            if (begin + n > offset + size)
                break;
            status = ggld_hasher_finish(&lane->hasher, tree->algo, &leaf, err);
            ggld_hasher_start(&lane->hasher);
        }
        if (status != GGLD_OK)
            return status;
        ggld_tree_set_leaf(tree, lane->next++, &leaf);
    }
    return GGLD_OK;
}

ggld_status ggld_hash_lane_feed(ggld_hash_lane *lane, const ggld_hash_plan *p,
                                ggld_hash_results *results, uint64_t offset,
                                const uint8_t *data, uint64_t size,
                                ggld_error *err)
{
    switch (lane->scope) {
    case GGLD_SCOPE_METADATA:
        feed_range(lane, offset, data, size, 0, p->metadata_bytes);
        return GGLD_OK;
    case GGLD_SCOPE_TENSORS:
        return feed_tensors(lane, p, results, false, offset, data, size, err);
    case GGLD_SCOPE_TENSOR:
        return feed_tensors(lane, p, results, true, offset, data, size, err);
    case GGLD_SCOPE_CHUNKS:
        return feed_chunks(lane, p, results, offset, data, size, err);
    default:
        feed_range(lane, offset, data, size, 0, p->file_bytes);
        return GGLD_OK;
    }
}

ggld_status ggld_hash_lane_finish(ggld_hash_lane *lane,
                                  ggld_hash_results *results, ggld_error *err)
{
    if (lane->scope == GGLD_SCOPE_METADATA)
        return lane_digests(lane, results->metadata, err);
    if (lane->scope == GGLD_SCOPE_TENSORS)
        return lane_digests(lane, results->together, err);
    if (lane->scope == GGLD_SCOPE_FILE)
        return lane_digests(lane, results->file, err);
    return GGLD_OK;
}
