/* SPDX-License-Identifier: MIT */
/* ggld_split_write: one writer after the other, then all names at once. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/error.h"
#include "../write/writer.h"
#include "publish.h"
#include "split_plan.h"
#include "take.h"

/* "-00002-of-00003.gguf" and a NUL. */
#define SUFFIX_BYTES 21

typedef struct split {
    const ggld_split_plan *plan;
    const char *prefix;
    char *path; /* room for any shard's */
    size_t path_bytes;
    ggld_publication out;
    ggld_meter meter;
} split;

size_t ggld_shard_path(char *dst, size_t dst_size, const char *prefix,
                       uint32_t no, uint32_t count)
{
    int n = snprintf(dst, dst_size, "%s-%05" PRIu64 "-of-%05" PRIu32 ".gguf",
                     prefix, (uint64_t)no + 1, count);
    return n > 0 ? (size_t)n : 0;
}

static const char *path_of(const split *s, uint32_t no)
{
    ggld_shard_path(s->path, s->path_bytes, s->prefix, no, s->plan->n_parts);
    return s->path;
}

static ggld_status name_all(split *s, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < s->plan->n_parts && status == GGLD_OK; i++) {
        status = ggld_publication_name(&s->out, i, path_of(s, i), err);
        if (status == GGLD_OK)
            status = ggld_take_other_path(s->plan->file, path_of(s, i), err);
    }
    return status;
}

static ggld_status set_split_keys(ggld_writer *w, const ggld_split_plan *p,
                                  uint32_t no, ggld_error *err)
{
    ggld_status status =
        ggld_writer_set_u16(w, GGLD_KEY_SPLIT_NO, (uint16_t)no, err);
    if (status == GGLD_OK)
        status = ggld_writer_set_u16(w, GGLD_KEY_SPLIT_COUNT,
                                     (uint16_t)p->n_parts, err);
    if (status == GGLD_OK)
        status = ggld_writer_set_i32(w, GGLD_KEY_SPLIT_TENSORS,
                                     (int32_t)ggld_tensor_count(p->file), err);
    return status;
}

static ggld_status declare_part(ggld_writer *w, const ggld_split_plan *p,
                                uint32_t no, ggld_error *err)
{
    const ggld_shard_part *part = &p->parts[no];
    ggld_status status = GGLD_OK;

    if (no == 0)
        status = ggld_take_kvs(w, p->file, true, err);
    if (status == GGLD_OK)
        status = set_split_keys(w, p, no, err);
    for (uint64_t i = 0; i < part->n_tensors && status == GGLD_OK; i++)
        status = ggld_writer_copy_tensor(
            w, ggld_tensor_at(p->file, part->first_tensor + i), err);
    return status;
}

static ggld_status write_part(split *s, uint32_t no, ggld_error *err)
{
    const ggld_split_plan *p = s->plan;
    ggld_writer_options options = ggld_writer_options_init();
    ggld_writer *w = NULL;

    options.alignment_bytes = p->alignment_bytes;
    options.flags = p->big_endian ? GGLD_WRITE_BIG_ENDIAN : 0;
    options.progress = ggld_meter_hear;
    options.progress_user = &s->meter;
    ggld_status status = ggld_writer_new(&w, &options, err);
    if (status == GGLD_OK)
        status = declare_part(w, p, no, err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, path_of(s, no), err);
    if (status == GGLD_OK)
        status = ggld_writer_seal(w, err);
    if (status == GGLD_OK)
        ggld_writer_hand_over(w, s->out.files[no].temp);
    ggld_writer_free(w);
    s->meter.base_bytes = s->meter.done_bytes;
    return status;
}

static ggld_status write_all(split *s, ggld_error *err)
{
    ggld_status status = name_all(s, err);
    for (uint32_t i = 0; i < s->plan->n_parts && status == GGLD_OK; i++)
        status = write_part(s, i, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(s->plan->file, err);
    if (status == GGLD_OK)
        status = ggld_publication_commit(&s->out, err);
    return status;
}

static ggld_status run(split *s, ggld_error *err)
{
    bool replace = (s->plan->options.flags & GGLD_SPLIT_FORCE) != 0;
    ggld_status status = ggld_publication_open(&s->out, path_of(s, 0),
                                               s->plan->n_parts, replace, err);
    if (status != GGLD_OK)
        return status;
    status = write_all(s, err);
    ggld_publication_close(&s->out);
    return status;
}

ggld_status ggld_split_write(const ggld_split_plan *plan, const char *prefix,
                             ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);

    if (plan == NULL || prefix == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "the %s is NULL",
                         plan == NULL ? "plan" : "prefix");
    split s = { .plan = plan,
                .prefix = prefix,
                .path_bytes = strlen(prefix) + SUFFIX_BYTES,
                .meter = { .call = plan->options.progress,
                           .user = plan->options.progress_user,
                           .total_bytes = ggld_take_bytes(plan->file) } };
    s.path = ggld_alloc_bytes(&heap, s.path_bytes);
    if (s.path == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the shards' paths");
    ggld_status status = run(&s, err);
    ggld_free(&heap, s.path);
    return status;
}
