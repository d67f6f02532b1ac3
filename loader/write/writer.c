/* SPDX-License-Identifier: MIT */
/* The writer's life: new, begin, finish, free, and which call comes when. May
 * assume that what was set and declared was judged then. */
#include "writer.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/folder.h"
#include "../base/quote.h"
#include "../base/structs.h"
#include "../spec/encode.h"
#include "../spec/limits.h"
#include "emit.h"

#define MAX_ALIGNMENT (1u << 20)
/* The longest string that ggml reads. */
#define MAX_RESERVE (1u << 30)

#define KNOWN_FLAGS \
    (GGLD_WRITE_UNPADDED_END | GGLD_WRITE_SPARSE | GGLD_WRITE_BIG_ENDIAN)

static ggld_status check_options(const ggld_writer_options *o, ggld_error *err)
{
    ggld_status status =
        ggld_struct_check("ggld_writer_options", o->flags & ~KNOWN_FLAGS,
                          ggld_all_zero(o->reserved, sizeof o->reserved), err);
    if (status != GGLD_OK)
        return status;
    if (o->alignment_bytes != 0 && (!ggld_is_power_of_two(o->alignment_bytes) ||
                                    o->alignment_bytes > MAX_ALIGNMENT))
        return ggld_fail(err, GGLD_E_ALIGNMENT, ggld_nowhere(),
                         "ggld_writer_options: alignment_bytes %" PRIu32
                         " is not a power of two up to %u",
                         o->alignment_bytes, MAX_ALIGNMENT);
    if (o->reserve_bytes > MAX_RESERVE)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "ggld_writer_options: reserve_bytes %" PRIu64
                         " is more than %u",
                         o->reserve_bytes, MAX_RESERVE);
    if (o->allocator != NULL &&
        (o->allocator->alloc == NULL || o->allocator->free == NULL))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_allocator: alloc and free are both needed");
    return GGLD_OK;
}

ggld_status ggld_writer_new(ggld_writer **out,
                            const ggld_writer_options *options, ggld_error *err)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_status status = GGLD_OK;

    if (options != NULL)
        status = ggld_struct_take("ggld_writer_options", options,
                                  offsetof(ggld_writer_options, allocator), &o,
                                  sizeof o, err);
    if (status == GGLD_OK)
        status = check_options(&o, err);
    if (status != GGLD_OK)
        return status;
    ggld_allocator allocator = ggld_allocator_of(o.allocator);
    ggld_writer *w = ggld_alloc(&allocator, 1, sizeof *w);
    if (w == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a writer");
    w->allocator = allocator;
    w->flags = o.flags;
    w->alignment_bytes =
        o.alignment_bytes != 0 ? o.alignment_bytes : GGLD_DEFAULT_ALIGNMENT;
    w->reserve_bytes = o.reserve_bytes;
    w->progress = o.progress;
    w->progress_user = o.progress_user;
    ggld_sink_init(&w->sink);
    *out = w;
    return GGLD_OK;
}

void ggld_writer_free(ggld_writer *w)
{
    if (w == NULL)
        return;
    ggld_allocator allocator = w->allocator;
    ggld_sink_close(&w->sink);
    for (uint32_t i = 0; i < w->tensor_names.n; i++)
        ggld_free(&allocator, (void *)(uintptr_t)w->tensors[i].name.data);
    ggld_name_list_free(&w->tensor_names, &allocator);
    ggld_kvs_free(&w->kvs, &allocator);
    ggld_free(&allocator, w);
}

static const char *state_advice(ggld_writer_state state)
{
    switch (state) {
    case GGLD_WRITER_DECLARING:
        return "it has not begun: call ggld_writer_begin first";
    case GGLD_WRITER_BEGUN:
        return "it has begun: set, declare and copy before ggld_writer_begin";
    case GGLD_WRITER_SEALED:
        return "it is sealed: finish or free it";
    case GGLD_WRITER_FINISHED:
        return "it has finished: make a new one for another file";
    default:
        return "a call has failed: free it and make a new one";
    }
}

ggld_status ggld_writer_expect(const ggld_writer *w, ggld_writer_state state,
                               ggld_error *err)
{
    if (w == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the writer is NULL");
    if (w->state != state)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "writer: %s",
                         state_advice(w->state));
    return GGLD_OK;
}

ggld_status ggld_writer_abandon(ggld_writer *w, ggld_status status)
{
    ggld_sink_close(&w->sink);
    w->state = GGLD_WRITER_FAILED;
    return status;
}

/* ---- begin ---- */

/* The keys that the options ask for, unless the caller has set them. */
static ggld_status complete_kvs(ggld_writer *w, ggld_error *err)
{
    const ggld_string padding = { GGLD_KEY_PADDING,
                                  sizeof GGLD_KEY_PADDING - 1 };
    const ggld_string alignment = { GGLD_KEY_ALIGNMENT,
                                    sizeof GGLD_KEY_ALIGNMENT - 1 };

    if (w->alignment_bytes != GGLD_DEFAULT_ALIGNMENT &&
        ggld_name_list_find(&w->kvs.keys, alignment) == GGLD_INDEX_NONE) {
        ggld_status status =
            ggld_writer_set_u32(w, GGLD_KEY_ALIGNMENT, w->alignment_bytes, err);
        if (status != GGLD_OK)
            return status;
    }
    if (w->reserve_bytes == 0)
        return GGLD_OK;
    ggld_kv_entry *entry = ggld_writer_new_kv(w, padding, GGLD_VALUE_STRING,
                                              8 + w->reserve_bytes, err);
    if (entry == NULL)
        return GGLD_E_NOMEM;
    /* Spaces: text that every reader takes. */
    ggld_encoder e = ggld_encoder_into(entry->value, entry->value_bytes);
    ggld_encode_u64(&e, w->reserve_bytes);
    memset(entry->value + e.pos, ' ', (size_t)w->reserve_bytes);
    return ggld_writer_put_kv(w, entry, err);
}

/* Nothing is declared any more: names need not be found. */
static ggld_status make_plan(ggld_writer *w, ggld_error *err)
{
    ggld_name_list_close(&w->tensor_names, &w->allocator);
    ggld_encoder e = ggld_encoder_counting();
    e.big_endian = ggld_writer_big_endian(w);
    ggld_emit_metadata(&e, &w->kvs, w->tensors, w->tensor_names.n);
    if (!e.full && ggld_plan_make(&w->plan, w->tensors, w->tensor_names.n,
                                  e.pos, w->alignment_bytes,
                                  (w->flags & GGLD_WRITE_UNPADDED_END) == 0))
        return GGLD_OK;
    if (e.full || w->plan.n_laid == w->tensor_names.n)
        return ggld_fail(err, GGLD_E_OVERFLOW, ggld_nowhere(),
                         "the file would be longer than any file can be");
    const ggld_out_tensor *t = &w->tensors[w->plan.n_laid];
    return ggld_fail(err, GGLD_E_OVERFLOW,
                     ggld_place_of(GGLD_IN_TENSOR_INFO, w->plan.n_laid, 0),
                     "tensor %" PRIu64 " %s: with its %" PRIu64
                     " bytes the file would be longer than any file can be",
                     w->plan.n_laid, ggld_quote(t->name.data, t->name.len).text,
                     t->size_bytes);
}

/* The table is written in pieces, so that it need not be had whole. */
#define ROWS_AT_ONCE 512u

/* Part of the metadata: key-values and what is in front of them, or rows of the
 * table. */
typedef struct piece {
    bool kvs;
    uint32_t first_tensor;
    uint32_t n_tensors;
} piece;

static void emit(const ggld_writer *w, const piece *part, ggld_encoder *e)
{
    e->big_endian = ggld_writer_big_endian(w);
    if (part->kvs)
        ggld_emit_kvs(e, &w->kvs, w->tensor_names.n);
    if (part->n_tensors != 0)
        ggld_emit_tensors(e, &w->tensors[part->first_tensor], part->n_tensors);
}

/* To be freed; NULL, and *err, where there is no memory. */
static uint8_t *encode(const ggld_writer *w, const piece *part, uint64_t *size,
                       ggld_error *err)
{
    ggld_encoder count = ggld_encoder_counting();
    emit(w, part, &count);
    uint8_t *bytes = ggld_alloc_bytes(&w->allocator, count.pos);
    if (bytes == NULL) {
        (void)ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                        "no memory for %" PRIu64 " bytes of metadata",
                        count.pos);
        return NULL;
    }
    ggld_encoder e = ggld_encoder_into(bytes, count.pos);
    emit(w, part, &e);
    *size = count.pos;
    return bytes;
}

static ggld_status write_piece(ggld_writer *w, const piece *part,
                               ggld_error *err)
{
    uint64_t size;
    uint8_t *bytes = encode(w, part, &size, err);
    if (bytes == NULL)
        return GGLD_E_NOMEM;
    ggld_status status = ggld_sink_write(&w->sink, bytes, size, err);
    ggld_free(&w->allocator, bytes);
    return status;
}

static ggld_status write_metadata(ggld_writer *w, ggld_error *err)
{
    const uint32_t n = w->tensor_names.n;
    const piece kvs = { true, 0, 0 };
    ggld_status status = write_piece(w, &kvs, err);

    for (uint32_t i = 0; i < n && status == GGLD_OK; i += ROWS_AT_ONCE) {
        const piece rows = { false, i,
                             n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE };
        status = write_piece(w, &rows, err);
    }
    return status;
}

static ggld_status begin(ggld_writer *w, const char *path, ggld_error *err)
{
    ggld_status status = complete_kvs(w, err);
    if (status == GGLD_OK)
        status = make_plan(w, err);
    if (status == GGLD_OK)
        status = ggld_sink_open(&w->sink, path, w->plan.file_bytes,
                                (w->flags & GGLD_WRITE_SPARSE) == 0,
                                &w->allocator, err);
    if (status == GGLD_OK)
        status = write_metadata(w, err);
    w->sink.hollow = w->hollow;
    if (status == GGLD_OK)
        status = ggld_writer_advance(w, err);
    return status;
}

ggld_status ggld_writer_begin(ggld_writer *w, const char *path, ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_DECLARING, err);
    if (status == GGLD_OK && path == NULL)
        status =
            ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "the path is NULL");
    if (status == GGLD_OK)
        status = begin(w, path, err);
    if (status != GGLD_OK)
        return w != NULL ? ggld_writer_abandon(w, status) : status;
    w->state = GGLD_WRITER_BEGUN;
    return GGLD_OK;
}

/* ---- finish ---- */

static ggld_status check_complete(const ggld_writer *w, ggld_error *err)
{
    if (w->current == w->tensor_names.n)
        return GGLD_OK;
    const ggld_out_tensor *t = &w->tensors[w->current];
    return ggld_fail(err, GGLD_E_INVALID,
                     ggld_in_tensor_data(w->current, w->current_bytes),
                     "tensor %" PRIu32 " %s: %" PRIu64 " of its %" PRIu64
                     " bytes were put; put the rest before "
                     "ggld_writer_finish",
                     w->current, ggld_quote(t->name.data, t->name.len).text,
                     w->current_bytes, t->size_bytes);
}

static ggld_status seal(ggld_writer *w, ggld_error *err)
{
    ggld_status status = check_complete(w, err);
    if (status == GGLD_OK)
        status = ggld_sink_zeros(
            &w->sink, w->plan.file_bytes - ggld_sink_pos(&w->sink), err);
    if (status == GGLD_OK)
        status = ggld_sink_seal(&w->sink, err);
    return status;
}

ggld_status ggld_writer_seal(ggld_writer *w, ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_BEGUN, err);
    if (status == GGLD_OK)
        status = seal(w, err);
    if (status != GGLD_OK)
        return w != NULL ? ggld_writer_abandon(w, status) : status;
    w->state = GGLD_WRITER_SEALED;
    return GGLD_OK;
}

ggld_status ggld_writer_reopen(const ggld_writer *w, ggld_file **out,
                               const ggld_open_options *options,
                               ggld_error *err)
{
    int fd;
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_SEALED, err);
    if (status == GGLD_OK)
        status = ggld_target_reopen(&w->sink.target, &fd, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_open_fd(out, fd, options, err);
    close(fd);
    return status;
}

ggld_status ggld_writer_finish(ggld_writer *w, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    if (w == NULL || w->state != GGLD_WRITER_SEALED)
        status = ggld_writer_seal(w, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_target_commit(&w->sink.target, err);
    if (status != GGLD_OK)
        return ggld_writer_abandon(w, status);
    ggld_sink_close(&w->sink);
    w->state = GGLD_WRITER_FINISHED;
    return GGLD_OK;
}

int ggld_writer_hand_over(ggld_writer *w,
                          char temp_name[static GGLD_TEMP_NAME_MAX])
{
    ggld_target *t = &w->sink.target;
    int lock_fd = t->lock_fd;

    memcpy(temp_name, t->temp_name, sizeof t->temp_name);
    t->temp_name[0] = '\0';
    t->lock_fd = -1;
    ggld_folder_keep(t);
    ggld_sink_close(&w->sink);
    w->state = GGLD_WRITER_FINISHED;
    return lock_fd;
}

ggld_status ggld_writer_draft(ggld_writer *w, uint8_t **image,
                              uint64_t *image_bytes, ggld_error *err)
{
    uint64_t size = 0;
    uint8_t *bytes = NULL;
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_DECLARING, err);
    if (status != GGLD_OK)
        return status;
    status = complete_kvs(w, err);
    if (status == GGLD_OK)
        status = make_plan(w, err);
    const piece all = { true, 0, w->tensor_names.n };
    if (status == GGLD_OK && (bytes = encode(w, &all, &size, err)) == NULL)
        status = GGLD_E_NOMEM;
    if (status != GGLD_OK)
        return ggld_writer_abandon(w, status);
    w->state = GGLD_WRITER_FINISHED;
    *image = bytes;
    *image_bytes = size;
    return GGLD_OK;
}

void ggld_writer_leave_out(ggld_writer *w)
{
    w->hollow = true;
}
