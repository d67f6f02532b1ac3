/* SPDX-License-Identifier: MIT */
/* A model whose data is put, into shards. The writer's draft, opened as a file
 * without data, is what the plan is made of: it is the plan of a split, and
 * shards are what a split of the whole file would make of it. */
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "set.h"

struct ggld_set_writer {
    ggld_set set;
    ggld_split_plan *plan;
    ggld_file *draft;
    uint8_t *image; /* of it, by the model's allocator */
    char *prefix;
    ggld_allocator allocator; /* the model's */
    bool failed, sealed;
};

static ggld_status open_draft(ggld_set_writer *w, ggld_writer *model,
                              ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    uint64_t size = 0;

    ggld_status status = ggld_writer_draft(model, &w->image, &size, err);
    if (status != GGLD_OK)
        return status;
    options.flags = GGLD_OPEN_METADATA | GGLD_OPEN_SINGLE;
    options.allocator = &w->allocator;
    return ggld_open_memory(&w->draft, w->image, (size_t)size, &options, err);
}

static ggld_status copy_prefix(ggld_set_writer *w, const char *prefix,
                               ggld_error *err)
{
    size_t size = strlen(prefix) + 1;

    w->prefix = ggld_alloc_bytes(&w->allocator, size);
    if (w->prefix == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the shards' paths");
    memcpy(w->prefix, prefix, size);
    return GGLD_OK;
}

/* Shards that wait for no data are written, and the next is begun: afterwards
 * there is one that waits, or the last is there. */
static ggld_status advance(ggld_set_writer *w, ggld_error *err)
{
    ggld_set *s = &w->set;
    ggld_status status = GGLD_OK;

    while (status == GGLD_OK && s->part->current == s->part->tensor_names.n &&
           s->no + 1 < w->plan->n_parts) {
        status = ggld_set_end_part(s, err);
        if (status == GGLD_OK)
            status = ggld_set_begin_part(s, err);
    }
    return status;
}

static ggld_status begin(ggld_set_writer *w, ggld_writer *model,
                         const char *prefix, const ggld_split_options *options,
                         ggld_error *err)
{
    ggld_status status = open_draft(w, model, err);
    if (status == GGLD_OK)
        status = ggld_split_plan_new(&w->plan, w->draft, options, err);
    if (status == GGLD_OK)
        status = copy_prefix(w, prefix, err);
    if (status != GGLD_OK)
        return status;
    ggld_set s = { .plan = w->plan,
                   .prefix = w->prefix,
                   .model = model,
                   .meter = { .call = model->progress,
                              .user = model->progress_user,
                              .total_bytes = model->copy_bytes } };
    w->set = s;
    status = ggld_set_open(&w->set, err);
    if (status == GGLD_OK)
        status = ggld_set_begin_part(&w->set, err);
    return status == GGLD_OK ? advance(w, err) : status;
}

ggld_status ggld_set_writer_begin(ggld_set_writer **out, ggld_writer *model,
                                  const char *prefix,
                                  const ggld_split_options *options,
                                  ggld_error *err)
{
    ggld_status status = ggld_writer_expect(model, GGLD_WRITER_DECLARING, err);
    if (status != GGLD_OK)
        return status;
    if (prefix == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the prefix is NULL");
    ggld_set_writer *w = ggld_alloc(&model->allocator, 1, sizeof *w);
    if (w == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a writer of shards");
    w->allocator = model->allocator;
    status = begin(w, model, prefix, options, err);
    if (status == GGLD_OK) {
        *out = w;
        return GGLD_OK;
    }
    ggld_set_writer_free(w);
    return ggld_writer_abandon(model, status);
}

void ggld_set_writer_free(ggld_set_writer *w)
{
    if (w == NULL)
        return;
    ggld_allocator allocator = w->allocator;
    if (w->set.path != NULL)
        ggld_set_close(&w->set);
    ggld_split_plan_free(w->plan);
    ggld_close(w->draft);
    ggld_free(&allocator, w->image);
    ggld_free(&allocator, w->prefix);
    ggld_free(&allocator, w);
}

const ggld_split_plan *ggld_set_writer_plan(const ggld_set_writer *w)
{
    return w->plan;
}

static ggld_status expect(const ggld_set_writer *w, bool sealed,
                          ggld_error *err)
{
    if (w == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the writer is NULL");
    if (w->failed || w->sealed != sealed)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "writer: %s",
                         w->failed   ? "a call has failed, or it has finished: "
                                       "free it and make a new one"
                         : w->sealed ? "it is sealed: finish or free it"
                                     : "it is not sealed");
    return GGLD_OK;
}

static ggld_status put_bytes(ggld_set_writer *w, const uint8_t *data,
                             size_t size, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    while (size > 0 && status == GGLD_OK) {
        ggld_writer *part = w->set.part;
        size_t n = size;
        if (part->current < part->tensor_names.n)
            n = (size_t)ggld_min_u64(n,
                                     part->tensors[part->current].size_bytes -
                                         part->current_bytes);
        status = ggld_writer_put_bytes(part, data, n, err);
        if (status == GGLD_OK)
            status = advance(w, err);
        data += n;
        size -= n;
    }
    return status;
}

ggld_status ggld_set_writer_put_bytes(ggld_set_writer *w, const void *data,
                                      size_t size, ggld_error *err)
{
    ggld_status status = expect(w, false, err);
    if (status != GGLD_OK || size == 0)
        return status;
    status = data != NULL ? put_bytes(w, data, size, err)
                          : ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                                      "the data of %zu bytes is NULL", size);
    w->failed = status != GGLD_OK;
    return status;
}

ggld_status ggld_set_writer_seal(ggld_set_writer *w, ggld_error *err)
{
    ggld_status status = expect(w, false, err);
    if (status != GGLD_OK)
        return status;
    /* A shard that is not the last waits for data, and that is refused: only
     * the last can be ended here. */
    status = ggld_set_end_part(&w->set, err);
    w->failed = status != GGLD_OK;
    w->sealed = status == GGLD_OK;
    return status;
}

ggld_status ggld_set_writer_finish(ggld_set_writer *w, ggld_error *err)
{
    ggld_status status = expect(w, true, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_set_publish(&w->set, err);
    w->failed = true; /* nothing but free is left */
    return status;
}
