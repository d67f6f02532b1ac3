/* SPDX-License-Identifier: MIT */
/* Where the new metadata ends, how much padding makes its data begin where it
 * is to begin, and the bytes of it. Arithmetic alone; the file is not asked. */
#include <inttypes.h>
#include <string.h>

#include "../base/checked.h"
#include "../spec/limits.h"
#include "edit.h"
#include "sys.h"

static ggld_string padding_key(void)
{
    return ggld_text_of(GGLD_KEY_PADDING);
}

ggld_encoder ggld_edit_encoder(const ggld_edit *edit, void *data, uint64_t cap)
{
    ggld_encoder e = ggld_encoder_into(data, cap);
    e.version = edit->info.version;
    e.big_endian = edit->info.big_endian;
    return e;
}

uint64_t ggld_edit_old_end(const ggld_edit *edit)
{
    return ggld_min_u64(edit->data_offset, edit->info.file_bytes);
}

static bool is_padding(const ggld_edit_kv *kv)
{
    return ggld_text_same(kv->key, padding_key());
}

/* Spaces: text that every reader takes. */
static void encode_padding(ggld_encoder *e, uint64_t padding_bytes)
{
    ggld_encode_len(e, padding_key().len);
    ggld_encode_bytes(e, padding_key().data, padding_key().len);
    ggld_encode_u32(e, GGLD_VALUE_STRING);
    ggld_encode_len(e, padding_bytes);
    ggld_encode_fill(e, ' ', padding_bytes);
}

/* What a padding of no bytes takes. */
static uint64_t padding_overhead(const ggld_edit *edit)
{
    ggld_encoder e = ggld_edit_encoder(edit, NULL, UINT64_MAX);
    encode_padding(&e, 0);
    return e.pos;
}

/* In its place, or else last. */
static void encode_kvs(const ggld_edit *edit, const ggld_edit_layout *layout,
                       ggld_encoder *e)
{
    bool owed = layout->padded;

    for (uint64_t i = 0; i < edit->n_kvs; i++) {
        const ggld_edit_kv *kv = &edit->kvs[i];
        if (!is_padding(kv))
            ggld_encode_kv(e, kv->key, kv->type, kv->value.data, kv->value.len);
        else if (owed)
            encode_padding(e, layout->padding_bytes);
        owed = owed && !is_padding(kv);
    }
    if (owed)
        encode_padding(e, layout->padding_bytes);
}

static void encode_tensors(const ggld_edit *edit, ggld_encoder *e)
{
    for (uint64_t i = 0; i < edit->n_tensors; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(edit->file, i), &info);
        ggld_encode_tensor_info(e, edit->names[i].name, info.dims, info.n_dims,
                                info.type,
                                info.file_offset_bytes - edit->data_offset);
    }
}

static void encode(const ggld_edit *edit, const ggld_edit_layout *layout,
                   ggld_encoder *e)
{
    uint64_t n_kvs = layout->padded ? 1 : 0;

    for (uint64_t i = 0; i < edit->n_kvs; i++)
        n_kvs += !is_padding(&edit->kvs[i]);
    ggld_encode_header(e, edit->n_tensors, n_kvs);
    encode_kvs(edit, layout, e);
    encode_tensors(edit, e);
}

/* Sets base_bytes. false: no file is so long, or its version can't say it. */
static bool measure(const ggld_edit *edit, ggld_edit_layout *out)
{
    ggld_encoder e = ggld_edit_encoder(edit, NULL, INT64_MAX);

    memset(out, 0, sizeof *out);
    encode(edit, out, &e);
    out->base_bytes = e.pos;
    return !e.full;
}

/* Sets end and data_offset from what is set before. */
static bool settle(const ggld_edit *edit, ggld_edit_layout *out)
{
    uint64_t overhead = out->padded ? padding_overhead(edit) : 0;
    uint64_t data_bytes = edit->info.data_bytes;

    return ggld_add_u64(out->base_bytes, overhead, &out->end) &&
           ggld_add_u64(out->end, out->padding_bytes, &out->end) &&
           ggld_align_up(out->end, edit->info.alignment_bytes,
                         &out->data_offset) &&
           out->data_offset <= INT64_MAX &&
           data_bytes <= INT64_MAX - out->data_offset;
}

bool ggld_edit_old_padding(const ggld_edit *edit, uint64_t *bytes)
{
    uint64_t at = ggld_edit_find(edit, padding_key());
    uint64_t len_bytes = edit->info.version == 1 ? 4 : 8;

    *bytes = 0;
    if (at == edit->n_kvs)
        return false;
    const ggld_edit_kv *kv = &edit->kvs[at];
    if (kv->type == GGLD_VALUE_STRING && kv->value.len >= len_bytes)
        *bytes = kv->value.len - len_bytes;
    return true;
}

/* A file without data may end where its metadata does. */
static void set_image_bytes(const ggld_edit *edit, ggld_edit_layout *out)
{
    bool cut = edit->info.file_bytes < edit->data_offset;
    out->image_bytes = cut ? out->end : out->data_offset;
}

bool ggld_edit_layout_new(const ggld_edit *edit, ggld_edit_layout *out)
{
    if (!measure(edit, out))
        return false;
    out->padded = ggld_edit_old_padding(edit, &out->padding_bytes);
    if (edit->reserve_bytes != 0) {
        out->padded = true;
        out->padding_bytes = edit->reserve_bytes;
    }
    if (!settle(edit, out))
        return false;
    set_image_bytes(edit, out);
    return true;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The least multiple of both; false where no file is so long. */
static bool common_multiple(uint64_t a, uint64_t b, uint64_t *out)
{
    return ggld_mul_u64(a / gcd(a, b), b, out) && *out <= INT64_MAX;
}

bool ggld_edit_layout_shared(const ggld_edit *edit, uint64_t block_bytes,
                             ggld_edit_layout *out)
{
    uint64_t step, start;

    if (!ggld_edit_layout_new(edit, out) ||
        !common_multiple(edit->info.alignment_bytes, block_bytes, &step))
        return false;
    uint64_t phase = edit->data_offset % step;
    if (out->data_offset % step == phase)
        return true;
    if (!out->padded) {
        out->padded = true;
        if (!settle(edit, out))
            return false;
    }
    /* From the end on, the first place that is as far behind a block. */
    if (!ggld_add_u64(out->end - out->end % step, phase, &start) ||
        (start < out->end && !ggld_add_u64(start, step, &start)))
        return false;
    out->padding_bytes += start - out->end;
    if (!settle(edit, out))
        return false;
    set_image_bytes(edit, out);
    return true;
}

/* Ends the metadata at target, where data (or the file) begins (or ends). */
static bool pad_to(const ggld_edit *edit, uint64_t target, uint64_t data_offset,
                   ggld_edit_layout *out)
{
    uint64_t least, ignored, aligned;
    bool wanted =
        edit->reserve_bytes != 0 || ggld_edit_old_padding(edit, &ignored);
    bool possible =
        ggld_add_u64(out->base_bytes, padding_overhead(edit), &least) &&
        ggld_add_u64(least, edit->reserve_bytes, &least) && least <= target;
    bool exact =
        edit->reserve_bytes == 0 && out->base_bytes <= target &&
        ggld_align_up(out->base_bytes, edit->info.alignment_bytes, &aligned) &&
        aligned == data_offset;

    out->padded = possible && (wanted || !exact);
    if (!out->padded && !exact)
        return false;
    out->padding_bytes = out->padded ? target - least + edit->reserve_bytes : 0;
    out->end = out->padded ? target : out->base_bytes;
    out->data_offset = data_offset;
    out->image_bytes = target;
    return true;
}

bool ggld_edit_layout_in_place(const ggld_edit *edit, bool may_insert,
                               uint64_t block_bytes, ggld_edit_layout *out)
{
    uint64_t old_end = ggld_edit_old_end(edit), step, needed, target;

    if (!measure(edit, out))
        return false;
    if (pad_to(edit, old_end, edit->data_offset, out))
        return true;
    if (!may_insert ||
        !common_multiple(edit->info.alignment_bytes, block_bytes, &step) ||
        !ggld_add_u64(out->base_bytes + padding_overhead(edit),
                      edit->reserve_bytes, &needed))
        return false;
    needed = needed > old_end ? needed - old_end : 1;
    if (!ggld_align_up(needed, step, &out->inserted_bytes) ||
        !ggld_add_u64(old_end, out->inserted_bytes, &target) ||
        out->inserted_bytes > INT64_MAX - edit->info.file_bytes)
        return false;
    return pad_to(edit, target, edit->data_offset + out->inserted_bytes, out);
}

/* What is not changed has to come out as it was, whatever is odd about it. Values
 * are the file's own bytes: it is enough that each comes to where it is. */
static bool count_old(const ggld_edit *edit, ggld_encoder *e)
{
    ggld_encode_header(e, edit->n_tensors, edit->n_kvs);
    for (uint64_t i = 0; i < edit->n_kvs; i++) {
        const ggld_edit_kv *kv = &edit->kvs[i];
        ggld_raw_value raw = ggld_kv_raw(ggld_kv_at(edit->file, i));
        ggld_encode_kv(e, kv->key, kv->type, NULL, 0);
        if (e->pos != raw.file_offset_bytes)
            return false;
        ggld_encode_bytes(e, NULL, kv->value.len);
    }
    encode_tensors(edit, e);
    return !e->full;
}

ggld_status ggld_edit_measure_old(ggld_edit *edit, ggld_error *err)
{
    ggld_encoder e = ggld_edit_encoder(edit, NULL, INT64_MAX);

    if (!count_old(edit, &e) ||
        !ggld_align_up(e.pos, edit->info.alignment_bytes, &edit->data_offset) ||
        ggld_min_u64(edit->data_offset, edit->info.file_bytes) !=
            edit->info.metadata_bytes)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_in_file(),
                         "file: its records can't be written as they are "
                         "(%" PRIu64 " bytes, where there are %" PRIu64 ")",
                         e.pos, edit->info.metadata_bytes);
    return GGLD_OK;
}

uint8_t *ggld_edit_image(const ggld_edit *edit, const ggld_edit_layout *layout)
{
    uint8_t *image = ggld_alloc_bytes(&edit->allocator, layout->image_bytes);
    if (image == NULL)
        return NULL;
    ggld_sys_use_large_pages(image, layout->image_bytes);
    ggld_encoder e = ggld_edit_encoder(edit, image, layout->image_bytes);
    encode(edit, layout, &e);
    memset(image + e.pos, 0, (size_t)(layout->image_bytes - e.pos));
    return image;
}
