/* SPDX-License-Identifier: MIT */
/* Pieces of chains, and whose turn it is at which lane. */
#include "hash_chain.h"

#include <string.h>

#include <ggld/tensor.h>

#include "../base/checked.h"

/* ---- making ---- */

static ggld_status add_lanes(ggld_hash_chain *c, uint32_t scope, uint32_t algos,
                             ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++)
        if ((algos & GGLD_ALGO_BIT(i)) != 0)
            status = ggld_hash_lane_init(&c->lanes[c->n_lanes++], scope,
                                         GGLD_ALGO_BIT(i), err);
    return status;
}

static ggld_status serial_lanes(ggld_hash_chain *c, const ggld_hash_plan *p,
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
static ggld_status make_chains(ggld_hash_chains *cs, ggld_error *err)
{
    const ggld_hash_plan *p = cs->plan;
    ggld_status status = GGLD_OK;
    if (p->serial) {
        ggld_hash_chain *c = &cs->chains[cs->n++];
        c->at = c->first = p->serial_begin;
        c->end = p->serial_end;
        status = serial_lanes(c, p, err);
    }
    if (p->table_pass && status == GGLD_OK) {
        ggld_hash_chain *c = &cs->chains[cs->n++];
        c->by_table = true;
        c->end = p->n_tensors;
        /* Fed as one range: which bytes those are is the chain's to know. */
        status = add_lanes(c, GGLD_SCOPE_TENSORS, p->request.algos, err);
    }
    return status;
}

/* ---- pieces and turns ---- */

typedef struct piece {
    uint64_t number;
    uint64_t offset;
    uint64_t size;
} piece;

static bool take_from_file(ggld_hash_chain *c, uint64_t max_bytes, piece *out)
{
    out->offset = c->at;
    out->size = ggld_min_u64(max_bytes, c->end - c->at);
    c->at += out->size;
    return out->size != 0;
}

static bool take_from_table(const ggld_hash_plan *p, ggld_hash_chain *c,
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
static bool take_piece(ggld_hash_chains *cs, ggld_hash_chain *c, piece *out)
{
    bool taken = c->by_table
                     ? take_from_table(cs->plan, c, cs->piece_bytes, out)
                     : take_from_file(c, cs->piece_bytes, out);
    if (taken)
        out->number = c->n_taken++;
    return taken;
}

static ggld_status feed_lane(ggld_hash_chains *cs, ggld_hash_chain *c,
                             ggld_hash_lane *lane, uint8_t *buffer,
                             const piece *p, ggld_error *err)
{
    if (!c->by_table)
        return ggld_hash_lane_feed(lane, cs->plan, cs->results, p->offset,
                                   buffer, p->size, err);
    ggld_hasher_update(&lane->hasher, buffer, (size_t)p->size);
    return GGLD_OK;
}

/* Waits until the pieces before have been through the lane. Where one of them
 * failed, its error is everybody's. */
static ggld_status await_turn(ggld_hash_chains *cs, const ggld_hash_lane *lane,
                              uint64_t number, ggld_error *err)
{
    pthread_mutex_lock(&cs->lock);
    while (lane->turn != number && cs->failure.code == GGLD_OK)
        pthread_cond_wait(&cs->turned, &cs->lock);
    ggld_status status = cs->failure.code;
    if (status != GGLD_OK)
        *err = cs->failure;
    pthread_mutex_unlock(&cs->lock);
    return status;
}

/* failure is NULL where the piece went through. */
static void pass_turn(ggld_hash_chains *cs, ggld_hash_lane *lane,
                      const ggld_error *failure)
{
    pthread_mutex_lock(&cs->lock);
    if (lane != NULL)
        lane->turn++;
    if (failure != NULL && cs->failure.code == GGLD_OK)
        cs->failure = *failure;
    pthread_cond_broadcast(&cs->turned);
    pthread_mutex_unlock(&cs->lock);
}

static ggld_status pass_lanes(ggld_hash_chains *cs, ggld_hash_chain *c,
                              uint8_t *buffer, const piece *p, ggld_error *err)
{
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        ggld_hash_lane *lane = &c->lanes[i];
        ggld_status status = await_turn(cs, lane, p->number, err);
        if (status != GGLD_OK)
            return status;
        status = feed_lane(cs, c, lane, buffer, p, err);
        pass_turn(cs, lane, status == GGLD_OK ? NULL : err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

/* The first chain that has pieces left, under the lock or before all ran. */
static ggld_hash_chain *chain_left(ggld_hash_chains *cs)
{
    for (uint32_t i = 0; i < cs->n; i++) {
        ggld_hash_chain *c = &cs->chains[i];
        if (c->by_table ? c->tensor < c->end : c->at < c->end)
            return c;
    }
    return NULL;
}

bool ggld_hash_chains_left(const ggld_hash_chains *cs)
{
    /* The lock is not what is const. */
    ggld_hash_chains *locked = (ggld_hash_chains *)(uintptr_t)cs;
    if (cs->n == 0)
        return false;
    pthread_mutex_lock(&locked->lock);
    bool left = cs->failure.code == GGLD_OK && chain_left(locked) != NULL;
    pthread_mutex_unlock(&locked->lock);
    return left;
}

ggld_status ggld_hash_chains_run(ggld_hash_chains *cs, uint8_t *buffer,
                                 uint64_t *n_bytes, ggld_error *err)
{
    piece p;
    pthread_mutex_lock(&cs->lock);
    ggld_hash_chain *c = cs->failure.code == GGLD_OK ? chain_left(cs) : NULL;
    bool taken = c != NULL && take_piece(cs, c, &p);
    pthread_mutex_unlock(&cs->lock);
    if (!taken)
        return GGLD_OK;
    ggld_status status =
        ggld_reader_read(cs->reader, p.offset, buffer, (size_t)p.size, err);
    if (status != GGLD_OK) {
        pass_turn(cs, NULL, err);
        return status;
    }
    status = pass_lanes(cs, c, buffer, &p, err);
    ggld_reader_drop(cs->reader, p.offset, p.size);
    *n_bytes += p.size;
    return status;
}

/* ---- from start to end ---- */

ggld_status ggld_hash_chains_init(ggld_hash_chains *cs,
                                  const ggld_hash_plan *plan,
                                  ggld_hash_results *results,
                                  const ggld_reader *reader,
                                  uint64_t piece_bytes, ggld_error *err)
{
    memset(cs, 0, sizeof *cs);
    cs->plan = plan;
    cs->results = results;
    cs->reader = reader;
    cs->piece_bytes = piece_bytes;
    (void)pthread_mutex_init(&cs->lock, NULL);
    pthread_cond_init(&cs->turned, NULL);
    return make_chains(cs, err);
}

void ggld_hash_chains_free(ggld_hash_chains *cs)
{
    if (cs->plan == NULL)
        return;
    for (uint32_t i = 0; i < cs->n; i++)
        for (uint32_t j = 0; j < cs->chains[i].n_lanes; j++)
            ggld_hash_lane_free(&cs->chains[i].lanes[j]);
    pthread_cond_destroy(&cs->turned);
    pthread_mutex_destroy(&cs->lock);
}

ggld_status ggld_hash_chains_finish(ggld_hash_chains *cs, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < cs->n && status == GGLD_OK; i++)
        for (uint32_t j = 0; j < cs->chains[i].n_lanes && status == GGLD_OK;
             j++)
            status = ggld_hash_lane_finish(&cs->chains[i].lanes[j], cs->results,
                                           err);
    return status;
}
