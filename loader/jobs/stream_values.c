/* SPDX-License-Identifier: MIT */
/* Chunks out of an extent's bytes: cut to whole blocks, dequantised where
 * values are wanted, and clipped to the view. */
#include <string.h>

#include "../base/checked.h"
#include "stream.h"

/* A block of any type fits. */
#define SWAP_BYTES (16u << 10)

/* The blocks [first_byte, first_byte + n_bytes) of the piece as a chunk whose
 * data is at data: what of them the view covers. */
static ggld_chunk chunk_of(const ggld_stream *self, const ggld_piece *piece,
                           uint64_t first_byte, uint64_t n_bytes,
                           const uint8_t *data)
{
    ggld_chunk chunk = { .tensor = piece->tensor,
                         .view = piece->view,
                         .data = data,
                         .first_byte = first_byte,
                         .size_bytes = n_bytes };
    uint64_t first = first_byte / piece->block_bytes * piece->block_elems;
    uint64_t end = first + n_bytes / piece->block_bytes * piece->block_elems;
    chunk.first_elem = first;
    chunk.n_elems = end - first;
    if (self->plan.value_bytes == 0)
        return chunk;
    uint64_t view_end = piece->first_elem + piece->n_elems;
    if (chunk.first_elem < piece->first_elem)
        chunk.first_elem = piece->first_elem;
    chunk.n_elems = ggld_min_u64(end, view_end) - chunk.first_elem;
    chunk.data = data + (chunk.first_elem - first) * self->plan.value_bytes;
    return chunk;
}

/* Of little-endian blocks. */
static ggld_status dequantize(const ggld_stream *self, const ggld_piece *piece,
                              const uint8_t *src, uint64_t n_bytes, void *dst,
                              ggld_error *err)
{
    uint64_t n_elems = n_bytes / piece->block_bytes * piece->block_elems;
    if (self->options.format == GGLD_STREAM_F16)
        return ggld_dequantize_f16(piece->type, src, (size_t)n_bytes, dst,
                                   n_elems, err);
    return ggld_dequantize_f32(piece->type, src, (size_t)n_bytes, dst, n_elems,
                               err);
}

/* The bytes that were read, whichever way, are swapped in a copy that stays in
 * a core's first cache: they may be the map's. */
static ggld_status big_endian_values(const ggld_stream *self,
                                     const ggld_piece *piece,
                                     const uint8_t *src, uint64_t n_bytes,
                                     uint8_t *dst, ggld_error *err)
{
    uint8_t swapped[SWAP_BYTES];
    uint64_t most = sizeof swapped / piece->block_bytes * piece->block_bytes;
    ggld_status status = GGLD_OK;
    uint64_t n;
    for (uint64_t done = 0; done < n_bytes && status == GGLD_OK; done += n) {
        n = ggld_min_u64(n_bytes - done, most);
        memcpy(swapped, src + done, (size_t)n);
        status = ggld_swap_bytes(piece->type, swapped, (size_t)n, err);
        if (status == GGLD_OK)
            status = dequantize(self, piece, swapped, n, dst, err);
        dst += ggld_piece_out(&self->plan, piece, n);
    }
    return status;
}

static ggld_status make_values(const ggld_stream *self, const ggld_piece *piece,
                               const uint8_t *src, uint64_t n_bytes, void *dst,
                               ggld_error *err)
{
    if (piece->big_endian)
        return big_endian_values(self, piece, src, n_bytes, dst, err);
    return dequantize(self, piece, src, n_bytes, dst, err);
}

/* A source's own reads have asked it before. A verifier reads more than it is
 * asked about, and reads that once: within a budget it is asked by one worker at
 * a time, or it would bring back for one what another has passed and dropped. */
static ggld_status verify(ggld_stream *self, const ggld_part *part,
                          ggld_error *err)
{
    if (self->io.by_source || !self->io.verifies)
        return GGLD_OK;
    if (self->drops)
        uv_mutex_lock(&self->verify_lock);
    ggld_status status = ggld_tensor_verify(
        part->piece->tensor, part->first_byte, part->n_bytes, err);
    if (self->drops)
        uv_mutex_unlock(&self->verify_lock);
    return status;
}

/* ---- on the loop ---- */

ggld_status ggld_stream_fill(ggld_stream *self, uint32_t slot, ggld_error *err)
{
    const ggld_extent *extent = &self->slots[slot].extent;
    uint8_t *to = self->slots[slot].values.data;
    ggld_part part;
    size_t i = 0;

    ggld_status status =
        ggld_io_fetch(&self->io, slot, &self->plan, extent, err);
    const uint8_t *data = self->io.lanes[slot].data;
    while (status == GGLD_OK &&
           ggld_extent_part(&self->plan, extent, &i, &part)) {
        status = verify(self, &part, err);
        if (status != GGLD_OK || self->plan.value_bytes == 0)
            continue;
        status =
            make_values(self, part.piece, data + (part.offset - extent->offset),
                        part.n_bytes, to, err);
        to += ggld_piece_out(&self->plan, part.piece, part.n_bytes);
    }
    if (status == GGLD_OK)
        status = ggld_io_recheck(&self->io, &self->plan, extent, err);
    return status;
}

ggld_status ggld_stream_hand_out(ggld_stream *self, uint32_t slot,
                                 ggld_error *err)
{
    const ggld_extent *extent = &self->slots[slot].extent;
    const uint8_t *values = self->slots[slot].values.data;
    const uint8_t *data = self->io.lanes[slot].data;
    ggld_part part;
    size_t i = 0;

    while (!ggld_job_stopped(&self->job) &&
           ggld_extent_part(&self->plan, extent, &i, &part)) {
        const uint8_t *from = data + (part.offset - extent->offset);
        if (self->plan.value_bytes != 0) {
            from = values;
            values += ggld_piece_out(&self->plan, part.piece, part.n_bytes);
        }
        ggld_chunk chunk =
            chunk_of(self, part.piece, part.first_byte, part.n_bytes, from);
        if (self->chunk(&self->job, &chunk, self->user) != 0)
            return ggld_job_cancelled(err);
    }
    return GGLD_OK;
}

/* ---- on workers ---- */

/* n_bytes whole blocks at data, from first_byte of the tensor on: at most one
 * chunk's. */
static ggld_status work_chunk(ggld_stream *self, uint32_t slot,
                              const ggld_piece *piece, uint64_t first_byte,
                              const uint8_t *data, uint64_t n_bytes,
                              ggld_error *err)
{
    const uint8_t *out = data;
    if (self->plan.value_bytes != 0) {
        out = self->slots[slot].values.data;
        ggld_status status = make_values(self, piece, data, n_bytes,
                                         self->slots[slot].values.data, err);
        if (status == GGLD_OK)
            status = ggld_io_recheck(&self->io, &self->plan,
                                     &self->slots[slot].extent, err);
        if (status != GGLD_OK)
            return status;
    }
    ggld_chunk chunk = chunk_of(self, piece, first_byte, n_bytes, out);
    chunk.worker = slot;
    if (ggld_job_stopped(&self->job) ||
        self->chunk(&self->job, &chunk, self->user) != 0)
        return ggld_job_cancelled(err);
    return GGLD_OK;
}

/* What is in memory of a part, chunk by chunk. */
static ggld_status work_bytes(ggld_stream *self, uint32_t slot,
                              const ggld_piece *piece, uint64_t first_byte,
                              const uint8_t *data, uint64_t n_bytes,
                              ggld_error *err)
{
    uint64_t block_out = ggld_piece_out(&self->plan, piece, piece->block_bytes);
    uint64_t most = self->sizes.chunk_bytes / block_out * piece->block_bytes;
    ggld_status status = GGLD_OK;
    uint64_t n;
    for (uint64_t done = 0; done < n_bytes && status == GGLD_OK; done += n) {
        n = ggld_min_u64(n_bytes - done, most);
        status = work_chunk(self, slot, piece, first_byte + done, data + done,
                            n, err);
    }
    return status;
}

/* Reads what fits the buffer, works on it, reads on. */
static ggld_status work_in_pieces(ggld_stream *self, uint32_t slot,
                                  const ggld_part *part, ggld_error *err)
{
    uint8_t *buffer = self->io.lanes[slot].buffer.data;
    uint32_t block_bytes = part->piece->block_bytes;
    uint64_t most = self->sizes.raw_bytes / block_bytes * block_bytes;
    ggld_status status = GGLD_OK;
    uint64_t n;
    for (uint64_t done = 0; done < part->n_bytes && status == GGLD_OK;
         done += n) {
        n = ggld_min_u64(part->n_bytes - done, most);
        status = ggld_io_read(&self->io, slot, part, done, buffer, n, err);
        if (status == GGLD_OK)
            status = work_bytes(self, slot, part->piece,
                                part->first_byte + done, buffer, n, err);
    }
    return status;
}

ggld_status ggld_stream_work(ggld_stream *self, uint32_t slot, ggld_error *err)
{
    const ggld_extent *extent = &self->slots[slot].extent;
    ggld_status status = GGLD_OK;
    ggld_part part;
    size_t i = 0;

    if (self->pieces)
        ggld_io_ask(&self->io, slot, extent);
    else
        status = ggld_io_fetch(&self->io, slot, &self->plan, extent, err);
    while (status == GGLD_OK &&
           ggld_extent_part(&self->plan, extent, &i, &part)) {
        status = verify(self, &part, err);
        if (status != GGLD_OK)
            break;
        if (self->pieces)
            status = work_in_pieces(self, slot, &part, err);
        else
            status = work_bytes(self, slot, part.piece, part.first_byte,
                                self->io.lanes[slot].data +
                                    (part.offset - extent->offset),
                                part.n_bytes, err);
    }
    return status;
}
