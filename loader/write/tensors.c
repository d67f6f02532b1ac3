/* SPDX-License-Identifier: MIT */
/* Declaring tensors: name, type and shape are judged here, so that the layout
 * only has sizes to deal with. */
#include <inttypes.h>
#include <string.h>

#include "../base/quote.h"
#include "../spec/limits.h"
#include "../spec/shape.h"
#include "../spec/types.h"
#include "writer.h"

/* Where the next tensor stands in the table. */
static ggld_place in_table(const ggld_writer *w)
{
    return ggld_place_of(GGLD_IN_TENSOR_INFO, w->tensor_names.n, 0);
}

ggld_status ggld_writer_add_tensor(ggld_writer *w,
                                   const ggld_out_tensor *tensor,
                                   ggld_error *err)
{
    ggld_string name = tensor->name;
    uint32_t other = ggld_name_list_find(&w->tensor_names, name);
    if (other != GGLD_INDEX_NONE)
        return ggld_fail(
            err, GGLD_E_DUPLICATE, in_table(w),
            "tensor %" PRIu32 " %s: tensor %" PRIu32 " has that name",
            w->tensor_names.n, ggld_quote(name.data, name.len).text, other);
    char *copy = NULL;
    if (!ggld_name_list_reserve(&w->tensor_names, &w->allocator,
                                sizeof *tensor) ||
        (copy = ggld_alloc_bytes(&w->allocator, name.len)) == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for more than %" PRIu32 " tensors",
                         w->tensor_names.n);
    memcpy(copy, name.data, (size_t)name.len);
    ggld_out_tensor mine = *tensor;
    mine.name.data = copy;
    ggld_name_list_add(&w->tensor_names, &mine);
    w->tensors = w->tensor_names.records;
    if (tensor->source != NULL)
        w->copy_bytes += tensor->size_bytes;
    return GGLD_OK;
}

static ggld_status check_name(const ggld_writer *w, ggld_string name,
                              ggld_error *err)
{
    uint32_t i = w->tensor_names.n;

    if (name.data == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "tensor %" PRIu32 ": the name is NULL", i);
    if (name.len == 0)
        return ggld_fail(err, GGLD_E_STRING, in_table(w),
                         "tensor %" PRIu32 ": the name is empty", i);
    ggld_quoted quoted = ggld_quote(name.data, name.len);
    if (name.len > GGLD_GGML_NAME_BYTES)
        return ggld_fail(err, GGLD_E_STRING, in_table(w),
                         "tensor %" PRIu32 " %s: the name has %" PRIu64
                         " bytes, more than %d",
                         i, quoted.text, name.len, GGLD_GGML_NAME_BYTES);
    uint64_t good = ggld_utf8_prefix(name.data, name.len);
    if (good != name.len)
        return ggld_fail(err, GGLD_E_STRING, in_table(w),
                         "tensor %" PRIu32 " %s: the name is not UTF-8 from "
                         "byte %" PRIu64 " on",
                         i, quoted.text, good);
    return GGLD_OK;
}

static ggld_status check_type(const ggld_writer *w, ggld_string name,
                              uint32_t type, ggld_error *err)
{
    if (ggld_type_traits_of(type) != NULL)
        return GGLD_OK;
    const char *removed = ggld_removed_type_name(type);
    return ggld_fail(err, GGLD_E_TENSOR_TYPE, in_table(w),
                     "tensor %" PRIu32 " %s: type %" PRIu32 " %s%s",
                     w->tensor_names.n, ggld_quote(name.data, name.len).text,
                     type, removed != NULL ? removed : "is unknown",
                     removed != NULL ? " was removed from the format" : "");
}

static ggld_status fail_shape(const ggld_writer *w, const ggld_out_tensor *t,
                              ggld_shape_verdict verdict, ggld_error *err)
{
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    ggld_quoted name = ggld_quote(t->name.data, t->name.len);
    uint32_t i = w->tensor_names.n;

    if (verdict == GGLD_SHAPE_ROW)
        return ggld_fail(err, GGLD_E_SHAPE, in_table(w),
                         "tensor %" PRIu32 " %s: rows of %" PRIu64
                         " elements are not a multiple of %s's block of "
                         "%" PRIu32,
                         i, name.text, t->n_dims == 0 ? 1 : t->dims[0],
                         traits->name, traits->block_elems);
    return ggld_fail(err, GGLD_E_OVERFLOW, in_table(w),
                     "tensor %" PRIu32 " %s: its dimensions make more than "
                     "%" PRId64 " %s",
                     i, name.text, INT64_MAX,
                     verdict == GGLD_SHAPE_BYTES_OVERFLOW ? "bytes"
                                                          : "elements");
}

static ggld_status set_shape(const ggld_writer *w, ggld_out_tensor *t,
                             const uint64_t *dims, uint32_t n_dims,
                             ggld_error *err)
{
    uint64_t n_elems;

    if (n_dims > GGLD_MAX_DIMS)
        return ggld_fail(
            err, GGLD_E_SHAPE, in_table(w),
            "tensor %" PRIu32 " %s: %" PRIu32 " dimensions are more than %d",
            w->tensor_names.n, ggld_quote(t->name.data, t->name.len).text,
            n_dims, GGLD_MAX_DIMS);
    if (n_dims != 0 && dims == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "tensor %" PRIu32 ": the dimensions are NULL",
                         w->tensor_names.n);
    t->n_dims = n_dims;
    for (uint32_t i = 0; i < n_dims; i++)
        t->dims[i] = dims[i];
    ggld_shape_verdict verdict = ggld_shape_elems(t->dims, n_dims, &n_elems);
    if (verdict == GGLD_SHAPE_OK)
        verdict = ggld_shape_bytes(ggld_type_traits_of(t->type), t->dims,
                                   n_dims, n_elems, &t->size_bytes);
    return verdict == GGLD_SHAPE_OK ? GGLD_OK : fail_shape(w, t, verdict, err);
}

ggld_status ggld_writer_declare_tensor(ggld_writer *w, const char *name,
                                       size_t name_len, uint32_t type,
                                       const uint64_t *dims, uint32_t n_dims,
                                       ggld_error *err)
{
    ggld_out_tensor t = { .name = { name, name_len }, .type = type };

    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_DECLARING, err);
    if (status == GGLD_OK)
        status = check_name(w, t.name, err);
    if (status == GGLD_OK)
        status = check_type(w, t.name, type, err);
    if (status == GGLD_OK)
        status = set_shape(w, &t, dims, n_dims, err);
    if (status == GGLD_OK)
        status = ggld_writer_add_tensor(w, &t, err);
    return status;
}
