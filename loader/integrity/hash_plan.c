/* SPDX-License-Identifier: MIT */
/* Planning a hash: where tensors lie, and how the file is cut into units so
 * that threads are busy to the end. Offsets and sizes come from an open file,
 * but one that was opened for its metadata only has seen no check of them. */
#include "hash_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/tensor.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/plural.h"
#include "../base/quote.h"

/* Small tensors share a unit up to this; a unit's start and end cost a seek. */
#define UNIT_MIN_BYTES (8u << 20)
/* Of data that is cut into chunks only. */
#define UNIT_CHUNKS_BYTES (32u << 20)

#define SERIAL_SCOPES ((uint32_t)GGLD_SCOPE_FILE | GGLD_SCOPE_TENSORS)

static bool asks(const ggld_hash_plan *p, uint32_t scope)
{
    return (p->request.scopes & scope) != 0;
}

/* ---- the request ---- */

static ggld_status check_request(const ggld_hash_request *r, ggld_error *err)
{
    const uint32_t scopes = SERIAL_SCOPES | GGLD_SCOPE_METADATA |
                            GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS;
    uint32_t uuid = GGLD_ALGO_BIT(GGLD_ALGO_UUID);
    bool only_uuid = r->algos == uuid;
    const char *why = NULL;
    if ((r->algos & ~GGLD_ALGO_ALL) != 0 || (r->scopes & ~scopes) != 0)
        why = "an algorithm or scope that is not known";
    else if (only_uuid && (r->scopes & GGLD_SCOPE_FILE) != 0)
        why = "a uuid is of the tensors together, not of the whole file";
    else if ((r->algos & uuid) != 0 && (r->scopes & GGLD_SCOPE_TENSORS) == 0)
        why = "a uuid is of the tensors together, which were not asked for";
    else if (r->chunk_algo != 0 && (ggld_algo_size(r->chunk_algo) == 0 ||
                                    r->chunk_algo == GGLD_ALGO_UUID))
        why = "chunks can't have digests of that algorithm";
    else if (r->chunk_bytes != 0 && !ggld_chunk_bytes_valid(r->chunk_bytes))
        why = "a chunk is a power of two, from 4096 to 1073741824 bytes";
    return why == NULL ? GGLD_OK
                       : ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                                   "hash: %s", why);
}

static void fill_request(ggld_hash_plan *p, const ggld_hash_request *request)
{
    ggld_hash_request *r = &p->request;
    *r = *request;
    if (r->algos == 0)
        r->algos = GGLD_ALGO_BIT(GGLD_ALGO_SHA256);
    if (r->scopes == 0)
        r->scopes = GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS;
    if (r->chunk_algo == 0)
        r->chunk_algo = GGLD_ALGO_XXH3;
    if (r->chunk_bytes == 0)
        r->chunk_bytes = ggld_chunk_bytes_for(
            r->chunk_algo, p->file_bytes - p->metadata_bytes);
    p->tensor_algos = r->algos & ~GGLD_ALGO_BIT(GGLD_ALGO_UUID);
    p->metadata_algos = p->tensor_algos;
    if (p->tensor_algos == 0)
        r->scopes &= ~(uint32_t)GGLD_SCOPE_TENSOR;
    /* The root of the chunks is of the metadata too. */
    if (asks(p, GGLD_SCOPE_CHUNKS)) {
        r->scopes |= GGLD_SCOPE_METADATA;
        if (p->metadata_algos == 0)
            p->metadata_algos = GGLD_ALGO_BIT(GGLD_ALGO_SHA256);
    }
}

/* ---- places ---- */

static uint64_t place_end(const ggld_hash_plan *p, uint64_t i)
{
    return p->places[i].offset + p->places[i].size;
}

static ggld_status add_place(ggld_hash_plan *p, uint64_t index, ggld_error *err)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(ggld_tensor_at(p->file, index), &info);
    if (info.size_bytes == 0)
        return GGLD_OK;
    if (!ggld_fits(info.file_offset_bytes, info.size_bytes, p->file_bytes))
        return ggld_fail(
            err, GGLD_E_TRUNCATED,
            ggld_place_of(GGLD_IN_TENSOR_DATA, index, p->file_bytes),
            "tensor %" PRIu64 " %s: data at %" PRIu64 " + %" PRIu64
            " bytes is past the end of the file (%" PRIu64 " bytes)",
            index, ggld_quote(info.name.data, info.name.len).text,
            info.file_offset_bytes, info.size_bytes, p->file_bytes);
    ggld_tensor_place place = { info.file_offset_bytes, info.size_bytes,
                                index };
    if (p->n_places != 0 && p->places[p->n_places - 1].offset > place.offset)
        p->in_table_order = false;
    p->places[p->n_places++] = place;
    return GGLD_OK;
}

static int by_offset(const void *a, const void *b)
{
    const ggld_tensor_place *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static ggld_status find_places(ggld_hash_plan *p, ggld_error *err)
{
    p->n_tensors = ggld_tensor_count(p->file);
    p->in_table_order = true;
    p->places = calloc((size_t)p->n_tensors + 1, sizeof *p->places);
    if (p->places == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash: no memory for %" PRIu64 " tensor%s",
                         p->n_tensors, ggld_plural(p->n_tensors));
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < p->n_tensors && status == GGLD_OK; i++)
        status = add_place(p, i, err);
    if (!p->in_table_order)
        qsort(p->places, (size_t)p->n_places, sizeof *p->places, by_offset);
    for (uint64_t i = 1; i < p->n_places && status == GGLD_OK; i++)
        if (place_end(p, i - 1) > p->places[i].offset)
            status = ggld_fail(
                err, GGLD_E_OVERLAP,
                ggld_place_of(GGLD_IN_TENSOR_DATA, p->places[i].index,
                              p->places[i].offset),
                "tensors %" PRIu64 " and %" PRIu64 " share bytes at %" PRIu64,
                p->places[i - 1].index, p->places[i].index,
                p->places[i].offset);
    return status;
}

/* ---- units ---- */

static uint64_t chunk_from(const ggld_hash_plan *p, uint64_t offset)
{
    uint64_t in_data = offset - p->metadata_bytes;
    uint64_t chunk = p->request.chunk_bytes;
    return in_data / chunk + (in_data % chunk != 0);
}

/* Chunks that start in the unit are its own; it is read to the last one's
 * end. */
static void give_chunks(const ggld_hash_plan *p, ggld_hash_unit *unit)
{
    uint64_t chunk = p->request.chunk_bytes;
    uint64_t end = unit->offset + unit->size;
    unit->first_chunk = chunk_from(p, unit->offset);
    unit->end_chunk = chunk_from(p, end);
    if (unit->end_chunk > unit->first_chunk) {
        uint64_t last_end =
            p->metadata_bytes + ggld_min_u64(unit->end_chunk * chunk,
                                             p->file_bytes - p->metadata_bytes);
        if (last_end > end)
            unit->size = last_end - unit->offset;
    }
}

static void add_unit(ggld_hash_plan *p, const ggld_hash_unit *unit)
{
    ggld_hash_unit *u = &p->units[p->n_units];
    *u = *unit;
    if (u->size == 0)
        return;
    if (u->scope != GGLD_SCOPE_METADATA && asks(p, GGLD_SCOPE_CHUNKS))
        give_chunks(p, u);
    p->n_units++;
    p->total_bytes += u->size;
}

/* Tensors side by side, with what lies between them; where chunks are wanted,
 * up to the next unit. */
static void cut_by_tensors(ggld_hash_plan *p)
{
    bool chunks = asks(p, GGLD_SCOPE_CHUNKS);
    uint64_t begin = p->metadata_bytes;
    for (uint64_t i = 0; i < p->n_places;) {
        ggld_hash_unit unit = { 0, 0, GGLD_SCOPE_TENSOR, i, i + 1, 0, 0 };
        unit.offset = chunks ? begin : p->places[i].offset;
        while (unit.end_place < p->n_places &&
               place_end(p, unit.end_place) - p->places[i].offset <=
                   UNIT_MIN_BYTES)
            unit.end_place++;
        i = unit.end_place;
        uint64_t end = place_end(p, i - 1);
        if (chunks)
            end = i < p->n_places ? p->places[i].offset : p->file_bytes;
        unit.size = end - unit.offset;
        begin = end;
        add_unit(p, &unit);
    }
}

static void cut_by_chunks(ggld_hash_plan *p, uint64_t unit_bytes)
{
    for (uint64_t at = p->metadata_bytes; at < p->file_bytes;) {
        uint64_t size = ggld_min_u64(unit_bytes, p->file_bytes - at);
        ggld_hash_unit unit = { at, size, GGLD_SCOPE_CHUNKS, 0, 0, 0, 0 };
        add_unit(p, &unit);
        at += size;
    }
}

static int longest_first(const void *a, const void *b)
{
    const ggld_hash_unit *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static ggld_status cut(ggld_hash_plan *p, ggld_error *err)
{
    uint64_t unit_bytes = UNIT_CHUNKS_BYTES;
    if (unit_bytes < p->request.chunk_bytes)
        unit_bytes = p->request.chunk_bytes;
    uint64_t most =
        p->n_places + 2 + (p->file_bytes - p->metadata_bytes) / unit_bytes;
    p->units = calloc((size_t)most, sizeof *p->units);
    if (p->units == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash: no memory for %" PRIu64 " unit%s", most,
                         ggld_plural(most));
    if (asks(p, GGLD_SCOPE_METADATA)) {
        ggld_hash_unit unit = {
            0, p->metadata_bytes, GGLD_SCOPE_METADATA, 0, 0, 0, 0
        };
        add_unit(p, &unit);
    }
    if (asks(p, GGLD_SCOPE_TENSOR) && p->n_places != 0)
        cut_by_tensors(p);
    else if (asks(p, GGLD_SCOPE_CHUNKS))
        cut_by_chunks(p, unit_bytes);
    qsort(p->units, (size_t)p->n_units, sizeof *p->units, longest_first);
    return GGLD_OK;
}

/* All in order: from the first byte that anybody wants to the last one. */
static void plan_serial(ggld_hash_plan *p)
{
    bool all = asks(p, GGLD_SCOPE_FILE);
    p->serial = true;
    p->serial_begin =
        all || asks(p, GGLD_SCOPE_METADATA) ? 0 : p->metadata_bytes;
    p->serial_end = p->serial_begin;
    if (asks(p, GGLD_SCOPE_METADATA))
        p->serial_end = p->metadata_bytes;
    if (p->n_places != 0 &&
        (asks(p, GGLD_SCOPE_TENSOR) ||
         (asks(p, GGLD_SCOPE_TENSORS) && p->in_table_order)))
        p->serial_end = place_end(p, p->n_places - 1);
    if (all || asks(p, GGLD_SCOPE_CHUNKS))
        p->serial_end = p->file_bytes;
    p->total_bytes = p->serial_end - p->serial_begin;
}

static uint64_t places_bytes(const ggld_hash_plan *p)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < p->n_places; i++)
        total += p->places[i].size;
    return total;
}

ggld_status ggld_hash_plan_init(ggld_hash_plan *p, const ggld_file *file,
                                const ggld_hash_request *request,
                                ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_status status = check_request(request, err);
    if (status != GGLD_OK)
        return status;
    ggld_file_get_info(file, &info);
    memset(p, 0, sizeof *p);
    p->file = file;
    p->file_bytes = info.file_bytes;
    p->metadata_bytes = ggld_min_u64(info.metadata_bytes, info.file_bytes);
    fill_request(p, request);
    status = find_places(p, err);
    p->table_pass = asks(p, GGLD_SCOPE_TENSORS) && !p->in_table_order;
    if (status == GGLD_OK && (asks(p, GGLD_SCOPE_FILE) ||
                              (asks(p, GGLD_SCOPE_TENSORS) && !p->table_pass)))
        plan_serial(p);
    else if (status == GGLD_OK)
        status = cut(p, err);
    if (status != GGLD_OK) {
        ggld_hash_plan_free(p);
        return status;
    }
    if (p->table_pass)
        p->total_bytes += places_bytes(p);
    return GGLD_OK;
}

void ggld_hash_plan_free(ggld_hash_plan *p)
{
    free(p->places);
    free(p->units);
    memset(p, 0, sizeof *p);
}
