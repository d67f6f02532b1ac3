/* SPDX-License-Identifier: MIT */
/* A lane: digests of one scope, fed with a file's bytes in order. */
#ifndef GGLD_INTEGRITY_HASH_LANE_H
#define GGLD_INTEGRITY_HASH_LANE_H

#include <stdint.h>

#include "digest.h"
#include "hash_plan.h"

typedef struct ggld_hash_lane {
    uint32_t scope;
    uint32_t algos;
    ggld_hasher hasher;
    /* Tensors (by place) and chunks that it is to digest, and the one that
     * comes next or is under way. */
    uint64_t next;
    uint64_t end;
    uint64_t turn; /* the piece whose turn it is, where lanes are shared */
} ggld_hash_lane;

GGLD_MUST_CHECK
ggld_status ggld_hash_lane_init(ggld_hash_lane *lane, uint32_t scope,
                                uint32_t algos, ggld_error *err);
void ggld_hash_lane_free(ggld_hash_lane *lane);

/* A new run, over places or chunks [first, end). */
void ggld_hash_lane_start(ggld_hash_lane *lane, uint64_t first, uint64_t end);

/* The bytes behind those fed last (or behind what does not concern it). Of
 * tensors and chunks that end in them the digest goes to results. */
GGLD_MUST_CHECK
ggld_status ggld_hash_lane_feed(ggld_hash_lane *lane, const ggld_hash_plan *p,
                                ggld_hash_results *results, uint64_t offset,
                                const uint8_t *data, uint64_t size,
                                ggld_error *err);
/* Of a lane of one digest for everything: it goes to results. */
GGLD_MUST_CHECK
ggld_status ggld_hash_lane_finish(ggld_hash_lane *lane,
                                  ggld_hash_results *results, ggld_error *err);

#endif /* GGLD_INTEGRITY_HASH_LANE_H */
