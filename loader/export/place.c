/* SPDX-License-Identifier: MIT */
/* See place.h. The order in the header is anybody's: older writers sort by
 * name, and JSON has none. */
#include "place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/quote.h"

static int by_place(const void *a, const void *b)
{
    const ggld_source_tensor *x = a, *y = b;

    if (x->file_offset_bytes != y->file_offset_bytes)
        return x->file_offset_bytes < y->file_offset_bytes ? -1 : 1;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes < y->size_bytes ? -1 : 1;
    /* Of no bytes, both: by name, so that the order is always the same. */
    size_t n = (size_t)(x->name.len < y->name.len ? x->name.len : y->name.len);
    int order = memcmp(x->name.data, y->name.data, n);
    return order != 0 ? order : x->name.len < y->name.len ? -1 : 1;
}

static ggld_status fail_hole(uint64_t index, uint64_t begin, uint64_t end,
                             const char *label, ggld_error *err)
{
    return ggld_fail(
        err, GGLD_E_SHAPE, ggld_place_of(GGLD_IN_TENSOR_INFO, index, 0),
        "%sthe data's bytes %" PRIu64 " to %" PRIu64 " belong to no tensor",
        label, begin, end);
}

ggld_status ggld_st_place(ggld_st_header *h, uint64_t data_offset,
                          uint64_t data_bytes, const char *label,
                          ggld_error *err)
{
    uint64_t at = 0;

    if (h->n_tensors != 0)
        qsort(h->tensors, (size_t)h->n_tensors, sizeof *h->tensors, by_place);
    for (uint64_t i = 0; i < h->n_tensors; i++) {
        const ggld_source_tensor *t = &h->tensors[i];
        const uint64_t begin = t->file_offset_bytes - data_offset;
        if (begin > at)
            return fail_hole(i, at, begin, label, err);
        if (begin < at) {
            const ggld_source_tensor *before = &h->tensors[i - 1];
            return ggld_fail(
                err, GGLD_E_OVERLAP, ggld_place_of(GGLD_IN_TENSOR_INFO, i, 0),
                "%stensor %s: its data begins at %" PRIu64
                ", but that of %s ends at %" PRIu64,
                label, ggld_quote(t->name.data, t->name.len).text, begin,
                ggld_quote(before->name.data, before->name.len).text, at);
        }
        at = begin + t->size_bytes;
    }
    return at == data_bytes
               ? GGLD_OK
               : fail_hole(h->n_tensors, at, data_bytes, label, err);
}
