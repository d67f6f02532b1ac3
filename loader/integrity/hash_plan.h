/* SPDX-License-Identifier: MIT */
/* What is to be hashed of a file, in which pieces. Immutable once made; where
 * the digests go beside it. */
#ifndef GGLD_INTEGRITY_HASH_PLAN_H
#define GGLD_INTEGRITY_HASH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/integrity.h>

#include "digest.h"
#include "tree.h"

typedef struct ggld_hash_request {
    uint32_t algos;
    uint32_t scopes;
    uint32_t chunk_algo;
    uint64_t chunk_bytes; /* 0: chosen */
} ggld_hash_request;

/* Where a tensor's bytes lie. */
typedef struct ggld_tensor_place {
    uint64_t offset;
    uint64_t size;
    uint64_t index; /* in the table */
} ggld_tensor_place;

/* A run of the file that one worker hashes alone. */
typedef struct ggld_hash_unit {
    uint64_t offset;
    uint64_t size;
    uint32_t scope;       /* METADATA, or the data's */
    uint64_t first_place; /* tensors that lie in it */
    uint64_t end_place;
    uint64_t first_chunk; /* chunks that start in it; the last one may reach */
    uint64_t end_chunk;   /* into the next unit, and is read to its end */
} ggld_hash_unit;

typedef struct ggld_hash_plan {
    const ggld_file *file;
    ggld_hash_request request; /* with defaults filled in */
    uint32_t tensor_algos;     /* of each tensor and of the file: no uuid */
    uint32_t metadata_algos;
    uint64_t file_bytes;
    uint64_t metadata_bytes;
    uint64_t n_tensors;
    ggld_tensor_place *places; /* by offset; of tensors that have bytes */
    uint64_t n_places;
    bool in_table_order; /* the places are in that order too */

    /* Digests that are one long chain: all is read in order, by ordered lanes.
     * Otherwise units, the longest first. */
    bool serial;
    uint64_t serial_begin;
    uint64_t serial_end;
    /* Tensors together in another order than the file's: a second pass. */
    bool table_pass;
    ggld_hash_unit *units;
    uint64_t n_units;
    uint64_t total_bytes; /* that will be read */
} ggld_hash_plan;

/* Written by many threads, each digest by one. */
typedef struct ggld_hash_results {
    ggld_digest file[GGLD_ALGO_LIMIT];
    ggld_digest metadata[GGLD_ALGO_LIMIT];
    ggld_digest together[GGLD_ALGO_LIMIT];
    /* Of each tensor, in table order, the bytes of its digests by the algos that
     * were asked for. NULL: of tensors none were. */
    uint8_t *tensors;
    uint32_t tensor_algos;
    uint32_t tensor_bytes;                    /* of all digests of one */
    uint32_t tensor_offsets[GGLD_ALGO_LIMIT]; /* among them */
    ggld_tree tree;
} ggld_hash_results;

/* GGLD_E_INVALID: a request that makes no sense. GGLD_E_TRUNCATED: a tensor is
 * not all inside the file. */
GGLD_MUST_CHECK
ggld_status ggld_hash_plan_init(ggld_hash_plan *p, const ggld_file *file,
                                const ggld_hash_request *request,
                                ggld_error *err);
void ggld_hash_plan_free(ggld_hash_plan *p);
GGLD_MUST_CHECK
ggld_status ggld_hash_results_init(ggld_hash_results *r,
                                   const ggld_hash_plan *p, ggld_error *err);
void ggld_hash_results_free(ggld_hash_results *r);
/* A tensor's digest by one of the algos asked for; all of them by algo, where
 * algo is 0 of others. */
void ggld_hash_results_put(ggld_hash_results *r, uint64_t tensor,
                           const ggld_digest *digest);
void ggld_hash_results_get(const ggld_hash_results *r, uint64_t tensor,
                           ggld_digest digests[GGLD_ALGO_LIMIT]);

#endif /* GGLD_INTEGRITY_HASH_PLAN_H */
