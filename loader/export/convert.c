/* SPDX-License-Identifier: MIT */
/* See convert.h. Bytes that stay as they are pass unchanged, floats among them
 * looked at; all else goes by way of F32, as ggml's reference does. */
#include "convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ggld/codec.h>

#include "../base/bytes.h"
#include "../base/half.h"
#include "../base/quote.h"

#define NO_ELEM UINT64_MAX

/* ---- refusals ---- */

/* elem: of the chunk. What of the type: what is wrong with a finite value. */
static ggld_status fail_value(const ggld_planned_chunk *c, uint64_t elem,
                              double value, uint32_t type, ggld_error *err)
{
    const ggld_source_tensor *t = c->tensor;
    uint64_t at = c->first_elem + elem, i = c->planned->tensor;
    ggld_place place = ggld_place_of(GGLD_IN_TENSOR_DATA, i, at);
    ggld_quoted name = ggld_quote(t->name.data, t->name.len);
    char what[32];

    if (isnan(value))
        snprintf(what, sizeof what, "NaN");
    else if (isinf(value))
        snprintf(what, sizeof what, "%sinfinity", value < 0 ? "-" : "");
    else
        snprintf(what, sizeof what, "%.9g", value);
    if (ggld_is_float(type) && !isfinite(value))
        return ggld_fail(err, GGLD_E_VALUE, place,
                         "tensor %" PRIu64 " %s: element %" PRIu64
                         " is %s, and only finite values are let through",
                         i, name.text, at, what);
    return ggld_fail(err, GGLD_E_VALUE, place,
                     "tensor %" PRIu64 " %s: element %" PRIu64
                     " is %s, which %s cannot hold",
                     i, name.text, at, what, ggld_type_traits_of(type)->name);
}

/* ---- bytes that stay ---- */

/* Is the exponent of any of n numbers all ones? Plain loops, for the compiler
 * to make vectors of. */
static bool any_nonfinite_16(const uint8_t *p, size_t n, uint16_t exponent)
{
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (ggld_load_le16(p + 2 * i) & exponent) == exponent;
    return any != 0;
}

static bool any_nonfinite_32(const uint8_t *p, size_t n)
{
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (ggld_load_le32(p + 4 * i) & 0x7F800000) == 0x7F800000;
    return any != 0;
}

static double float_at(uint32_t type, const uint8_t *p, uint64_t i)
{
    switch (type) {
    case GGLD_TYPE_F16:
        return (double)ggld_half_to_float(ggld_load_le16(p + 2 * i));
    case GGLD_TYPE_BF16:
        return (double)ggld_bf16_to_float(ggld_load_le16(p + 2 * i));
    case GGLD_TYPE_F32:
        return (double)ggld_float_of_bits(ggld_load_le32(p + 4 * i));
    default:
        return ggld_double_of_bits(ggld_load_le64(p + 8 * i));
    }
}

static bool may_be_nonfinite(uint32_t type, const uint8_t *p, size_t n)
{
    switch (type) {
    case GGLD_TYPE_F16:
        return any_nonfinite_16(p, n, 0x7C00);
    case GGLD_TYPE_BF16:
        return any_nonfinite_16(p, n, 0x7F80);
    case GGLD_TYPE_F32:
        return any_nonfinite_32(p, n);
    default:
        return ggld_is_float(type);
    }
}

static ggld_status copy_chunk(const ggld_export_plan *p,
                              const ggld_planned_chunk *c,
                              ggld_convert_slot *slot, ggld_error *err)
{
    uint32_t type = c->planned->type;
    uint64_t first = ggld_bytes_of(type, c->first_elem);

    ggld_status status =
        p->source->format->read_bytes(p->source, c->planned->tensor, first,
                                      slot->bytes, slot->size_bytes, err);
    if (status != GGLD_OK ||
        (p->options.flags & GGLD_EXPORT_ALLOW_NONFINITE) != 0 ||
        !may_be_nonfinite(type, slot->bytes, (size_t)c->n_elems))
        return status;
    for (uint64_t i = 0; i < c->n_elems; i++) {
        double value = float_at(type, slot->bytes, i);
        if (!isfinite(value))
            return fail_value(c, i, value, type, err);
    }
    return GGLD_OK;
}

/* ---- values ---- */

/* A finite number that F32 has no room for is refused here: further on it would
 * be an infinity like any other. */
static ggld_status narrow(const ggld_planned_chunk *c, ggld_convert_slot *slot,
                          ggld_error *err)
{
    for (uint64_t i = 0; i < c->n_elems; i++) {
        double value = float_at(GGLD_TYPE_F64, slot->bytes, i);
        slot->values[i] = (float)value;
        if (isinf(slot->values[i]) && isfinite(value))
            return fail_value(c, i, value, GGLD_TYPE_F32, err);
    }
    return GGLD_OK;
}

static ggld_status read_values(const ggld_export_plan *p,
                               const ggld_planned_chunk *c,
                               ggld_convert_slot *slot, ggld_error *err)
{
    const ggld_source_format *format = p->source->format;
    uint64_t tensor = c->planned->tensor;

    if (c->tensor->type != GGLD_TYPE_F64)
        return format->read_f32(p->source, tensor, c->first_elem, slot->values,
                                c->n_elems, slot->bytes, err);
    ggld_status status = format->read_bytes(
        p->source, tensor, c->first_elem * sizeof(double), slot->bytes,
        (size_t)c->n_elems * sizeof(double), err);
    return status == GGLD_OK ? narrow(c, slot, err) : status;
}

/* One value; false where it is finite and becomes infinite. */
static bool store_float(uint32_t type, float value, uint8_t *bytes, uint64_t i)
{
    uint16_t half;

    switch (type) {
    case GGLD_TYPE_F16:
        half = ggld_float_to_half(value);
        ggld_store_le16(bytes + 2 * i, half);
        return !isfinite(value) || (half & 0x7C00) != 0x7C00;
    case GGLD_TYPE_BF16:
        half = ggld_float_to_bf16(value);
        ggld_store_le16(bytes + 2 * i, half);
        return !isfinite(value) || (half & 0x7F80) != 0x7F80;
    default:
        ggld_store_le32(bytes + 4 * i, ggld_bits_of_float(value));
        return true;
    }
}

/* Where the quantiser refuses what may pass. */
static uint64_t store_floats(const ggld_planned_chunk *c,
                             ggld_convert_slot *slot)
{
    for (uint64_t i = 0; i < c->n_elems; i++)
        if (!store_float(c->planned->type, slot->values[i], slot->bytes, i))
            return i;
    return NO_ELEM;
}

ggld_status ggld_convert_chunk(const ggld_export_plan *p,
                               const ggld_planned_chunk *c,
                               ggld_convert_slot *slot, ggld_error *err)
{
    uint32_t type = c->planned->type;
    ggld_error why;

    slot->size_bytes = (size_t)ggld_bytes_of(type, c->n_elems);
    ggld_source_read_ahead(p->source, c->planned->tensor,
                           ggld_stored_bytes(c->tensor, c->first_elem),
                           ggld_stored_bytes(c->tensor, c->n_elems));
    if (type == c->tensor->type)
        return copy_chunk(p, c, slot, err);
    ggld_status status = read_values(p, c, slot, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_quantize_f32(type, slot->values, c->n_elems, slot->bytes,
                               slot->size_bytes, &why);
    if (status == GGLD_OK)
        return GGLD_OK;
    uint64_t bad = why.offset;
    if (status == GGLD_E_VALUE && ggld_is_float(type) &&
        (p->options.flags & GGLD_EXPORT_ALLOW_NONFINITE) != 0)
        bad = store_floats(c, slot);
    if (bad == NO_ELEM)
        return GGLD_OK;
    if (status == GGLD_E_VALUE)
        return fail_value(c, bad, (double)slot->values[bad], type, err);
    *err = why;
    return status;
}
