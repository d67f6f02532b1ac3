/* SPDX-License-Identifier: MIT */
/* Digests that are one long chain each: of the whole file, or of the tensors
 * together. They are fed in order: whoever works takes the next piece, reads it,
 * and hands it to one shared lane after the other, waiting for its turn at each.
 * With several lanes several pieces are under way, as on an assembly line. A
 * piece is taken and finished within one call, so that whoever waits waits for
 * a thread that runs. */
#ifndef GGLD_INTEGRITY_HASH_CHAIN_H
#define GGLD_INTEGRITY_HASH_CHAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hash_lane.h"
#include "hash_plan.h"
#include "reader.h"

#define GGLD_HASH_MAX_LANES (4 * GGLD_ALGO_LIMIT)

/* One run through bytes in order. */
typedef struct ggld_hash_chain {
    bool by_table; /* tensors in table order, else the file from first */
    uint64_t first;
    uint64_t end; /* in the file; by table: the number of tensors */
    /* The next piece: where it begins, and of by_table in which tensor. */
    uint64_t at;
    uint64_t tensor;
    uint64_t n_taken;
    uint32_t n_lanes;
    ggld_hash_lane lanes[GGLD_HASH_MAX_LANES];
} ggld_hash_chain;

/* All of a hash; none of most. All zero is none, and may be freed. */
typedef struct ggld_hash_chains {
    const ggld_hash_plan *plan;
    ggld_hash_results *results;
    const ggld_reader *reader;
    uint64_t piece_bytes;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t turned;
    ggld_error failure; /* the first one; its code is GGLD_OK until then */
    uint32_t n;
    ggld_hash_chain chains[2];
} ggld_hash_chains;

/* Plan, results and reader are to outlive it. */
GGLD_MUST_CHECK
ggld_status ggld_hash_chains_init(ggld_hash_chains *cs,
                                  const ggld_hash_plan *plan,
                                  ggld_hash_results *results,
                                  const ggld_reader *reader,
                                  uint64_t piece_bytes, ggld_error *err);
void ggld_hash_chains_free(ggld_hash_chains *cs);

/* Is a piece left to be taken? Any thread. */
bool ggld_hash_chains_left(const ggld_hash_chains *cs);
/* Takes the next piece, if there is still one, through all lanes; buffer has
 * piece_bytes. Adds what was read to *n_bytes. Any number of threads. */
GGLD_MUST_CHECK
ggld_status ggld_hash_chains_run(ggld_hash_chains *cs, uint8_t *buffer,
                                 uint64_t *n_bytes, ggld_error *err);
/* When all is done: the digests go to results. */
GGLD_MUST_CHECK
ggld_status ggld_hash_chains_finish(ggld_hash_chains *cs, ggld_error *err);

#endif /* GGLD_INTEGRITY_HASH_CHAIN_H */
