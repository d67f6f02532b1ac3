/* SPDX-License-Identifier: MIT */
/* ggld_export(): options judged, a plan made, chunks converted on all threads
 * and put in order. */
#include <ggld/export.h>

#include <inttypes.h>
#include <string.h>

#include <ggld/ordered.h>

#include "../base/quote.h"
#include "../base/structs.h"
#include "convert.h"
#include "output.h"

static const ggld_output_format *const formats[] = {
    &ggld_output_gguf, /* where nothing else is meant */
    &ggld_output_safetensors,
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

#define KNOWN_FLAGS                                   \
    (GGLD_EXPORT_PURE | GGLD_EXPORT_ALLOW_NONFINITE | \
     GGLD_EXPORT_REPLACE_SHARDS | GGLD_EXPORT_KEEP_TYPES)

/* ---- options ---- */

static ggld_status fail_invalid(ggld_error *err, const char *what)
{
    return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "%s", what);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const ggld_output_format *choose_output(uint32_t format,
                                               const char *path)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (format == GGLD_EXPORT_BY_NAME ? ends_with(path, formats[i]->suffix)
                                          : format == formats[i]->format)
            return formats[i];
    return format == GGLD_EXPORT_BY_NAME ? formats[0] : NULL;
}

static ggld_status check_type(const ggld_export_plan *p, uint32_t type,
                              ggld_error *err)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);

    if (p->output->takes(type))
        return GGLD_OK;
    if (traits == NULL)
        return ggld_fail(err, GGLD_E_TENSOR_TYPE, ggld_nowhere(),
                         "type %" PRIu32 " is unknown", type);
    return ggld_fail(err, GGLD_E_TENSOR_TYPE, ggld_nowhere(),
                     "type %s can't be written to %s", traits->name,
                     p->output->suffix + 1);
}

static ggld_status check_keeps(const ggld_export_plan *p, ggld_error *err)
{
    const ggld_export_options *o = &p->options;
    ggld_status status = GGLD_OK;

    if (o->n_keeps != 0 && o->keeps == NULL)
        return fail_invalid(err, "ggld_export_options: keeps is NULL");
    for (size_t i = 0; i < o->n_keeps && status == GGLD_OK; i++) {
        if (o->keeps[i].glob == NULL || o->keeps[i].reserved != 0)
            return fail_invalid(err, "ggld_export_options: a keep without a "
                                     "pattern, or a reserved field not zero");
        status = check_type(p, o->keeps[i].type, err);
    }
    return status;
}

static ggld_status check_skips(const ggld_export_options *o, ggld_error *err)
{
    if (o->n_skips != 0 && o->skips == NULL)
        return fail_invalid(err, "ggld_export_options: skips is NULL");
    for (size_t i = 0; i < o->n_skips; i++)
        if (o->skips[i] == NULL)
            return fail_invalid(err, "ggld_export_options: a skip is NULL");
    return GGLD_OK;
}

static ggld_status check_options(ggld_export_plan *p, const char *path,
                                 ggld_error *err)
{
    const ggld_export_options *o = &p->options;

    if (!ggld_all_zero(o->reserved, sizeof o->reserved) ||
        (o->flags & ~KNOWN_FLAGS) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_export_options: a flag that is not known, or a "
                         "reserved field that is not zero");
    p->output = choose_output(o->format, path);
    if (p->output == NULL)
        return fail_invalid(err, "ggld_export_options: format is unknown");
    if (o->n_renames != 0 && o->renames == NULL)
        return fail_invalid(err, "ggld_export_options: renames is NULL");
    if (p->output != &ggld_output_gguf &&
        (o->architecture != NULL || o->name != NULL ||
         o->set_metadata != NULL || o->max_shard_bytes != 0 ||
         (o->flags & GGLD_EXPORT_PURE) != 0))
        return fail_invalid(err, "architecture, name, key-values, pure and "
                                 "shards are for GGUF output only");
    if (o->architecture != NULL && o->architecture[0] == '\0')
        return fail_invalid(err, "the architecture is empty");
    ggld_status status = check_type(p, o->type, err);
    if (status == GGLD_OK)
        status = check_skips(o, err);
    return status == GGLD_OK ? check_keeps(p, err) : status;
}

static ggld_status take_options(ggld_export_plan *p, const char *path,
                                const ggld_export_options *options,
                                ggld_error *err)
{
    p->options = ggld_export_options_init();
    if (options != NULL) {
        ggld_status status =
            ggld_struct_take("ggld_export_options", options,
                             offsetof(ggld_export_options, max_shard_bytes),
                             &p->options, sizeof p->options, err);
        if (status != GGLD_OK)
            return status;
    }
    return check_options(p, path, err);
}

/* ---- data ---- */

/* On any thread. */
static ggld_status work(void *user, uint64_t item, void *slot, ggld_error *err)
{
    const ggld_export_plan *p = user;
    ggld_planned_chunk c = ggld_plan_chunk(p, item);

    return ggld_convert_chunk(p, &c, slot, err);
}

static ggld_status take(void *user, uint64_t item, void *memory,
                        ggld_error *err)
{
    ggld_export_plan *p = user;
    const ggld_convert_slot *slot = memory;
    ggld_planned_chunk c = ggld_plan_chunk(p, item);

    ggld_status status = p->output->put(p, slot->bytes, slot->size_bytes, err);
    if (status != GGLD_OK)
        return status;
    p->done_bytes += ggld_stored_bytes(c.tensor, c.n_elems);
    return ggld_plan_progress(p, err);
}

static ggld_status put_tensors(ggld_export_plan *p, ggld_error *err)
{
    ggld_ordered o = ggld_ordered_init();

    o.n_items = p->n_chunks;
    o.slot_bytes = sizeof(ggld_convert_slot);
    o.n_threads = p->options.n_threads;
    o.user = p;
    o.work = work;
    o.take = take;
    return ggld_ordered_run(&o, err);
}

/* Bringing it all to disk may take long: whoever wanted to end it meanwhile is
 * heard before the old file goes, and an input that changed is seen. */
static ggld_status write_model(ggld_export_plan *p, const char *path,
                               ggld_error *err)
{
    ggld_status status = p->output->begin(p, path, err);

    if (status == GGLD_OK)
        status = put_tensors(p, err);
    if (status == GGLD_OK)
        status = p->output->seal(p, err);
    if (status == GGLD_OK)
        status = ggld_source_unchanged(p->source, err);
    if (status == GGLD_OK)
        status = ggld_plan_progress(p, err);
    if (status == GGLD_OK)
        status = p->output->finish(p, err);
    p->output->free(p);
    return status;
}

ggld_status ggld_export(const ggld_export_source *source, const char *path,
                        const ggld_export_options *options, ggld_error *err)
{
    ggld_export_plan p = { .source = source };

    if (source == NULL || path == NULL)
        return fail_invalid(err, "the source or the path is NULL");
    ggld_status status = take_options(&p, path, options, err);
    if (status != GGLD_OK)
        return status;
    /* Of shards, each is looked at. */
    if (p.options.max_shard_bytes == 0 && ggld_export_source_has(source, path))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "output %s is the input: give it another name",
                         ggld_quote(path, strlen(path)).text);
    if (source->remark[0] != '\0')
        ggld_plan_note(&p, "%s", source->remark);
    status = ggld_plan_make_export(&p, err);
    if (status != GGLD_OK)
        return status;
    status = write_model(&p, path, err);
    ggld_plan_free_export(&p);
    return status;
}
