/* SPDX-License-Identifier: MIT */
/* The public calls from buffer to buffer: arguments are judged here, the work
 * is done by the set that this processor runs best. */
#include <ggld/codec.h>

#include <inttypes.h>

#include "../base/checked.h"
#include "../base/cpu.h"
#include "../base/error.h"
#include "kern.h"

static const ggld_kern_set *best_set(void)
{
    return ggld_kern_resolve(ggld_cpu_features());
}

const char *ggld_instruction_set(void)
{
    return best_set()->name;
}

/* The type's row, or NULL and *err set. */
static const ggld_type_row *find_type(uint32_t tensor_type, ggld_error *err,
                                      ggld_status *status)
{
    const ggld_type_row *row = ggld_type_row_of(tensor_type);
    const char *removed = ggld_removed_type_name(tensor_type);
    if (row != NULL)
        return row;
    if (removed != NULL)
        *status = ggld_fail(err, GGLD_E_TENSOR_TYPE, ggld_nowhere(),
                            "tensor type %" PRIu32
                            " (%s) was removed from the format: re-quantise "
                            "the model",
                            tensor_type, removed);
    else
        *status = ggld_fail(err, GGLD_E_TENSOR_TYPE, ggld_nowhere(),
                            "tensor type %" PRIu32 " is unknown", tensor_type);
    return NULL;
}

/* Whole blocks, and their bytes within what the buffer has? */
static ggld_status count_blocks(uint64_t *n_blocks, const ggld_type_row *row,
                                uint64_t n_elems, size_t buffer_bytes,
                                ggld_error *err)
{
    const ggld_type_traits *traits = &row->traits;
    uint64_t n = n_elems / traits->block_elems;
    uint64_t bytes;

    if (n_elems % traits->block_elems != 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "%" PRIu64
                         " elements are not whole blocks of %s (%" PRIu32
                         " elements each)",
                         n_elems, traits->name, traits->block_elems);
    if (!ggld_mul_u64(n, traits->block_bytes, &bytes) || bytes > buffer_bytes)
        return ggld_fail(
            err, GGLD_E_INVALID, ggld_nowhere(),
            "%" PRIu64 " elements of %s are %" PRIu64 " blocks of %" PRIu32
            " bytes; the buffer has %zu bytes",
            n_elems, traits->name, n, traits->block_bytes, buffer_bytes);
    *n_blocks = n;
    return GGLD_OK;
}

static ggld_status check_source(uint64_t *n_blocks, ggld_to_f32 *to_f32,
                                uint32_t tensor_type, uint64_t n_elems,
                                size_t src_bytes, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    const ggld_type_row *row = find_type(tensor_type, err, &status);
    if (row == NULL)
        return status;
    const ggld_kern_row *kern = &best_set()->rows[tensor_type];
    if (kern->to_f32 == NULL)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "%s can't be dequantised", row->traits.name);
    *to_f32 = ggld_kern_streams(n_elems) ? kern->to_f32_stream : kern->to_f32;
    return count_blocks(n_blocks, row, n_elems, src_bytes, err);
}

ggld_status ggld_dequantize_f32(uint32_t tensor_type, const void *src,
                                size_t src_bytes, float *dst, uint64_t n_elems,
                                ggld_error *err)
{
    uint64_t n_blocks = 0;
    ggld_to_f32 to_f32 = NULL;
    ggld_status status =
        check_source(&n_blocks, &to_f32, tensor_type, n_elems, src_bytes, err);
    if (status == GGLD_OK)
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set then. */
        to_f32(src, dst, n_blocks);
    return status;
}

ggld_status ggld_swap_bytes(uint32_t tensor_type, void *blocks,
                            size_t size_bytes, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    const ggld_type_row *row = find_type(tensor_type, err, &status);
    if (row == NULL)
        return status;
    if (size_bytes % row->traits.block_bytes != 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "%zu bytes are not whole blocks of %s (%" PRIu32
                         " bytes each)",
                         size_bytes, row->traits.name, row->traits.block_bytes);
    ggld_swap_blocks(row, blocks, size_bytes / row->traits.block_bytes);
    return GGLD_OK;
}

/* Floats in between, so few that they stay in the first cache. */
#define CHUNK_ELEMS 1024

ggld_status ggld_dequantize_f16(uint32_t tensor_type, const void *src,
                                size_t src_bytes, uint16_t *dst,
                                uint64_t n_elems, ggld_error *err)
{
    uint64_t n_blocks = 0;
    ggld_to_f32 to_f32 = NULL;
    ggld_status status =
        check_source(&n_blocks, &to_f32, tensor_type, n_elems, src_bytes, err);
    if (status != GGLD_OK)
        return status;

    const ggld_kern_set *set = best_set();
    const ggld_type_traits *traits = ggld_type_traits_of(tensor_type);
    const uint8_t *blocks = src;
    float chunk[CHUNK_ELEMS];
    to_f32 = set->rows[tensor_type].to_f32;
    while (n_blocks != 0) {
        uint64_t n = ggld_min_u64(n_blocks, CHUNK_ELEMS / traits->block_elems);
        to_f32(blocks, chunk, n);
        set->f32_to_f16(chunk, dst, n * traits->block_elems);
        blocks += n * traits->block_bytes;
        dst += n * traits->block_elems;
        n_blocks -= n;
    }
    return GGLD_OK;
}

ggld_status ggld_quantize_f32(uint32_t tensor_type, const float *src,
                              uint64_t n_elems, void *dst, size_t dst_bytes,
                              ggld_error *err)
{
    uint64_t n_blocks = 0;
    ggld_status status = GGLD_OK;
    const ggld_type_row *row = find_type(tensor_type, err, &status);
    if (row == NULL)
        return status;
    ggld_from_f32 from_f32 = best_set()->rows[tensor_type].from_f32;
    if (from_f32 == NULL)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "there is no quantiser for %s", row->traits.name);
    status = count_blocks(&n_blocks, row, n_elems, dst_bytes, err);
    if (status != GGLD_OK)
        return status;
    uint64_t bad = from_f32(src, dst, n_blocks);
    if (bad == GGLD_NO_ELEM)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_VALUE,
                     ggld_place_of(GGLD_IN_NONE, GGLD_NO_INDEX, bad),
                     "element %" PRIu64 " (%g) can't be stored as %s", bad,
                     (double)src[bad], row->traits.name);
}
