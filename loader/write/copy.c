/* SPDX-License-Identifier: MIT */
/* Key-values and tensors of an open file taken over, through the public calls
 * alone. What the writer could judge is not judged: it is to come out as it
 * was. */
#include <inttypes.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "../spec/transcode.h"
#include "../spec/types.h"
#include "writer.h"

/* Bytes that are read at once, at least, as long as there are as many. */
#define MIN_CHUNK_BYTES (64u << 10)

static ggld_status fail_changed(ggld_string key, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED, ggld_nowhere(),
                     "key %s: its file has changed since it was opened",
                     ggld_quote(key.data, key.len).text);
}

ggld_status ggld_writer_copy_kv(ggld_writer *w, const ggld_kv *kv,
                                ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_DECLARING, err);
    if (status != GGLD_OK)
        return status;
    if (kv == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the key-value is NULL");

    ggld_string key = ggld_kv_key(kv);
    uint32_t type = ggld_kv_type(kv);
    ggld_raw_value raw = ggld_kv_raw(kv);
    ggld_encoder size = ggld_encoder_counting();
    if (!ggld_transcode_raw(&raw, type, &size))
        return fail_changed(key, err);
    ggld_kv_entry *entry = ggld_writer_new_kv(w, key, type, size.pos, err);
    if (entry == NULL)
        return GGLD_E_NOMEM;
    ggld_encoder e = ggld_encoder_into(entry->value, entry->value_bytes);
    if (!ggld_transcode_raw(&raw, type, &e) || e.pos != size.pos) {
        ggld_free(&w->allocator, entry);
        return fail_changed(key, err);
    }
    return ggld_writer_put_kv(w, entry, err);
}

ggld_status ggld_writer_copy_tensor(ggld_writer *w, const ggld_tensor *tensor,
                                    ggld_error *err)
{
    ggld_tensor_info info = { .struct_size = sizeof info };

    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_DECLARING, err);
    if (status != GGLD_OK)
        return status;
    if (tensor == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the tensor is NULL");
    ggld_tensor_get_info(tensor, &info);
    if (info.big_endian != ggld_writer_big_endian(w) && !info.supported)
        return ggld_fail(err, GGLD_E_UNSUPPORTED,
                         ggld_place_of(GGLD_IN_TENSOR_INFO, info.index, 0),
                         "tensor %" PRIu64 " %s: type %" PRIu32
                         " is unknown, so its bytes can't be brought from "
                         "%s-endian to %s-endian",
                         info.index,
                         ggld_quote(info.name.data, info.name.len).text,
                         info.type, info.big_endian ? "big" : "little",
                         info.big_endian ? "little" : "big");
    ggld_out_tensor t = { .name = info.name,
                          .n_dims = info.n_dims,
                          .type = info.type,
                          .size_bytes = info.size_bytes,
                          .source = tensor };
    for (uint32_t i = 0; i < info.n_dims; i++)
        t.dims[i] = info.dims[i];
    return ggld_writer_add_tensor(w, &t, err);
}

/* The next bytes of a tensor that is copied, as many as there is room for;
 * where it is swapped, whole blocks. */
static ggld_status copy_chunk(ggld_writer *w, const ggld_type_row *swap,
                              ggld_error *err)
{
    const ggld_out_tensor *t = &w->tensors[w->current];
    uint64_t left = t->size_bytes - w->current_bytes;
    uint8_t *room;
    size_t room_bytes;

    ggld_status status =
        ggld_sink_room(&w->sink, (size_t)ggld_min_u64(left, MIN_CHUNK_BYTES),
                       &room, &room_bytes, err);
    if (status != GGLD_OK)
        return status;
    size_t n = (size_t)ggld_min_u64(left, room_bytes);
    if (swap != NULL)
        n -= n % swap->traits.block_bytes;
    status = ggld_tensor_read_bytes(t->source, w->current_bytes, room, n, err);
    if (status != GGLD_OK)
        return status;
    if (swap != NULL)
        ggld_swap_blocks(swap, room, n / swap->traits.block_bytes);
    ggld_sink_take(&w->sink, n);
    w->current_bytes += n;
    return ggld_writer_copied(w, n, err);
}

ggld_status ggld_writer_copied(ggld_writer *w, uint64_t size, ggld_error *err)
{
    w->copied_bytes += size;
    if (w->progress == NULL ||
        w->progress(w->copied_bytes, w->copy_bytes, w->progress_user) == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "cancelled after %" PRIu64 " of %" PRIu64 " bytes",
                     w->copied_bytes, w->copy_bytes);
}

ggld_status ggld_writer_copy_extent(ggld_writer *w, ggld_error *err)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_status status = GGLD_OK;

    if (w->hollow) {
        w->current_bytes = w->tensors[w->current].size_bytes;
        return ggld_sink_zeros(&w->sink, w->current_bytes, err);
    }
    ggld_tensor_get_info(w->tensors[w->current].source, &info);
    const ggld_type_row *swap = info.big_endian != ggld_writer_big_endian(w)
                                    ? ggld_type_row_of(info.type)
                                    : NULL;
    if (swap == NULL)
        status = ggld_writer_copy_range(w, err);
    const ggld_out_tensor *t = &w->tensors[w->current];
    while (status == GGLD_OK && w->current_bytes < t->size_bytes)
        status = copy_chunk(w, swap, err);
    return status;
}
