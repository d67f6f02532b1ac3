/* SPDX-License-Identifier: MIT */
/* The record codec's writing half. May be given any sizes: what does not fit
 * is not written, and the encoder says so. Judges nothing else. */
#include "encode.h"

#include <string.h>

#include "../base/bytes.h"
#include "../base/checked.h"
#include "limits.h"
#include "types.h"

/* The place for the next size bytes; NULL where they are only counted, or
 * don't fit. */
static uint8_t *encode_room(ggld_encoder *e, uint64_t size)
{
    if (e->full || !ggld_fits(e->pos, size, e->cap)) {
        e->full = true;
        return NULL;
    }
    uint8_t *room = e->data != NULL ? e->data + e->pos : NULL;
    e->pos += size;
    return room;
}

void ggld_encode_u32(ggld_encoder *e, uint32_t value)
{
    uint8_t *room = encode_room(e, 4);
    if (room != NULL)
        ggld_store_u32(room, value, e->big_endian);
}

void ggld_encode_u64(ggld_encoder *e, uint64_t value)
{
    uint8_t *room = encode_room(e, 8);
    if (room != NULL)
        ggld_store_u64(room, value, e->big_endian);
}

void ggld_encode_len(ggld_encoder *e, uint64_t value)
{
    if (e->version != 1)
        ggld_encode_u64(e, value);
    else if (value <= UINT32_MAX)
        ggld_encode_u32(e, (uint32_t)value);
    else
        e->full = true;
}

void ggld_encode_bytes(ggld_encoder *e, const void *data, uint64_t size)
{
    uint8_t *room = encode_room(e, size);
    if (room != NULL && size != 0)
        memcpy(room, data, (size_t)size);
}

void ggld_encode_fill(ggld_encoder *e, uint8_t byte, uint64_t size)
{
    uint8_t *room = encode_room(e, size);
    if (room != NULL && size != 0)
        memset(room, byte, (size_t)size);
}

void ggld_encode_string(ggld_encoder *e, ggld_string string)
{
    ggld_encode_len(e, string.len);
    ggld_encode_bytes(e, string.data, string.len);
}

void ggld_encode_numbers(ggld_encoder *e, const void *numbers, uint32_t width,
                         uint64_t count, bool big_endian)
{
    uint64_t size;
    if (!ggld_mul_u64(width, count, &size))
        size = UINT64_MAX;
    uint8_t *room = encode_room(e, size);
    if (room == NULL || size == 0)
        return;
    memcpy(room, numbers, (size_t)size);
    if (big_endian != e->big_endian)
        ggld_swap_numbers(room, width, count);
}

void ggld_encode_header(ggld_encoder *e, uint64_t n_tensors, uint64_t n_kvs)
{
    ggld_encode_bytes(e, GGLD_MAGIC, GGLD_MAGIC_BYTES);
    ggld_encode_u32(e, e->version != 0 ? e->version : GGLD_WRITTEN_VERSION);
    ggld_encode_len(e, n_tensors);
    ggld_encode_len(e, n_kvs);
}

void ggld_encode_kv(ggld_encoder *e, ggld_string key, uint32_t value_type,
                    const void *value, uint64_t value_bytes)
{
    ggld_encode_string(e, key);
    ggld_encode_u32(e, value_type);
    ggld_encode_bytes(e, value, value_bytes);
}

void ggld_encode_tensor_info(ggld_encoder *e, ggld_string name,
                             const uint64_t *dims, uint32_t n_dims,
                             uint32_t tensor_type, uint64_t offset)
{
    ggld_encode_string(e, name);
    ggld_encode_u32(e, n_dims);
    for (uint32_t i = 0; i < n_dims; i++)
        ggld_encode_len(e, dims[i]);
    ggld_encode_u32(e, tensor_type);
    ggld_encode_u64(e, offset);
}
