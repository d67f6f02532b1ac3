/* SPDX-License-Identifier: MIT */
/* Tensor data on its way to the file, in table order. What the library itself
 * quantises goes from the caller's memory straight into the sink's buffer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ggld/codec.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "../spec/types.h"
#include "writer.h"

#define TYPE(id, NAME, name, elems, bytes, dequantizes, quantizes, ...) \
    _Static_assert(!(quantizes) || (elems) <= GGLD_MAX_PUT_BLOCK,       \
                   "pending values of " name);
#include "../spec/tensor_types.def"

ggld_status ggld_writer_advance(ggld_writer *w, ggld_error *err)
{
    for (; w->current < w->tensor_names.n; w->current++) {
        const ggld_out_tensor *t = &w->tensors[w->current];
        ggld_status status = GGLD_OK;

        if (w->current_bytes == 0) {
            uint64_t start = w->plan.data_offset + t->offset;
            status =
                ggld_sink_zeros(&w->sink, start - ggld_sink_pos(&w->sink), err);
            if (status == GGLD_OK && t->source != NULL)
                status = ggld_writer_copy_extent(w, err);
        }
        /* A copy may have taken tensors along. */
        t = &w->tensors[w->current];
        if (status != GGLD_OK || w->current_bytes < t->size_bytes)
            return status;
        w->current_bytes = 0;
    }
    return GGLD_OK;
}

static ggld_status fail_surplus(uint64_t n, const char *unit, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_INVALID,
                     ggld_place_of(GGLD_IN_TENSOR_DATA, GGLD_NO_INDEX, 0),
                     "%" PRIu64 " %s more than the declared tensors hold", n,
                     unit);
}

/* ---- bytes ---- */

static ggld_status fail_pending(const ggld_writer *w, ggld_error *err)
{
    const ggld_out_tensor *t = &w->tensors[w->current];
    return ggld_fail(
        err, GGLD_E_INVALID, ggld_in_tensor_data(w->current, w->current_bytes),
        "tensor %" PRIu32 " %s: bytes inside a block of which "
        "%" PRIu32 " values were put; put its others first",
        w->current, ggld_quote(t->name.data, t->name.len).text, w->n_pending);
}

/* data NULL: zeros. */
static ggld_status put_bytes(ggld_writer *w, const uint8_t *data, uint64_t size,
                             ggld_error *err)
{
    if (w->n_pending != 0)
        return fail_pending(w, err);
    while (size > 0) {
        if (w->current == w->tensor_names.n)
            return fail_surplus(size, "bytes", err);
        uint64_t left = w->tensors[w->current].size_bytes - w->current_bytes;
        uint64_t n = ggld_min_u64(size, left);
        ggld_status status = data != NULL
                                 ? ggld_sink_write(&w->sink, data, n, err)
                                 : ggld_sink_zeros(&w->sink, n, err);
        if (status != GGLD_OK)
            return status;
        w->current_bytes += n;
        size -= n;
        if (data != NULL)
            data += n;
        status = ggld_writer_advance(w, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

ggld_status ggld_writer_put_bytes(ggld_writer *w, const void *data, size_t size,
                                  ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_BEGUN, err);
    if (status == GGLD_OK && size != 0) {
        if (data == NULL)
            status = ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                               "the data of %zu bytes is NULL", size);
        else
            status = put_bytes(w, data, size, err);
    }
    if (status != GGLD_OK && w != NULL)
        ggld_writer_abandon(w, status);
    return status;
}

ggld_status ggld_writer_put_zeros(ggld_writer *w, uint64_t size_bytes,
                                  ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_BEGUN, err);
    if (status == GGLD_OK)
        status = put_bytes(w, NULL, size_bytes, err);
    if (status != GGLD_OK && w != NULL)
        ggld_writer_abandon(w, status);
    return status;
}

/* ---- values ---- */

static bool is_float(uint32_t type)
{
    return type == GGLD_TYPE_F32 || type == GGLD_TYPE_F16 ||
           type == GGLD_TYPE_BF16;
}

/* The quantiser's refusal in the terms of the file: element of the tensor. */
static ggld_status fail_value(const ggld_writer *w, float value, uint64_t elem,
                              ggld_error *err)
{
    const ggld_out_tensor *t = &w->tensors[w->current];
    const char *type = ggld_type_traits_of(t->type)->name;
    ggld_place place = ggld_in_tensor_data(w->current, elem);
    ggld_quoted name = ggld_quote(t->name.data, t->name.len);
    char what[32];

    if (isnan(value))
        snprintf(what, sizeof what, "NaN");
    else if (isinf(value))
        snprintf(what, sizeof what, "%sinfinity", value < 0 ? "-" : "");
    else
        snprintf(what, sizeof what, "%.9g", (double)value);
    if (is_float(t->type) && !isfinite(value))
        return ggld_fail(err, GGLD_E_VALUE, place,
                         "tensor %" PRIu32 " %s: element %" PRIu64
                         " is %s, which is no weight; put %s bytes to keep it",
                         w->current, name.text, elem, what, type);
    return ggld_fail(err, GGLD_E_VALUE, place,
                     "tensor %" PRIu32 " %s: element %" PRIu64
                     " is %s, which %s cannot hold",
                     w->current, name.text, elem, what, type);
}

/* n_elems values, whole blocks and no more than the sink has room for. */
static ggld_status quantize(ggld_writer *w, const float *src, uint64_t n_elems,
                            uint8_t *room, ggld_error *err)
{
    const ggld_out_tensor *t = &w->tensors[w->current];
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    uint64_t n_bytes = n_elems / traits->block_elems * traits->block_bytes;
    ggld_error why;

    ggld_status status =
        ggld_quantize_f32(t->type, src, n_elems, room, (size_t)n_bytes, &why);
    if (status == GGLD_E_VALUE) {
        uint64_t done =
            w->current_bytes / traits->block_bytes * traits->block_elems;
        return fail_value(w, src[why.offset], done + why.offset, err);
    }
    if (status != GGLD_OK) {
        if (err != NULL)
            *err = why;
        return status;
    }
    if (ggld_writer_big_endian(w))
        ggld_swap_blocks(ggld_type_row_of(t->type), room,
                         n_elems / traits->block_elems);
    ggld_sink_take(&w->sink, (size_t)n_bytes);
    w->current_bytes += n_bytes;
    return GGLD_OK;
}

/* Values of src for the block that is not whole; quantised when it is. */
static ggld_status put_pending(ggld_writer *w, const float *src,
                               uint64_t n_elems, uint64_t *used,
                               ggld_error *err)
{
    const ggld_type_traits *traits =
        ggld_type_traits_of(w->tensors[w->current].type);
    uint32_t missing = traits->block_elems - w->n_pending;
    uint32_t n = (uint32_t)ggld_min_u64(n_elems, missing);
    uint8_t *room;
    size_t room_bytes;

    memcpy(w->pending + w->n_pending, src, n * sizeof *src);
    w->n_pending += n;
    *used = n;
    if (n < missing)
        return GGLD_OK;
    w->n_pending = 0;
    ggld_status status =
        ggld_sink_room(&w->sink, traits->block_bytes, &room, &room_bytes, err);
    if (status != GGLD_OK)
        return status;
    return quantize(w, w->pending, traits->block_elems, room, err);
}

/* As many whole blocks of src as there is room for at once. */
static ggld_status put_blocks(ggld_writer *w, const float *src,
                              uint64_t n_elems, uint64_t *used, ggld_error *err)
{
    const ggld_type_traits *traits =
        ggld_type_traits_of(w->tensors[w->current].type);
    uint8_t *room;
    size_t room_bytes;

    ggld_status status =
        ggld_sink_room(&w->sink, traits->block_bytes, &room, &room_bytes, err);
    if (status != GGLD_OK)
        return status;
    uint64_t n_blocks = ggld_min_u64(n_elems / traits->block_elems,
                                     room_bytes / traits->block_bytes);
    *used = n_blocks * traits->block_elems;
    return quantize(w, src, *used, room, err);
}

/* Can these values be put now? */
static ggld_status check_values(const ggld_writer *w, uint64_t n_elems,
                                ggld_error *err)
{
    if (w->current == w->tensor_names.n)
        return fail_surplus(n_elems, "values", err);
    const ggld_out_tensor *t = &w->tensors[w->current];
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    ggld_place place = ggld_in_tensor_data(w->current, w->current_bytes);
    ggld_quoted name = ggld_quote(t->name.data, t->name.len);

    if (!traits->can_quantize)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, place,
                         "tensor %" PRIu32 " %s: no quantiser for %s; put "
                         "bytes",
                         w->current, name.text, traits->name);
    if (w->current_bytes % traits->block_bytes != 0)
        return ggld_fail(err, GGLD_E_INVALID, place,
                         "tensor %" PRIu32 " %s: values behind %" PRIu64
                         " bytes, which is inside a block of %" PRIu32,
                         w->current, name.text, w->current_bytes,
                         traits->block_bytes);
    uint64_t left = (t->size_bytes - w->current_bytes) / traits->block_bytes *
                        traits->block_elems -
                    w->n_pending;
    if (n_elems > left)
        return ggld_fail(err, GGLD_E_INVALID, place,
                         "tensor %" PRIu32 " %s: %" PRIu64
                         " values, but only %" PRIu64 " are left to put",
                         w->current, name.text, n_elems, left);
    return GGLD_OK;
}

static ggld_status put_values(ggld_writer *w, const float *src,
                              uint64_t n_elems, ggld_error *err)
{
    ggld_status status = check_values(w, n_elems, err);

    while (status == GGLD_OK && n_elems > 0) {
        uint32_t block_elems =
            ggld_type_traits_of(w->tensors[w->current].type)->block_elems;
        uint64_t used = 0;
        if (w->n_pending != 0 || n_elems < block_elems)
            status = put_pending(w, src, n_elems, &used, err);
        else
            status = put_blocks(w, src, n_elems, &used, err);
        src += used;
        n_elems -= used;
    }
    return status == GGLD_OK ? ggld_writer_advance(w, err) : status;
}

ggld_status ggld_writer_put_f32(ggld_writer *w, const float *src,
                                uint64_t n_elems, ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_BEGUN, err);
    if (status == GGLD_OK && n_elems != 0) {
        if (src == NULL)
            status =
                ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                          "the data of %" PRIu64 " values is NULL", n_elems);
        else
            status = put_values(w, src, n_elems, err);
    }
    if (status != GGLD_OK && w != NULL)
        ggld_writer_abandon(w, status);
    return status;
}
