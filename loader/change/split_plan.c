/* SPDX-License-Identifier: MIT */
/* Sizes of shards to the byte, from the sizes of records: what the writer will
 * write. */
#include "split_plan.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "../base/structs.h"
#include "../read/split.h"
#include "../spec/encode.h"
#include "../spec/limits.h"
#include "../spec/transcode.h"
#include "take.h"

#define KNOWN_FLAGS (GGLD_SPLIT_FORCE | GGLD_SPLIT_BARE_FIRST)

static ggld_status take_options(const ggld_split_options *options,
                                ggld_split_options *o, ggld_error *err)
{
    ggld_status status = ggld_struct_take(
        "ggld_split_options", options, offsetof(ggld_split_options, reserved),
        o, sizeof *o, err);
    if (status == GGLD_OK)
        status = ggld_struct_check(
            "ggld_split_options", o->flags & ~KNOWN_FLAGS,
            o->reserved32 == 0 &&
                ggld_all_zero(o->reserved, sizeof o->reserved),
            err);
    if (status == GGLD_OK && o->max_bytes == 0 && o->max_tensors == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_split_options: neither max_bytes nor "
                         "max_tensors says where to split");
    return status;
}

/* ---- sizes of records ---- */

static void count_split_keys(ggld_encoder *e)
{
    static const char *const names[] = { GGLD_KEY_SPLIT_NO,
                                         GGLD_KEY_SPLIT_COUNT,
                                         GGLD_KEY_SPLIT_TENSORS };
    static const uint32_t widths[] = { 2, 2, 4 };

    for (size_t i = 0; i < 3; i++) {
        ggld_string key = { names[i], strlen(names[i]) };
        ggld_encode_kv(e, key, GGLD_VALUE_U16, "\0\0\0", widths[i]);
    }
}

static void count_alignment(ggld_encoder *e)
{
    const ggld_string key = { GGLD_KEY_ALIGNMENT,
                              sizeof GGLD_KEY_ALIGNMENT - 1 };
    ggld_encode_kv(e, key, GGLD_VALUE_U32, "\0\0\0", 4);
}

static ggld_status count_kvs(const ggld_file *file, ggld_encoder *e,
                             ggld_error *err)
{
    for (uint64_t i = 0; i < ggld_kv_count(file); i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        ggld_string key = ggld_kv_key(kv);
        ggld_raw_value raw = ggld_kv_raw(kv);
        if (!ggld_take_keeps(file, kv, true))
            continue;
        if (ggld_key_is(key, GGLD_KEY_ALIGNMENT)) {
            count_alignment(e);
            continue;
        }
        ggld_encode_kv(e, key, ggld_kv_type(kv), NULL, 0);
        if (!ggld_transcode_raw(&raw, ggld_kv_type(kv), e))
            return ggld_fail(err, GGLD_E_CHANGED, ggld_nowhere(),
                             "key %s: its file has changed since it was opened",
                             ggld_quote(key.data, key.len).text);
    }
    return GGLD_OK;
}

/* Bytes of a shard's metadata without tensors. */
static ggld_status count_head(const ggld_split_plan *p, bool first,
                              uint64_t *out, ggld_error *err)
{
    ggld_encoder e = ggld_encoder_counting();
    ggld_status status = GGLD_OK;

    ggld_encode_header(&e, 0, 0);
    count_split_keys(&e);
    if (first)
        status = count_kvs(p->file, &e, err);
    if (p->alignment_bytes != GGLD_DEFAULT_ALIGNMENT &&
        !(first && ggld_kv_find(p->file, GGLD_KEY_ALIGNMENT) != NULL))
        count_alignment(&e);
    *out = e.pos;
    return status;
}

/* ---- the plan ---- */

/* A shard that is being filled. */
typedef struct filling {
    uint64_t metadata_bytes;
    uint64_t data_bytes;
    uint64_t n_tensors;
} filling;

static uint64_t padded(uint64_t size, uint64_t alignment)
{
    uint64_t out;
    /* Of sizes inside files: it does not overflow. */
    return ggld_align_up(size, alignment, &out) ? out : size;
}

static filling with_tensor(filling f, const ggld_split_plan *p,
                           const ggld_tensor_info *info)
{
    ggld_encoder e = ggld_encoder_counting();

    ggld_encode_tensor_info(&e, info->name, info->dims, info->n_dims, 0, 0);
    f.metadata_bytes += e.pos;
    f.data_bytes += padded(info->size_bytes, p->alignment_bytes);
    f.n_tensors++;
    return f;
}

static uint64_t file_bytes(const filling *f, const ggld_split_plan *p)
{
    return padded(f->metadata_bytes, p->alignment_bytes) + f->data_bytes;
}

static bool is_within(const filling *f, const ggld_split_plan *p)
{
    const ggld_split_options *o = &p->options;
    return (o->max_tensors == 0 || f->n_tensors <= o->max_tensors) &&
           (o->max_bytes == 0 || file_bytes(f, p) <= o->max_bytes);
}

static ggld_status close_part(ggld_split_plan *p, const filling *f,
                              uint64_t *first, ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);

    if (p->n_parts == GGLD_MAX_SHARDS)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "that makes more than %u shards: allow them to be "
                         "larger",
                         GGLD_MAX_SHARDS);
    if (p->n_parts == p->cap) {
        uint32_t cap = p->cap != 0 ? 2 * p->cap : 16;
        ggld_shard_part *parts =
            ggld_grow(&heap, p->parts, p->n_parts, cap, sizeof *parts);
        if (parts == NULL)
            return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                             "no memory for more than %" PRIu32 " shards",
                             p->n_parts);
        p->parts = parts;
        p->cap = cap;
    }
    ggld_shard_part part = { *first, f->n_tensors, file_bytes(f, p) };
    p->parts[p->n_parts++] = part;
    *first += f->n_tensors;
    return GGLD_OK;
}

/* Does a tensor that is too much for what is being filled begin another shard?
 * A first one without tensors is left so only where that helps. */
static bool begins_another(const filling *now, const filling *fresh,
                           const ggld_split_plan *p)
{
    return now->n_tensors != 0 || (p->n_parts == 0 && is_within(fresh, p));
}

static ggld_status fill_parts(ggld_split_plan *p, uint64_t first_head,
                              uint64_t other_head, ggld_error *err)
{
    filling now = { .metadata_bytes = first_head };
    const filling none = { .metadata_bytes = other_head };
    uint64_t first = 0;
    ggld_status status = GGLD_OK;

    if ((p->options.flags & GGLD_SPLIT_BARE_FIRST) != 0 &&
        ggld_tensor_count(p->file) != 0) {
        status = close_part(p, &now, &first, err);
        now = none;
    }
    for (uint64_t i = 0; i < ggld_tensor_count(p->file) && status == GGLD_OK;
         i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(p->file, i), &info);
        filling next = with_tensor(now, p, &info);
        filling fresh = with_tensor(none, p, &info);
        if (!is_within(&next, p) && begins_another(&now, &fresh, p)) {
            status = close_part(p, &now, &first, err);
            next = fresh;
        }
        now = next;
    }
    return status == GGLD_OK ? close_part(p, &now, &first, err) : status;
}

static ggld_status make_plan(ggld_split_plan *p, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    uint64_t first_head, other_head;

    ggld_file_get_info(p->file, &info);
    p->big_endian = info.big_endian;
    p->alignment_bytes = ggld_take_alignment(p->file);
    ggld_status status = count_head(p, true, &first_head, err);
    if (status == GGLD_OK)
        status = count_head(p, false, &other_head, err);
    return status == GGLD_OK ? fill_parts(p, first_head, other_head, err)
                             : status;
}

ggld_status ggld_split_plan_new(ggld_split_plan **out, const ggld_file *file,
                                const ggld_split_options *options,
                                ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);
    ggld_split_options o;

    if (file == NULL || options == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "the %s NULL",
                         file == NULL ? "file is" : "options are");
    ggld_status status = take_options(options, &o, err);
    if (status != GGLD_OK)
        return status;
    ggld_split_plan *p = ggld_alloc(&heap, 1, sizeof *p);
    if (p == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a plan of shards");
    p->file = file;
    p->options = o;
    status = make_plan(p, err);
    if (status == GGLD_OK)
        *out = p;
    else
        ggld_split_plan_free(p);
    return status;
}

void ggld_split_plan_free(ggld_split_plan *plan)
{
    ggld_allocator heap = ggld_allocator_of(NULL);
    if (plan == NULL)
        return;
    ggld_free(&heap, plan->parts);
    ggld_free(&heap, plan);
}

uint32_t ggld_split_plan_count(const ggld_split_plan *plan)
{
    return plan->n_parts;
}

void ggld_split_plan_get(const ggld_split_plan *plan, uint32_t no,
                         ggld_split_shard *out)
{
    ggld_split_shard shard = { .struct_size = sizeof shard };

    if (no < plan->n_parts) {
        shard.first_tensor = plan->parts[no].first_tensor;
        shard.n_tensors = plan->parts[no].n_tensors;
        shard.file_bytes = plan->parts[no].file_bytes;
    }
    ggld_struct_give(out, &shard, sizeof shard);
}
