/* SPDX-License-Identifier: MIT */
/* Workers and what they work on. A unit is one worker's, start to end, with
 * lanes of the worker's own: units go on side by side. Chains are for all. */
#include "hash_work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "hash_chain.h"
#include "hash_lane.h"
#include "hash_manifest.h"
#include "reader.h"

/* Half of the second-level cache: read, and hashed from there by every algo.
 * Where the cache is large, larger reads: each has its price. */
#define PIECE_MIN_BYTES (128u << 10)
#define PIECE_MAX_BYTES (512u << 10)
#define HUGE_BYTES      (2u << 20)

typedef struct worker {
    uint8_t *buffer;            /* piece_bytes of the work's buffers */
    const ggld_hash_unit *unit; /* NULL: none is under way */
    uint64_t done;              /* bytes of it */
    ggld_hash_lane metadata, tensors, chunks;
} worker;

struct ggld_hash_work {
    ggld_hash_plan plan;
    ggld_hash_results results;
    ggld_reader reader;
    uint32_t n_workers;
    uint64_t piece_bytes;
    uint8_t *buffers;
    worker workers[GGLD_HASH_MAX_WORKERS];
    _Atomic uint64_t next_unit;
    ggld_hash_chains chains;
};

/* ---- making ---- */

static uint64_t choose_piece_bytes(void)
{
    long cache = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    if (cache < (long)(2 * PIECE_MIN_BYTES))
        return PIECE_MIN_BYTES;
    /* Multiples of a page, of any size that pages have. */
    return cache < (long)(2 * PIECE_MAX_BYTES) ? 2 * PIECE_MIN_BYTES
                                               : PIECE_MAX_BYTES;
}

/* All of them side by side in huge pages, where there are some. */
static ggld_status make_buffers(ggld_hash_work *w, ggld_error *err)
{
    w->piece_bytes = choose_piece_bytes();
    size_t size = (size_t)(w->piece_bytes * w->n_workers);
    size = (size + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    w->buffers = aligned_alloc(HUGE_BYTES, size);
    if (w->buffers == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash: no memory for buffers (%zu bytes)", size);
#ifdef MADV_HUGEPAGE
    (void)madvise(w->buffers, size, MADV_HUGEPAGE); /* a wish */
#endif
    for (uint32_t i = 0; i < w->n_workers; i++)
        w->workers[i].buffer = w->buffers + i * w->piece_bytes;
    return GGLD_OK;
}

static ggld_status make_worker(worker *k, const ggld_hash_plan *p,
                               ggld_error *err)
{
    ggld_status status = GGLD_OK;
    uint32_t scopes = p->serial ? 0 : p->request.scopes;
    if ((scopes & GGLD_SCOPE_METADATA) != 0)
        status = ggld_hash_lane_init(&k->metadata, GGLD_SCOPE_METADATA,
                                     p->metadata_algos, err);
    if (status == GGLD_OK && (scopes & GGLD_SCOPE_TENSOR) != 0)
        status = ggld_hash_lane_init(&k->tensors, GGLD_SCOPE_TENSOR,
                                     p->tensor_algos, err);
    if (status == GGLD_OK && (scopes & GGLD_SCOPE_CHUNKS) != 0)
        status = ggld_hash_lane_init(&k->chunks, GGLD_SCOPE_CHUNKS,
                                     GGLD_ALGO_BIT(p->request.chunk_algo), err);
    return status;
}

static ggld_status make(ggld_hash_work *w, const ggld_file *file,
                        const ggld_hash_request *request, bool keep_cache,
                        ggld_error *err)
{
    ggld_status status = ggld_hash_plan_init(&w->plan, file, request, err);
    if (status == GGLD_OK)
        status = ggld_hash_results_init(&w->results, &w->plan, err);
    if (status == GGLD_OK)
        status = ggld_reader_init(&w->reader, file, keep_cache, err);
    if (status == GGLD_OK)
        status = make_buffers(w, err);
    if (status == GGLD_OK)
        status = ggld_hash_chains_init(&w->chains, &w->plan, &w->results,
                                       &w->reader, w->piece_bytes, err);
    for (uint32_t i = 0; i < w->n_workers && status == GGLD_OK; i++)
        status = make_worker(&w->workers[i], &w->plan, err);
    return status;
}

ggld_status ggld_hash_work_new(ggld_hash_work **out, const ggld_file *file,
                               const ggld_hash_request *request,
                               uint32_t n_workers, bool keep_cache,
                               ggld_error *err)
{
    ggld_hash_work *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash: no memory for its state");
    w->n_workers = n_workers;
    ggld_status status = make(w, file, request, keep_cache, err);
    if (status != GGLD_OK) {
        ggld_hash_work_free(w);
        return status;
    }
    *out = w;
    return GGLD_OK;
}

void ggld_hash_work_free(ggld_hash_work *w)
{
    if (w == NULL)
        return;
    /* What readahead brought in besides, and what a cancelled hash left. */
    ggld_reader_drop(&w->reader, 0, w->plan.file_bytes);
    for (uint32_t i = 0; i < w->n_workers; i++) {
        ggld_hash_lane_free(&w->workers[i].metadata);
        ggld_hash_lane_free(&w->workers[i].tensors);
        ggld_hash_lane_free(&w->workers[i].chunks);
    }
    ggld_hash_chains_free(&w->chains);
    free(w->buffers);
    ggld_reader_free(&w->reader);
    ggld_hash_results_free(&w->results);
    ggld_hash_plan_free(&w->plan);
    free(w);
}

uint64_t ggld_hash_work_total_bytes(const ggld_hash_work *w)
{
    return w->plan.total_bytes;
}

/* ---- units ---- */

static bool take_unit(ggld_hash_work *w, worker *k)
{
    uint64_t i = atomic_fetch_add(&w->next_unit, 1);
    if (i >= w->plan.n_units)
        return false;
    k->unit = &w->plan.units[i];
    k->done = 0;
    ggld_hash_lane_start(&k->metadata, 0, 0);
    ggld_hash_lane_start(&k->tensors, k->unit->first_place, k->unit->end_place);
    ggld_hash_lane_start(&k->chunks, k->unit->first_chunk, k->unit->end_chunk);
    return true;
}

static ggld_status feed_unit(ggld_hash_work *w, worker *k, uint64_t offset,
                             uint64_t size, ggld_error *err)
{
    if (k->unit->scope == GGLD_SCOPE_METADATA)
        return ggld_hash_lane_feed(&k->metadata, &w->plan, &w->results, offset,
                                   k->buffer, size, err);
    ggld_status status = ggld_hash_lane_feed(&k->tensors, &w->plan, &w->results,
                                             offset, k->buffer, size, err);
    if (status == GGLD_OK)
        status = ggld_hash_lane_feed(&k->chunks, &w->plan, &w->results, offset,
                                     k->buffer, size, err);
    return status;
}

/* The next piece of the worker's unit. */
static ggld_status run_unit(ggld_hash_work *w, worker *k, uint64_t *n_bytes,
                            ggld_error *err)
{
    uint64_t offset = k->unit->offset + k->done;
    uint64_t size = ggld_min_u64(w->piece_bytes, k->unit->size - k->done);
    ggld_status status =
        ggld_reader_read(&w->reader, offset, k->buffer, (size_t)size, err);
    if (status == GGLD_OK)
        status = feed_unit(w, k, offset, size, err);
    if (status != GGLD_OK)
        return status;
    *n_bytes += size;
    k->done += size;
    if (k->done == k->unit->size) {
        if (k->unit->scope == GGLD_SCOPE_METADATA)
            status = ggld_hash_lane_finish(&k->metadata, &w->results, err);
        ggld_reader_drop(&w->reader, k->unit->offset, k->unit->size);
        k->unit = NULL;
    }
    return status;
}

/* ---- running ---- */

bool ggld_hash_work_left(const ggld_hash_work *w, uint32_t number)
{
    return w->workers[number].unit != NULL ||
           atomic_load(&w->next_unit) < w->plan.n_units ||
           ggld_hash_chains_left(&w->chains);
}

ggld_status ggld_hash_work_run(ggld_hash_work *w, uint32_t number,
                               uint64_t max_bytes, const _Atomic bool *stop,
                               uint64_t *n_bytes, ggld_error *err)
{
    worker *k = &w->workers[number];
    ggld_status status = GGLD_OK;
    ggld_error unasked = { 0 };
    err = err != NULL ? err : &unasked;
    *n_bytes = 0;
    while (status == GGLD_OK && *n_bytes < max_bytes &&
           !atomic_load_explicit(stop, memory_order_relaxed)) {
        if (k->unit != NULL || take_unit(w, k))
            status = run_unit(w, k, n_bytes, err);
        else if (ggld_hash_chains_left(&w->chains))
            status = ggld_hash_chains_run(&w->chains, k->buffer, n_bytes, err);
        else
            break;
    }
    return status;
}

ggld_status ggld_hash_work_manifest(ggld_hash_work *w, const char *name,
                                    ggld_manifest **out, ggld_error *err)
{
    ggld_status status = ggld_hash_chains_finish(&w->chains, err);
    if (status == GGLD_OK)
        status = ggld_hash_manifest(&w->plan, &w->results, name, out, err);
    ggld_hash_results_free(&w->results); /* a million digests are not small */
    return status;
}
