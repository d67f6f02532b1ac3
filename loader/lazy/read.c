/* SPDX-License-Identifier: MIT */
/* The values of a view, into the caller's buffer. Allocates nothing, keeps
 * nothing, and so needs no lock. */
#include <inttypes.h>

#include <ggld/tensor.h>

#include "../base/checked.h"
#include "dequant.h"
#include "refuse.h"
#include "view.h"

/* Halves are made from floats that are still in the first cache. */
#define CHUNK_ELEMS 2048
_Static_assert(CHUNK_ELEMS % GGLD_MAX_BLOCK_ELEMS == 0,
               "chunks of any block size end with a block");

/* What both readers begin with: d is ready to give the view's elements. */
static ggld_status begin(ggld_dequant *d, const ggld_view *view,
                         const void *dst, uint64_t dst_elems, bool stream,
                         ggld_error *err)
{
    ggld_status status = ggld_view_check(view, err);
    if (status != GGLD_OK)
        return status;
    uint64_t room = dst != NULL ? dst_elems : 0;
    if (view->n_elems > room)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "the buffer%s has room for %" PRIu64
                                " elements, the view has %" PRIu64,
                                dst != NULL ? "" : " (NULL)", room,
                                view->n_elems);
    status = ggld_dequant_init(d, view, stream, err);
    if (status != GGLD_OK)
        return status;
    return ggld_dequant_seek(d, view->first_elem, view->n_elems, err);
}

ggld_status ggld_view_read_f32(const ggld_view *view, float *dst,
                               uint64_t dst_elems, ggld_error *err)
{
    bool stream = ggld_kern_streams(view->n_elems);
    ggld_dequant d;

    ggld_status status = begin(&d, view, dst, dst_elems, stream, err);
    if (status != GGLD_OK)
        return status;
    return ggld_dequant_next(&d, view->n_elems, dst, err);
}

ggld_status ggld_view_read_f16(const ggld_view *view, uint16_t *dst,
                               uint64_t dst_elems, ggld_error *err)
{
    float chunk[CHUNK_ELEMS];
    ggld_dequant d;

    ggld_status status = begin(&d, view, dst, dst_elems, false, err);
    uint64_t left = view->n_elems;
    while (status == GGLD_OK && left > 0) {
        /* NOLINTNEXTLINE(clang-analyzer-core.*): begin has set it. */
        uint64_t n = ggld_min_u64(left, CHUNK_ELEMS - d.skip);
        status = ggld_dequant_next(&d, n, chunk, err);
        if (status == GGLD_OK)
            d.set->f32_to_f16(chunk, dst, n);
        dst += n;
        left -= n;
    }
    return status;
}
