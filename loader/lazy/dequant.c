/* SPDX-License-Identifier: MIT */
/* Whole blocks go from where they lie straight into the caller's buffer; the
 * two blocks that a range may touch in part go through a small one. Must not
 * write past the elements that were asked for. */
#include "dequant.h"

#include <inttypes.h>
#include <string.h>

#include "../base/checked.h"
#include "../read/file.h"
#include "../read/guard.h"
#include "refuse.h"

#define TYPE(id, NAME, name, elems, ...)            \
    _Static_assert((elems) <= GGLD_MAX_BLOCK_ELEMS, \
                   "a block of " name " fits the edge buffer");
#include "../spec/tensor_types.def"

static ggld_status refuse_type(const ggld_tensor *t, ggld_error *err)
{
    if (ggld_removed_type_name(t->type) != NULL)
        return ggld_refuse(t, GGLD_E_TENSOR_TYPE, ggld_type_place(t), err,
                           "type %" PRIu32 " was removed from the format; "
                           "quantise the model anew from its original",
                           t->type);
    return ggld_refuse(t, GGLD_E_TENSOR_TYPE, ggld_type_place(t), err,
                       "unknown to this version of ggld; only its stored "
                       "bytes can be read");
}

ggld_status ggld_dequant_init(ggld_dequant *d, const ggld_view *view,
                              bool stream, ggld_error *err)
{
    const ggld_tensor *t = view->tensor;
    const ggld_type_row *row = ggld_type_row_of(t->type);
    if (row == NULL)
        return refuse_type(t, err);
    if (!row->traits.can_dequantize)
        return ggld_refuse(t, GGLD_E_UNSUPPORTED, ggld_type_place(t), err,
                           "type %" PRIu32 " can't be dequantised; only its "
                           "stored bytes can be read",
                           t->type);

    d->set = ggld_kern_resolve(t->file->cpu_features);
    const ggld_kern_row *kern = &d->set->rows[t->type];
    d->kernel = stream ? kern->to_f32_stream : kern->to_f32;
    d->edge_kernel = kern->to_f32;
    d->block_elems = row->traits.block_elems;
    ggld_blocks_init(&d->blocks, view, row);
    return GGLD_OK;
}

ggld_status ggld_dequant_seek(ggld_dequant *d, uint64_t first_elem,
                              uint64_t n_elems, ggld_error *err)
{
    uint64_t first;
    uint64_t n_blocks =
        ggld_blocks_touched(d->block_elems, first_elem, n_elems, &first);

    d->skip = first_elem % d->block_elems;
    return ggld_blocks_seek(&d->blocks, first, n_blocks, err);
}

typedef struct kernel_call {
    ggld_to_f32 kernel;
    const uint8_t *blocks;
    float *dst;
    uint64_t n_blocks;
} kernel_call;

static void call_kernel(void *ctx)
{
    const kernel_call *c = ctx;
    c->kernel(c->blocks, c->dst, c->n_blocks);
}

/* The blocks may lie in a map whose file is not what it was. */
static ggld_status unpack(const ggld_dequant *d, kernel_call call,
                          ggld_error *err)
{
    const ggld_tensor *t = d->blocks.tensor;
    ggld_span bytes = { call.blocks,
                        call.n_blocks * d->blocks.row->traits.block_bytes };
    ggld_status status = ggld_guard_run(t->file, bytes, call_kernel, &call,
                                        ggld_data_place(t, t->offset), err);
    return status == GGLD_OK ? GGLD_OK : ggld_refuse_as(t, status, err);
}

/* What the range has of one block: from d->skip on, at most max elements. */
static ggld_status next_part(ggld_dequant *d, uint64_t max, float *dst,
                             uint64_t *made, ggld_error *err)
{
    float edge[GGLD_MAX_BLOCK_ELEMS];
    const uint8_t *block;
    uint64_t n;

    ggld_status status = ggld_blocks_next(&d->blocks, 1, &block, &n, err);
    if (status != GGLD_OK)
        return status;
    kernel_call call = { d->edge_kernel, block, edge, 1 };
    status = unpack(d, call, err);
    if (status != GGLD_OK)
        return status;
    *made = ggld_min_u64(max, d->block_elems - d->skip);
    memcpy(dst, edge + d->skip, (size_t)*made * sizeof *dst);
    d->skip = 0;
    return GGLD_OK;
}

static ggld_status next_whole(ggld_dequant *d, uint64_t max_blocks, float *dst,
                              uint64_t *made, ggld_error *err)
{
    const uint8_t *blocks;
    uint64_t n;

    ggld_status status =
        ggld_blocks_next(&d->blocks, max_blocks, &blocks, &n, err);
    if (status != GGLD_OK)
        return status;
    *made = n * d->block_elems;
    kernel_call call = { d->kernel, blocks, dst, n };
    return unpack(d, call, err);
}

ggld_status ggld_dequant_next(ggld_dequant *d, uint64_t n_elems, float *dst,
                              ggld_error *err)
{
    while (n_elems > 0) {
        uint64_t whole = d->skip == 0 ? n_elems / d->block_elems : 0;
        uint64_t made;
        ggld_status status = whole > 0 ? next_whole(d, whole, dst, &made, err)
                                       : next_part(d, n_elems, dst, &made, err);
        if (status != GGLD_OK)
            return status;
        dst += made;
        n_elems -= made;
    }
    return GGLD_OK;
}
