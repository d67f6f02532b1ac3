/* SPDX-License-Identifier: MIT */
/* Workers and what they work on.
 *
 * A unit is one worker's, start to end, with lanes of the worker's own: units
 * go on side by side. A chain (digests of the whole file, or of the tensors
 * together) is fed in order: each worker takes the next piece, reads it, and
 * hands it to one shared lane after the other, waiting for its turn at each.
 * With several lanes several pieces are under way, as on an assembly line. A
 * piece is taken and finished within one call, so that whoever waits waits for
 * a thread that runs. */
#include "hash_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "hash_lane.h"
#include "hash_result.h"
#include "reader.h"

/* Half of the second-level cache: read, and hashed from there by every algo.
 * Where the cache is large, larger reads: each has its price. */
#define PIECE_MIN_BYTES (128u << 10)
#define PIECE_MAX_BYTES (512u << 10)
#define HUGE_BYTES      (2u << 20)

#define MAX_LANES (4 * GGLD_ALGO_LIMIT)

typedef struct worker {
    uint8_t *buffer;            /* piece_bytes of the work's buffers */
    const ggld_hash_unit *unit; /* NULL: none is under way */
    uint64_t done;              /* bytes of it */
    ggld_hash_lane metadata, tensors, chunks;
} worker;

/* One run through bytes in order. */
typedef struct chain {
    bool by_table; /* tensors in table order, else the file from first */
    uint64_t first;
    uint64_t end; /* in the file; by table: the number of tensors */
    /* The next piece: where it begins, and of by_table in which tensor. */
    uint64_t at;
    uint64_t tensor;
    uint64_t n_taken;
    uint32_t n_lanes;
    ggld_hash_lane lanes[MAX_LANES];
} chain;

struct ggld_hash_work {
    ggld_hash_plan plan;
    ggld_hash_results results;
    ggld_reader reader;
    uint32_t n_workers;
    uint64_t piece_bytes;
    uint8_t *buffers;
    worker workers[GGLD_HASH_MAX_WORKERS];
    _Atomic uint64_t next_unit;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t turned;
    ggld_error failure; /* the first one; its code is GGLD_OK until then */
    uint32_t n_chains;
    chain chains[2];
};

/* ---- making ---- */

static ggld_status add_lanes(chain *c, uint32_t scope, uint32_t algos,
                             ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++)
        if ((algos & GGLD_ALGO_BIT(i)) != 0)
            status = ggld_hash_lane_init(&c->lanes[c->n_lanes++], scope,
                                         GGLD_ALGO_BIT(i), err);
    return status;
}

static ggld_status serial_lanes(chain *c, const ggld_hash_plan *p,
                                ggld_error *err)
{
    uint32_t scopes = p->request.scopes;
    uint32_t together =
        p->table_pass ? 0 : scopes & (uint32_t)GGLD_SCOPE_TENSORS;
    ggld_status status = GGLD_OK;
    if ((scopes & GGLD_SCOPE_FILE) != 0)
        status = add_lanes(c, GGLD_SCOPE_FILE, p->tensor_algos, err);
    if (status == GGLD_OK && together != 0)
        status = add_lanes(c, GGLD_SCOPE_TENSORS, p->request.algos, err);
    if (status == GGLD_OK && (scopes & GGLD_SCOPE_TENSOR) != 0)
        status = add_lanes(c, GGLD_SCOPE_TENSOR, p->tensor_algos, err);
    if (status == GGLD_OK && (scopes & GGLD_SCOPE_METADATA) != 0)
        status =
            ggld_hash_lane_init(&c->lanes[c->n_lanes++], GGLD_SCOPE_METADATA,
                                p->metadata_algos, err);
    if (status == GGLD_OK && (scopes & GGLD_SCOPE_CHUNKS) != 0)
        status = ggld_hash_lane_init(&c->lanes[c->n_lanes++], GGLD_SCOPE_CHUNKS,
                                     GGLD_ALGO_BIT(p->request.chunk_algo), err);
    for (uint32_t i = 0; i < c->n_lanes && status == GGLD_OK; i++)
        ggld_hash_lane_start(
            &c->lanes[i], 0,
            c->lanes[i].scope == GGLD_SCOPE_CHUNKS ? UINT64_MAX : p->n_places);
    return status;
}

/* A file in which data is in another order than the table may have both. */
static ggld_status make_chains(ggld_hash_work *w, ggld_error *err)
{
    const ggld_hash_plan *p = &w->plan;
    ggld_status status = GGLD_OK;
    if (p->serial) {
        chain *c = &w->chains[w->n_chains++];
        c->at = c->first = p->serial_begin;
        c->end = p->serial_end;
        status = serial_lanes(c, p, err);
    }
    if (p->table_pass && status == GGLD_OK) {
        chain *c = &w->chains[w->n_chains++];
        c->by_table = true;
        c->end = p->n_tensors;
        /* Fed as one range: which bytes those are is the chain's to know. */
        status = add_lanes(c, GGLD_SCOPE_TENSORS, p->request.algos, err);
    }
    return status;
}

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
        status = make_chains(w, err);
    if (status == GGLD_OK)
        status = make_buffers(w, err);
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
    (void)pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->turned, NULL);
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
    for (uint32_t i = 0; i < w->n_chains; i++)
        for (uint32_t j = 0; j < w->chains[i].n_lanes; j++)
            ggld_hash_lane_free(&w->chains[i].lanes[j]);
    pthread_cond_destroy(&w->turned);
    pthread_mutex_destroy(&w->lock);
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

/* ---- chains ---- */

typedef struct piece {
    uint64_t number;
    uint64_t offset;
    uint64_t size;
} piece;

static bool take_from_file(chain *c, uint64_t max_bytes, piece *out)
{
    out->offset = c->at;
    out->size = ggld_min_u64(max_bytes, c->end - c->at);
    c->at += out->size;
    return out->size != 0;
}

static bool take_from_table(const ggld_hash_plan *p, chain *c,
                            uint64_t max_bytes, piece *out)
{
    for (; c->tensor < c->end; c->tensor++, c->at = 0) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(p->file, c->tensor), &info);
        out->offset = info.file_offset_bytes + c->at;
        out->size = ggld_min_u64(max_bytes, info.size_bytes - c->at);
        c->at += out->size;
        if (out->size != 0)
            return true;
    }
    return false;
}

/* Under the lock. */
static bool take_piece(ggld_hash_work *w, chain *c, piece *out)
{
    bool taken = c->by_table ? take_from_table(&w->plan, c, w->piece_bytes, out)
                             : take_from_file(c, w->piece_bytes, out);
    if (taken)
        out->number = c->n_taken++;
    return taken;
}

static ggld_status feed_lane(ggld_hash_work *w, chain *c, ggld_hash_lane *lane,
                             const worker *k, const piece *p, ggld_error *err)
{
    if (!c->by_table)
        return ggld_hash_lane_feed(lane, &w->plan, &w->results, p->offset,
                                   k->buffer, p->size, err);
    ggld_hasher_update(&lane->hasher, k->buffer, (size_t)p->size);
    return GGLD_OK;
}

/* Waits until the pieces before have been through the lane. Where one of them
 * failed, its error is everybody's. */
static ggld_status await_turn(ggld_hash_work *w, const ggld_hash_lane *lane,
                              uint64_t number, ggld_error *err)
{
    pthread_mutex_lock(&w->lock);
    while (lane->turn != number && w->failure.code == GGLD_OK)
        pthread_cond_wait(&w->turned, &w->lock);
    ggld_status status = w->failure.code;
    if (status != GGLD_OK)
        *err = w->failure;
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* failure is NULL where the piece went through. */
static void pass_turn(ggld_hash_work *w, ggld_hash_lane *lane,
                      const ggld_error *failure)
{
    pthread_mutex_lock(&w->lock);
    if (lane != NULL)
        lane->turn++;
    if (failure != NULL && w->failure.code == GGLD_OK)
        w->failure = *failure;
    pthread_cond_broadcast(&w->turned);
    pthread_mutex_unlock(&w->lock);
}

static ggld_status pass_lanes(ggld_hash_work *w, chain *c, const worker *k,
                              const piece *p, ggld_error *err)
{
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        ggld_hash_lane *lane = &c->lanes[i];
        ggld_status status = await_turn(w, lane, p->number, err);
        if (status != GGLD_OK)
            return status;
        status = feed_lane(w, c, lane, k, p, err);
        pass_turn(w, lane, status == GGLD_OK ? NULL : err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

/* The chain's next piece, if it has one. */
static ggld_status run_chain(ggld_hash_work *w, chain *c, const worker *k,
                             uint64_t *n_bytes, ggld_error *err)
{
    piece p;
    pthread_mutex_lock(&w->lock);
    bool taken = w->failure.code == GGLD_OK && take_piece(w, c, &p);
    pthread_mutex_unlock(&w->lock);
    if (!taken)
        return GGLD_OK;
    ggld_status status =
        ggld_reader_read(&w->reader, p.offset, k->buffer, (size_t)p.size, err);
    if (status != GGLD_OK) {
        pass_turn(w, NULL, err);
        return status;
    }
    status = pass_lanes(w, c, k, &p, err);
    ggld_reader_drop(&w->reader, p.offset, p.size);
    *n_bytes += p.size;
    return status;
}

/* ---- running ---- */

/* The first chain that has pieces left, under the lock or before all ran. */
static chain *chain_left(ggld_hash_work *w)
{
    for (uint32_t i = 0; i < w->n_chains; i++) {
        chain *c = &w->chains[i];
        if (c->by_table ? c->tensor < c->end : c->at < c->end)
            return c;
    }
    return NULL;
}

static chain *chain_next(ggld_hash_work *w)
{
    pthread_mutex_lock(&w->lock);
    chain *c = w->failure.code != GGLD_OK ? NULL : chain_left(w);
    pthread_mutex_unlock(&w->lock);
    return c;
}

bool ggld_hash_work_left(const ggld_hash_work *w, uint32_t number)
{
    return w->workers[number].unit != NULL ||
           atomic_load(&w->next_unit) < w->plan.n_units ||
           chain_next((ggld_hash_work *)(uintptr_t)w) != NULL;
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
        chain *c;
        if (k->unit != NULL || take_unit(w, k))
            status = run_unit(w, k, n_bytes, err);
        else if ((c = chain_next(w)) != NULL)
            status = run_chain(w, c, k, n_bytes, err);
        else
            break;
    }
    return status;
}

ggld_status ggld_hash_work_manifest(ggld_hash_work *w, const char *name,
                                    ggld_manifest **out, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < w->n_chains && status == GGLD_OK; i++)
        for (uint32_t j = 0; j < w->chains[i].n_lanes && status == GGLD_OK; j++)
            status =
                ggld_hash_lane_finish(&w->chains[i].lanes[j], &w->results, err);
    return status == GGLD_OK
               ? ggld_hash_manifest(&w->plan, &w->results, name, out, err)
               : status;
}
