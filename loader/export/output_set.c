/* SPDX-License-Identifier: MIT */
/* See output_set.h. What goes into which shard, and how all are named at once,
 * is libggld's business. */
#include "output_set.h"

#include <stdlib.h>
#include <string.h>

#include <ggld/shards.h>

#include "../base/quote.h"

/* "-00002-of-00003.gguf" and a NUL. */
#define SUFFIX_BYTES 21

struct ggld_output_set {
    ggld_set_writer *writer;
    char *prefix;
    char *path; /* room for any shard's */
    size_t path_bytes;
};

static const char *path_of(const ggld_output_set *o, uint32_t no)
{
    ggld_shard_path(o->path, o->path_bytes, o->prefix, no,
                    ggld_split_plan_count(ggld_set_writer_plan(o->writer)));
    return o->path;
}

static ggld_status set_prefix(ggld_output_set *o, const char *path,
                              ggld_error *err)
{
    size_t len = strlen(path), end = strlen(ggld_output_gguf.suffix);

    o->path_bytes = len + SUFFIX_BYTES;
    o->prefix = strdup(path);
    o->path = malloc(o->path_bytes);
    if (o->prefix == NULL || o->path == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the shards' paths");
    if (len > end && strcmp(path + len - end, ggld_output_gguf.suffix) == 0)
        o->prefix[len - end] = '\0';
    return GGLD_OK;
}

/* Nothing has its name yet. */
static ggld_status check_paths(const ggld_output_set *o,
                               const ggld_export_plan *p, ggld_error *err)
{
    uint32_t n = ggld_split_plan_count(ggld_set_writer_plan(o->writer));

    for (uint32_t i = 0; i < n; i++)
        if (ggld_export_source_has(p->source, path_of(o, i)))
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "output %s is the input: give it another name",
                             ggld_quote(o->path, strlen(o->path)).text);
    return GGLD_OK;
}

ggld_status ggld_output_set_begin(ggld_output_set **out,
                                  const ggld_export_plan *p, ggld_writer *model,
                                  const char *path, ggld_error *err)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_output_set *o = calloc(1, sizeof *o);

    if (o == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a set of shards");
    *out = o;
    options.max_bytes = p->options.max_shard_bytes;
    if ((p->options.flags & GGLD_EXPORT_REPLACE_SHARDS) != 0)
        options.flags |= GGLD_SPLIT_FORCE;
    ggld_status status = set_prefix(o, path, err);
    if (status == GGLD_OK)
        status =
            ggld_set_writer_begin(&o->writer, model, o->prefix, &options, err);
    return status == GGLD_OK ? check_paths(o, p, err) : status;
}

ggld_status ggld_output_set_put(ggld_output_set *o, const void *data,
                                size_t size, ggld_error *err)
{
    return ggld_set_writer_put_bytes(o->writer, data, size, err);
}

ggld_status ggld_output_set_seal(ggld_output_set *o, ggld_error *err)
{
    return ggld_set_writer_seal(o->writer, err);
}

ggld_status ggld_output_set_finish(ggld_output_set *o,
                                   const ggld_export_plan *p, ggld_error *err)
{
    const ggld_split_plan *plan = ggld_set_writer_plan(o->writer);

    ggld_status status = ggld_set_writer_finish(o->writer, err);
    if (status != GGLD_OK || p->options.shard == NULL)
        return status;
    for (uint32_t i = 0; i < ggld_split_plan_count(plan); i++) {
        ggld_split_shard shard = { .struct_size = sizeof shard };
        ggld_split_plan_get(plan, i, &shard);
        p->options.shard(path_of(o, i), shard.n_tensors, shard.file_bytes,
                         p->options.user);
    }
    return GGLD_OK;
}

void ggld_output_set_free(ggld_output_set *o)
{
    if (o == NULL)
        return;
    ggld_set_writer_free(o->writer);
    free(o->prefix);
    free(o->path);
    free(o);
}
