/* SPDX-License-Identifier: MIT */
/* See set.h. What a shard holds, whoever its data comes from. */
#include "set.h"

#include <string.h>

#include "../base/error.h"
#include "take.h"

/* "-00002-of-00003.gguf" and a NUL. */
#define SUFFIX_BYTES 21

static const char *path_of(const ggld_set *s, uint32_t no)
{
    ggld_shard_path(s->path, s->path_bytes, s->prefix, no, s->plan->n_parts);
    return s->path;
}

static ggld_status name_all(ggld_set *s, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < s->plan->n_parts && status == GGLD_OK; i++) {
        /* First, as nobody is to be told to remove the input. */
        status = ggld_take_other_path(s->plan->file, path_of(s, i), err);
        if (status == GGLD_OK)
            status = ggld_publication_name(&s->out, i, path_of(s, i), err);
    }
    return status;
}

ggld_status ggld_set_open(ggld_set *s, ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);
    bool replace = (s->plan->options.flags & GGLD_SPLIT_FORCE) != 0;

    s->part = NULL;
    s->no = 0;
    s->path_bytes = strlen(s->prefix) + SUFFIX_BYTES;
    s->path = ggld_alloc_bytes(&heap, s->path_bytes);
    if (s->path == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the shards' paths");
    ggld_status status = ggld_publication_open(&s->out, path_of(s, 0),
                                               s->plan->n_parts, replace, err);
    if (status != GGLD_OK) {
        ggld_free(&heap, s->path);
        s->path = NULL;
        return status;
    }
    status = name_all(s, err);
    if (status != GGLD_OK)
        ggld_set_close(s);
    return status;
}

static ggld_status set_split_keys(const ggld_set *s, ggld_error *err)
{
    const ggld_split_plan *p = s->plan;

    ggld_status status =
        ggld_writer_set_u16(s->part, GGLD_KEY_SPLIT_NO, (uint16_t)s->no, err);
    if (status == GGLD_OK)
        status = ggld_writer_set_u16(s->part, GGLD_KEY_SPLIT_COUNT,
                                     (uint16_t)p->n_parts, err);
    if (status == GGLD_OK)
        status = ggld_writer_set_i32(s->part, GGLD_KEY_SPLIT_TENSORS,
                                     (int32_t)ggld_tensor_count(p->file), err);
    return status;
}

static ggld_status declare_part(const ggld_set *s, ggld_error *err)
{
    const ggld_split_plan *p = s->plan;
    const ggld_shard_part *part = &p->parts[s->no];
    ggld_status status = GGLD_OK;

    if (s->no == 0)
        status = ggld_take_kvs(s->part, p->file, true, err);
    if (status == GGLD_OK)
        status = set_split_keys(s, err);
    for (uint64_t i = part->first_tensor;
         i < part->first_tensor + part->n_tensors && status == GGLD_OK; i++)
        status =
            s->model != NULL
                ? ggld_writer_add_tensor(s->part, &s->model->tensors[i], err)
                : ggld_writer_copy_tensor(s->part, ggld_tensor_at(p->file, i),
                                          err);
    return status;
}

ggld_status ggld_set_begin_part(ggld_set *s, ggld_error *err)
{
    const ggld_split_plan *p = s->plan;
    ggld_writer_options options = ggld_writer_options_init();

    options.alignment_bytes = p->alignment_bytes;
    options.flags = p->big_endian ? GGLD_WRITE_BIG_ENDIAN : 0;
    if (s->model != NULL)
        options.flags |= s->model->flags & GGLD_WRITE_SPARSE;
    options.progress = ggld_meter_hear;
    options.progress_user = &s->meter;
    ggld_status status = ggld_writer_new(&s->part, &options, err);
    if (status == GGLD_OK)
        status = declare_part(s, err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(s->part, path_of(s, s->no), err);
    return status;
}

ggld_status ggld_set_end_part(ggld_set *s, ggld_error *err)
{
    ggld_status status = ggld_writer_seal(s->part, err);
    if (status != GGLD_OK)
        return status;
    int lock_fd = ggld_writer_hand_over(s->part, s->out.files[s->no].temp);
    ggld_publication_hold(&s->out, s->no, lock_fd);
    ggld_writer_free(s->part);
    s->part = NULL;
    s->no++;
    s->meter.base_bytes = s->meter.done_bytes;
    return GGLD_OK;
}

ggld_status ggld_set_publish(ggld_set *s, ggld_error *err)
{
    return ggld_publication_commit(&s->out, err);
}

void ggld_set_close(ggld_set *s)
{
    ggld_allocator heap = ggld_allocator_of(NULL);

    ggld_writer_free(s->part);
    s->part = NULL;
    ggld_publication_close(&s->out);
    ggld_free(&heap, s->path);
    s->path = NULL;
}
