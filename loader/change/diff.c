/* SPDX-License-Identifier: MIT */
/* ggld_diff: records found by name in the other file, and compared. */
#include <ggld/diff.h>

#include <stddef.h>

#include "../base/alloc.h"
#include "../base/error.h"
#include "../base/structs.h"
#include "../spec/limits.h"
#include "measure.h"
#include "take.h"

#define KNOWN_FLAGS (GGLD_DIFF_VALUES | GGLD_DIFF_METADATA)

typedef struct diff {
    const ggld_file *a;
    const ggld_file *b;
    uint32_t flags;
    ggld_difference_call call;
    void *user;
    ggld_meter meter;
    union {
        ggld_compare_room bytes;
        ggld_measure_room values;
    } * room;
} diff;

static ggld_status take_options(const ggld_diff_options *options,
                                ggld_diff_options *o, ggld_error *err)
{
    *o = ggld_diff_options_init();
    if (options == NULL)
        return GGLD_OK;
    ggld_status status = ggld_struct_take("ggld_diff_options", options,
                                          offsetof(ggld_diff_options, reserved),
                                          o, sizeof *o, err);
    if (status == GGLD_OK)
        status = ggld_struct_check(
            "ggld_diff_options", o->flags & ~KNOWN_FLAGS,
            o->reserved32 == 0 &&
                ggld_all_zero(o->reserved, sizeof o->reserved),
            err);
    return status;
}

static ggld_status tell(const diff *d, ggld_difference *found, ggld_error *err)
{
    found->struct_size = sizeof *found;
    if (d->call(found, d->user) == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "cancelled at a difference");
}

/* ---- key-values ---- */

static bool is_compared(const ggld_file *file, const ggld_kv *kv)
{
    return ggld_take_keeps(file, kv, true) &&
           !ggld_key_is(ggld_kv_key(kv), GGLD_KEY_PADDING);
}

static const ggld_kv *find_kv(const ggld_file *file, const ggld_kv *kv)
{
    ggld_string key = ggld_kv_key(kv);
    return ggld_kv_find_n(file, key.data, (size_t)key.len);
}

static ggld_status look_at_kv(const diff *d, const ggld_kv *kv, ggld_error *err)
{
    ggld_difference found = { .kind = GGLD_KV_REMOVED, .a_kv = kv };
    bool same = false;

    found.b_kv = find_kv(d->b, kv);
    if (found.b_kv != NULL) {
        found.kind = GGLD_KV_CHANGED;
        ggld_status status = ggld_compare_kvs(kv, found.b_kv, &same, err);
        if (status != GGLD_OK)
            return status;
    }
    return same ? GGLD_OK : tell(d, &found, err);
}

static ggld_status look_at_kvs(const diff *d, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_kv_count(d->a) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(d->a, i);
        if (is_compared(d->a, kv))
            status = look_at_kv(d, kv, err);
    }
    for (uint64_t i = 0; i < ggld_kv_count(d->b) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(d->b, i);
        ggld_difference found = { .kind = GGLD_KV_ADDED, .b_kv = kv };
        if (is_compared(d->b, kv) && find_kv(d->a, kv) == NULL)
            status = tell(d, &found, err);
    }
    return status;
}

/* ---- tensors ---- */

static ggld_tensor_info info_of(const ggld_tensor *tensor)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(tensor, &info);
    return info;
}

static const ggld_tensor *find_tensor(const ggld_file *file,
                                      const ggld_tensor_info *info)
{
    return ggld_tensor_find_n(file, info->name.data, (size_t)info->name.len);
}

static bool has_values(uint32_t type)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    return traits != NULL && traits->can_dequantize;
}

static bool is_measured(const diff *d, const ggld_tensor_info *a,
                        const ggld_tensor_info *b)
{
    return (d->flags & GGLD_DIFF_VALUES) != 0 &&
           (d->flags & GGLD_DIFF_METADATA) == 0 && ggld_same_shape(a, b) &&
           has_values(a->type) && has_values(b->type);
}

/* What looking at the data of both moves the meter by, at most. */
static uint64_t work_of(const diff *d, const ggld_tensor_info *a,
                        const ggld_tensor_info *b)
{
    uint64_t bytes = is_measured(d, a, b) ? a->n_elems * sizeof(float) : 0;
    if ((d->flags & GGLD_DIFF_METADATA) == 0 && ggld_comparable(a, b))
        bytes += a->size_bytes;
    return bytes;
}

static ggld_status measure(diff *d, ggld_difference *found, ggld_error *err)
{
    return ggld_measure(found->a_tensor, found->b_tensor, &d->room->values,
                        &d->meter, found, err);
}

static ggld_status look_at_data(diff *d, ggld_difference *found,
                                const ggld_tensor_info *a,
                                const ggld_tensor_info *b, ggld_error *err)
{
    uint64_t measured = is_measured(d, a, b) ? a->n_elems * sizeof(float) : 0;
    uint64_t first;

    if ((d->flags & GGLD_DIFF_METADATA) != 0)
        return GGLD_OK;
    if (!ggld_comparable(a, b)) {
        found->kind = GGLD_TENSOR_OPAQUE;
        return tell(d, found, err);
    }
    ggld_status status =
        ggld_compare_data(found->a_tensor, found->b_tensor, &d->room->bytes,
                          &d->meter, &first, err);
    if (status == GGLD_OK && first == UINT64_MAX)
        return measured != 0 ? ggld_meter_add(&d->meter, measured, err)
                             : GGLD_OK;
    found->kind = GGLD_TENSOR_DATA;
    found->first_byte = first;
    if (status == GGLD_OK && measured != 0)
        status = measure(d, found, err);
    return status == GGLD_OK ? tell(d, found, err) : status;
}

static ggld_status look_at_both(diff *d, ggld_difference *found,
                                ggld_error *err)
{
    ggld_tensor_info a = info_of(found->a_tensor);
    ggld_tensor_info b = info_of(found->b_tensor);
    ggld_difference reshaped = *found, retyped = *found;
    ggld_status status = GGLD_OK;

    reshaped.kind = GGLD_TENSOR_RESHAPED;
    retyped.kind = GGLD_TENSOR_RETYPED;
    if (!ggld_same_shape(&a, &b))
        status = tell(d, &reshaped, err);
    if (status == GGLD_OK && a.type != b.type) {
        if (is_measured(d, &a, &b))
            status = measure(d, &retyped, err);
        if (status == GGLD_OK)
            status = tell(d, &retyped, err);
    }
    if (status != GGLD_OK || !ggld_same_shape(&a, &b) || a.type != b.type)
        return status;
    return look_at_data(d, found, &a, &b, err);
}

static ggld_status look_at_tensors(diff *d, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_tensor_count(d->a) && status == GGLD_OK;
         i++) {
        ggld_difference found = { .a_tensor = ggld_tensor_at(d->a, i) };
        ggld_tensor_info info = info_of(found.a_tensor);
        found.b_tensor = find_tensor(d->b, &info);
        found.kind = GGLD_TENSOR_REMOVED;
        status = found.b_tensor != NULL ? look_at_both(d, &found, err)
                                        : tell(d, &found, err);
    }
    for (uint64_t i = 0; i < ggld_tensor_count(d->b) && status == GGLD_OK;
         i++) {
        ggld_difference found = { .kind = GGLD_TENSOR_ADDED,
                                  .b_tensor = ggld_tensor_at(d->b, i) };
        ggld_tensor_info info = info_of(found.b_tensor);
        if (find_tensor(d->a, &info) == NULL)
            status = tell(d, &found, err);
    }
    return status;
}

static uint64_t work_of_all(const diff *d)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < ggld_tensor_count(d->a); i++) {
        ggld_tensor_info a = info_of(ggld_tensor_at(d->a, i));
        const ggld_tensor *other = find_tensor(d->b, &a);
        if (other == NULL)
            continue;
        ggld_tensor_info b = info_of(other);
        bytes += work_of(d, &a, &b);
    }
    return bytes;
}

static ggld_status run(diff *d, ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);

    d->room = ggld_alloc_bytes(&heap, sizeof *d->room);
    if (d->room == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to compare data");
    ggld_status status = look_at_kvs(d, err);
    if (status == GGLD_OK)
        status = look_at_tensors(d, err);
    ggld_free(&heap, d->room);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(d->a, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(d->b, err);
    return status;
}

ggld_status ggld_diff(const ggld_file *a, const ggld_file *b,
                      const ggld_diff_options *options,
                      ggld_difference_call difference, void *user,
                      ggld_error *err)
{
    ggld_diff_options o;

    ggld_status status = take_options(options, &o, err);
    if (status != GGLD_OK)
        return status;
    if (a == NULL || b == NULL || difference == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "a file or the call is NULL");
    diff d = { .a = a,
               .b = b,
               .flags = o.flags,
               .call = difference,
               .user = user,
               .meter = { .call = o.progress, .user = o.progress_user } };
    d.meter.total_bytes = work_of_all(&d);
    return run(&d, err);
}
