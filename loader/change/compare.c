/* SPDX-License-Identifier: MIT */
/* See compare.h. Data of any size goes through the caller's room. */
#include "compare.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "../spec/transcode.h"
#include "../spec/types.h"

static ggld_status fail_changed(ggld_string key, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED, ggld_nowhere(),
                     "key %s: its file has changed since it was opened",
                     ggld_quote(key.data, key.len).text);
}

/* The value of kv in version 3's form; *memory is to be freed. */
static ggld_status encode(const ggld_kv *kv, const ggld_allocator *a,
                          void **memory, uint64_t *size, ggld_error *err)
{
    ggld_raw_value raw = ggld_kv_raw(kv);
    uint32_t type = ggld_kv_type(kv);
    ggld_encoder e = ggld_encoder_counting();

    if (!ggld_transcode_raw(&raw, type, &e))
        return fail_changed(ggld_kv_key(kv), err);
    *size = e.pos;
    *memory = ggld_alloc_bytes(a, e.pos);
    if (*memory == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to compare a value");
    e = ggld_encoder_into(*memory, *size);
    if (!ggld_transcode_raw(&raw, type, &e) || e.pos != *size)
        return fail_changed(ggld_kv_key(kv), err);
    return GGLD_OK;
}

static bool is_plain(const ggld_raw_value *raw)
{
    return raw->version != 1 && !raw->big_endian;
}

ggld_status ggld_compare_kvs(const ggld_kv *a, const ggld_kv *b, bool *same,
                             ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);
    ggld_raw_value raw_a = ggld_kv_raw(a), raw_b = ggld_kv_raw(b);
    void *bytes_a = NULL, *bytes_b = NULL;
    uint64_t size_a = 0, size_b = 0;

    if (ggld_kv_type(a) != ggld_kv_type(b)) {
        *same = false;
        return GGLD_OK;
    }
    if (is_plain(&raw_a) && is_plain(&raw_b)) {
        *same = raw_a.bytes.len == raw_b.bytes.len &&
                memcmp(raw_a.bytes.data, raw_b.bytes.data,
                       (size_t)raw_a.bytes.len) == 0;
        return GGLD_OK;
    }
    ggld_status status = encode(a, &heap, &bytes_a, &size_a, err);
    if (status == GGLD_OK)
        status = encode(b, &heap, &bytes_b, &size_b, err);
    if (status == GGLD_OK)
        *same =
            size_a == size_b && memcmp(bytes_a, bytes_b, (size_t)size_a) == 0;
    ggld_free(&heap, bytes_a);
    ggld_free(&heap, bytes_b);
    return status;
}

bool ggld_same_shape(const ggld_tensor_info *a, const ggld_tensor_info *b)
{
    return a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

bool ggld_comparable(const ggld_tensor_info *a, const ggld_tensor_info *b)
{
    return a->type == b->type && ggld_same_shape(a, b) &&
           (a->supported || a->big_endian == b->big_endian);
}

/* n bytes from at on, little-endian where row is not NULL. */
static ggld_status read_side(const ggld_tensor *t, const ggld_type_row *row,
                             uint64_t at, uint8_t *dst, size_t n,
                             ggld_error *err)
{
    ggld_status status = ggld_tensor_read_bytes(t, at, dst, n, err);
    if (status == GGLD_OK && row != NULL)
        ggld_swap_blocks(row, dst, n / row->traits.block_bytes);
    return status;
}

static size_t first_unequal(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t i = 0;
    if (memcmp(a, b, n) == 0)
        return n;
    while (a[i] == b[i])
        i++;
    return i;
}

/* What a tensor has past size: zeros, as far as *first is concerned. */
static ggld_status compare_rest(const ggld_tensor *t, uint64_t size,
                                uint64_t end, ggld_compare_room *room,
                                uint64_t *first, ggld_error *err)
{
    memset(room->b, 0, sizeof room->b);
    for (uint64_t at = size; at < end && *first == UINT64_MAX;) {
        size_t n = (size_t)ggld_min_u64(end - at, sizeof room->a);
        ggld_status status = ggld_tensor_read_bytes(t, at, room->a, n, err);
        if (status != GGLD_OK)
            return status;
        size_t i = first_unequal(room->a, room->b, n);
        if (i < n)
            *first = at + i;
        at += n;
    }
    return GGLD_OK;
}

ggld_status ggld_compare_data(const ggld_tensor *a, const ggld_tensor *b,
                              ggld_compare_room *room, ggld_meter *meter,
                              uint64_t *first, ggld_error *err)
{
    ggld_tensor_info info_a = { .struct_size = sizeof info_a };
    ggld_tensor_info info_b = { .struct_size = sizeof info_b };
    ggld_status status = GGLD_OK;
    size_t step = GGLD_COMPARE_BYTES;

    ggld_tensor_get_info(a, &info_a);
    ggld_tensor_get_info(b, &info_b);
    const ggld_type_row *row = ggld_type_row_of(info_a.type);
    bool turn = row != NULL && info_a.big_endian != info_b.big_endian;
    if (turn)
        step -= step % row->traits.block_bytes;
    *first = UINT64_MAX;
    uint64_t size = ggld_min_u64(info_a.size_bytes, info_b.size_bytes);
    for (uint64_t at = 0; at < size; at += step) {
        size_t n = (size_t)ggld_min_u64(size - at, step);
        status = read_side(a, turn && info_a.big_endian ? row : NULL, at,
                           room->a, n, err);
        if (status == GGLD_OK)
            status = read_side(b, turn && info_b.big_endian ? row : NULL, at,
                               room->b, n, err);
        if (status != GGLD_OK)
            return status;
        size_t i = first_unequal(room->a, room->b, n);
        if (i < n) {
            *first = at + i;
            return ggld_meter_add(meter, info_a.size_bytes - at, err);
        }
        status = ggld_meter_add(meter, n, err);
        if (status != GGLD_OK)
            return status;
    }
    status = compare_rest(a, size, info_a.size_bytes, room, first, err);
    if (status == GGLD_OK)
        status = compare_rest(b, size, info_b.size_bytes, room, first, err);
    if (status == GGLD_OK && info_a.size_bytes > size)
        status = ggld_meter_add(meter, info_a.size_bytes - size, err);
    return status;
}
