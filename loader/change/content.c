/* SPDX-License-Identifier: MIT */
/* See content.h. Each word of data counts by itself and by its place, so that
 * the sum is as fast as memory. */
#include "content.h"

#include <string.h>

#include "../base/bytes.h"
#include "../base/checked.h"
#include "../spec/types.h"

#define FNV_START UINT64_C(0xCBF29CE484222325)
#define FNV_PRIME UINT64_C(0x100000001B3)

static uint64_t go_on(uint64_t digest, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * FNV_PRIME;
    return digest;
}

static uint64_t go_on_u64(uint64_t digest, uint64_t number)
{
    uint8_t bytes[8];

    ggld_store_le64(bytes, number);
    return go_on(digest, bytes, sizeof bytes);
}

uint64_t ggld_content_number(const void *data, size_t size)
{
    return go_on(FNV_START, data, size);
}

/* Of no two words the same, in one place. */
static uint64_t mix(uint64_t word, uint64_t place)
{
    uint64_t x = word + place * UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* bytes has room for a whole word at its end. */
static uint64_t sum_words(uint8_t *bytes, size_t size, uint64_t offset)
{
    uint64_t sum = 0;

    memset(bytes + size, 0, (8 - size % 8) % 8);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = ggld_load_le64(bytes + i);
        sum += word != 0 ? mix(word, (offset + i) / 8 + 1) : 0;
    }
    return sum;
}

static ggld_status digest_data(const ggld_tensor *tensor,
                               const ggld_tensor_info *info,
                               const ggld_type_row *swap,
                               ggld_compare_room *room, ggld_meter *meter,
                               uint64_t *sum, ggld_error *err)
{
    size_t step = sizeof room->a;

    *sum = 0;
    if (swap != NULL)
        step -= step % (8 * (size_t)swap->traits.block_bytes);
    for (uint64_t done = 0; done < info->size_bytes;) {
        size_t n = (size_t)ggld_min_u64(info->size_bytes - done, step);
        ggld_status status =
            ggld_tensor_read_bytes(tensor, done, room->a, n, err);
        if (status != GGLD_OK)
            return status;
        if (swap != NULL)
            ggld_swap_blocks(swap, room->a, n / swap->traits.block_bytes);
        *sum += sum_words(room->a, n, done);
        done += n;
        status = ggld_meter_add(meter, n, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

ggld_status ggld_content_digest(const ggld_file *file, uint64_t first,
                                uint64_t n, bool big_endian,
                                ggld_compare_room *room, ggld_meter *meter,
                                uint64_t *out, ggld_error *err)
{
    uint64_t digest = FNV_START, sum;

    for (uint64_t i = first; i < first + n; i++) {
        const ggld_tensor *tensor = ggld_tensor_at(file, i);
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(tensor, &info);
        const ggld_type_row *swap =
            info.big_endian != big_endian ? ggld_type_row_of(info.type) : NULL;
        ggld_status status =
            digest_data(tensor, &info, swap, room, meter, &sum, err);
        if (status != GGLD_OK)
            return status;
        digest = go_on_u64(digest, info.name.len);
        digest = go_on(digest, info.name.data, (size_t)info.name.len);
        digest = go_on_u64(digest, info.type);
        digest = go_on_u64(digest, info.n_dims);
        for (uint32_t d = 0; d < info.n_dims; d++)
            digest = go_on_u64(digest, info.dims[d]);
        digest = go_on_u64(digest, sum);
    }
    *out = digest;
    return GGLD_OK;
}
