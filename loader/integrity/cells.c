/* SPDX-License-Identifier: MIT */
/* Verifying pieces of a file at their first use. Bytes are digested as the
 * reader will find them: of a file with a descriptor by pread, mapped or not,
 * so that one that has been cut is an error and no signal; else in the private
 * copy or the app's memory, or as its source reads them. */
#include "cells.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/tensor.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/plural.h"
#include "../base/quote.h"
#include "digest.h"
#include "reader.h"

/* Bounds the memory that a check takes. */
#define BUFFER_BYTES (256u << 10)

typedef struct cell {
    uint64_t offset;
    uint64_t size;
    ggld_digest digest;
} cell;

struct ggld_cells {
    const ggld_tree *tree; /* NULL: tensors, sorted by offset */
    cell *tensors;
    uint64_t n;
    uint64_t data_offset;
    ggld_reader reader;
    _Atomic uint8_t good[];
};

static cell cell_at(const ggld_cells *cells, uint64_t i)
{
    cell c = { 0 };
    if (cells->tree == NULL)
        return cells->tensors[i];
    c.offset = cells->data_offset + i * cells->tree->chunk_bytes;
    c.size = ggld_tree_chunk_size(cells->tree, i);
    ggld_tree_leaf(cells->tree, i, &c.digest);
    return c;
}

/* ---- making ---- */

static int by_offset(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Of each tensor the best digest that there is; one without is in no cell, and
 * reading it will say so. */
static ggld_status make_tensors(ggld_cells *cells, const ggld_manifest *m,
                                const ggld_file *file, ggld_error *err)
{
    uint64_t n = ggld_tensor_count(file);
    cells->tensors = calloc((size_t)n + 1, sizeof *cells->tensors);
    if (cells->tensors == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verifier: no memory for %" PRIu64 " tensor%s", n,
                         ggld_plural(n));
    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        uint32_t algos = 0;
        ggld_tensor_get_info(ggld_tensor_at(file, i), &info);
        for (uint32_t algo = 1; algo < GGLD_ALGO_LIMIT; algo++)
            if (ggld_manifest_find(m, 0, GGLD_SCOPE_TENSOR, algo, info.name) !=
                NULL)
                algos |= GGLD_ALGO_BIT(algo);
        if (algos == 0 || info.size_bytes == 0)
            continue;
        cell *c = &cells->tensors[cells->n++];
        c->offset = info.file_offset_bytes;
        c->size = info.size_bytes;
        c->digest = ggld_manifest_find(m, 0, GGLD_SCOPE_TENSOR,
                                       ggld_algo_best(algos), info.name)
                        ->digest;
    }
    qsort(cells->tensors, (size_t)cells->n, sizeof *cells->tensors, by_offset);
    return GGLD_OK;
}

static ggld_status check_size(const ggld_tree *tree, uint64_t data_bytes,
                              ggld_error *err)
{
    if (tree->data_bytes == data_bytes)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CHECKSUM,
                     ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                     "file: the manifest has %" PRIu64
                     " bytes behind the metadata, the file %" PRIu64,
                     tree->data_bytes, data_bytes);
}

ggld_status ggld_cells_new(ggld_cells **out, const ggld_manifest *m,
                           const ggld_file *file, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    const ggld_tree *chunks = ggld_manifest_tree(m);
    const ggld_tree *tree = chunks->algo != 0 ? chunks : NULL;
    ggld_status status = GGLD_OK;
    ggld_file_get_info(file, &info);
    uint64_t data_offset = ggld_min_u64(info.metadata_bytes, info.file_bytes);
    if (tree != NULL)
        status = check_size(tree, info.file_bytes - data_offset, err);
    if (status != GGLD_OK)
        return status;
    uint64_t most = tree != NULL ? tree->n_chunks : ggld_tensor_count(file);
    ggld_cells *cells = calloc(1, sizeof *cells + (size_t)most);
    if (cells == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verifier: no memory for %" PRIu64 " mark%s", most,
                         ggld_plural(most));
    cells->tree = tree;
    cells->data_offset = data_offset;
    status = ggld_reader_init(&cells->reader, file, false, err);
    if (tree != NULL)
        cells->n = tree->n_chunks;
    else if (status == GGLD_OK)
        status = make_tensors(cells, m, file, err);
    if (status != GGLD_OK) {
        ggld_cells_free(cells);
        return status;
    }
    *out = cells;
    return GGLD_OK;
}

void ggld_cells_free(ggld_cells *cells)
{
    if (cells == NULL)
        return;
    ggld_reader_free(&cells->reader);
    free(cells->tensors);
    free(cells);
}

/* ---- checking ---- */

static ggld_status hash_pieces(const ggld_reader *reader, const cell *c,
                               uint8_t *buffer, ggld_hasher *hasher,
                               ggld_error *err)
{
    for (uint64_t done = 0; done < c->size;) {
        uint64_t n = ggld_min_u64(BUFFER_BYTES, c->size - done);
        ggld_status status =
            ggld_reader_read(reader, c->offset + done, buffer, (size_t)n, err);
        if (status != GGLD_OK)
            return status;
        ggld_hasher_update(hasher, buffer, (size_t)n);
        done += n;
    }
    return GGLD_OK;
}

static ggld_status hash_large(const ggld_reader *reader, const cell *c,
                              uint8_t *buffer, ggld_digest *out,
                              ggld_error *err)
{
    ggld_hasher hasher;
    ggld_status status =
        ggld_hasher_init(&hasher, GGLD_ALGO_BIT(c->digest.algo), err);
    if (status != GGLD_OK)
        return status;
    status = hash_pieces(reader, c, buffer, &hasher, err);
    if (status == GGLD_OK)
        status = ggld_hasher_finish(&hasher, c->digest.algo, out, err);
    ggld_hasher_free(&hasher);
    return status;
}

/* Most chunks are small, and then need no states but sha's. */
static ggld_status hash_cell(const ggld_reader *reader, const cell *c,
                             ggld_digest *out, ggld_error *err)
{
    uint8_t *buffer = malloc((size_t)ggld_min_u64(BUFFER_BYTES, c->size));
    if (buffer == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verifier: no memory for a buffer");
    ggld_status status = GGLD_OK;
    if (c->size > BUFFER_BYTES) {
        status = hash_large(reader, c, buffer, out, err);
    } else {
        status =
            ggld_reader_read(reader, c->offset, buffer, (size_t)c->size, err);
        if (status == GGLD_OK)
            status = ggld_digest_of(out, c->digest.algo, buffer,
                                    (size_t)c->size, err);
    }
    free(buffer);
    return status;
}

/* The tensor that somebody wanted to read there. */
static const ggld_tensor *tensor_at(const ggld_file *file, uint64_t offset,
                                    ggld_tensor_info *info)
{
    const ggld_tensor *tensor;
    for (uint64_t i = 0; (tensor = ggld_tensor_at(file, i)) != NULL; i++) {
        ggld_tensor_get_info(tensor, info);
        if (offset >= info->file_offset_bytes &&
            offset - info->file_offset_bytes < info->size_bytes)
            return tensor;
    }
    return NULL;
}

static ggld_place place_of(const ggld_file *file, uint64_t wanted,
                           uint64_t offset, ggld_quoted *name)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    if (tensor_at(file, wanted, &info) == NULL) {
        *name = ggld_quote("?", 1);
        return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset);
    }
    *name = ggld_quote(info.name.data, info.name.len);
    return ggld_place_of(GGLD_IN_TENSOR_DATA, info.index, offset);
}

/* ", which hold 'a' to 'c' (3 tensors),", in the order of their bytes; "" where
 * there are not several, one of which may be as it should be. */
static void name_held(const ggld_file *file, const cell *c, char *dst,
                      size_t size)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_info first = { 0 }, last = { 0 };
    const ggld_tensor *tensor;
    uint64_t n = 0;
    for (uint64_t i = 0; (tensor = ggld_tensor_at(file, i)) != NULL; i++) {
        ggld_tensor_get_info(tensor, &info);
        uint64_t at = info.file_offset_bytes;
        if (info.size_bytes == 0 || at >= c->offset + c->size ||
            at + info.size_bytes <= c->offset)
            continue;
        if (n == 0 || at < first.file_offset_bytes)
            first = info;
        if (n == 0 || at > last.file_offset_bytes)
            last = info;
        n++;
    }
    *dst = '\0';
    if (n > 1)
        snprintf(dst, size, ", which hold %s %s %s (%" PRIu64 " tensors),",
                 ggld_quote(first.name.data, first.name.len).text,
                 n == 2 ? "and" : "to",
                 ggld_quote(last.name.data, last.name.len).text, n);
}

static ggld_status bad_cell(const ggld_file *file, const cell *c,
                            const ggld_digest *is, uint64_t wanted,
                            ggld_error *err)
{
    char held[GGLD_MESSAGE_MAX];
    char expected[GGLD_DIGEST_TEXT_MAX] = "";
    char actual[GGLD_DIGEST_TEXT_MAX] = "";
    ggld_quoted name = { "" };
    ggld_place place = place_of(file, wanted, c->offset, &name);
    name_held(file, c, held, sizeof held);
    ggld_digest_text(&c->digest, expected);
    ggld_digest_text(is, actual);
    return ggld_fail(err, GGLD_E_CHECKSUM, place,
                     "tensor %s: bytes %" PRIu64 " + %" PRIu64
                     "%s differ: expected %s %s, it is %s",
                     name.text, c->offset, c->size, held,
                     ggld_algo_name(is->algo), expected, actual);
}

static ggld_status check_cell(ggld_cells *cells, const ggld_file *file,
                              uint64_t i, uint64_t wanted, ggld_error *err)
{
    ggld_digest is = { 0 };
    if (atomic_load_explicit(&cells->good[i], memory_order_acquire) != 0)
        return GGLD_OK;
    cell c = cell_at(cells, i);
    ggld_status status = hash_cell(&cells->reader, &c, &is, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_digest_equal(&is, &c.digest))
        return bad_cell(file, &c, &is, wanted, err);
    atomic_store_explicit(&cells->good[i], 1, memory_order_release);
    return GGLD_OK;
}

/* The first tensor's cell that ends behind offset. */
static uint64_t first_behind(const ggld_cells *cells, uint64_t offset)
{
    uint64_t low = 0, high = cells->n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const cell *c = &cells->tensors[middle];
        if (c->offset + c->size <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Nothing of the range may lie outside of cells. */
static ggld_status check_tensors(ggld_cells *cells, const ggld_file *file,
                                 uint64_t offset, uint64_t size,
                                 ggld_error *err)
{
    uint64_t at = offset;
    for (uint64_t i = first_behind(cells, offset); at < offset + size; i++) {
        ggld_quoted name;
        if (i == cells->n || cells->tensors[i].offset > at) {
            ggld_place place = place_of(file, at, at, &name);
            return ggld_fail(err, GGLD_E_CHECKSUM, place,
                             "tensor %s: the manifest has no digest of it",
                             name.text);
        }
        ggld_status status = check_cell(cells, file, i, offset, err);
        if (status != GGLD_OK)
            return status;
        at = cells->tensors[i].offset + cells->tensors[i].size;
    }
    return GGLD_OK;
}

ggld_status ggld_cells_check(ggld_cells *cells, const ggld_file *file,
                             uint64_t offset, uint64_t size, ggld_error *err)
{
    if (cells->tree == NULL)
        return check_tensors(cells, file, offset, size, err);
    ggld_status status = GGLD_OK;
    uint64_t chunk = cells->tree->chunk_bytes;
    if (offset < cells->data_offset ||
        !ggld_fits(offset - cells->data_offset, size, cells->tree->data_bytes))
        return ggld_fail(err, GGLD_E_CHECKSUM,
                         ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset),
                         "file: bytes %" PRIu64 " + %" PRIu64
                         " are not in the manifest's chunks",
                         offset, size);
    uint64_t last = (offset - cells->data_offset + size - 1) / chunk;
    for (uint64_t i = (offset - cells->data_offset) / chunk;
         i <= last && status == GGLD_OK; i++)
        status = check_cell(cells, file, i, offset, err);
    return status;
}
