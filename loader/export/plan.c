/* SPDX-License-Identifier: MIT */
/* See plan.h. Everything that can be refused before anything is written is
 * refused here. */
#include "plan.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/quote.h"
#include "output.h"
#include "rename.h"

bool ggld_is_integer(uint32_t type)
{
    return type >= GGLD_TYPE_I8 && type <= GGLD_TYPE_I64;
}

bool ggld_is_float(uint32_t type)
{
    return type == GGLD_TYPE_F32 || type == GGLD_TYPE_F16 ||
           type == GGLD_TYPE_BF16 || type == GGLD_TYPE_F64;
}

uint64_t ggld_bytes_of(uint32_t type, uint64_t n_elems)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    return n_elems / traits->block_elems * traits->block_bytes;
}

/* What GGUF has no type for, and can be read, has 8 bits. */
uint64_t ggld_stored_bytes(const ggld_source_tensor *t, uint64_t n_elems)
{
    return t->type == GGLD_NO_TYPE ? n_elems : ggld_bytes_of(t->type, n_elems);
}

void ggld_plan_note(const ggld_export_plan *p, const char *format, ...)
{
    char text[GGLD_MESSAGE_MAX];
    va_list list;

    if (p->options.note == NULL)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->options.note(text, p->options.user);
}

ggld_status ggld_plan_progress(const ggld_export_plan *p, ggld_error *err)
{
    const ggld_export_options *o = &p->options;

    if (o->progress == NULL ||
        o->progress(p->done_bytes, p->total_bytes, o->user) == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "cancelled after %" PRIu64 " of %" PRIu64 " bytes",
                     p->done_bytes, p->total_bytes);
}

/* ---- types ---- */

static ggld_place in_table(uint64_t tensor)
{
    return ggld_place_of(GGLD_IN_TENSOR_INFO, tensor, 0);
}

/* All or nothing: a tensor that can't be read is found before writing. */
static ggld_status check_readable(const ggld_export_plan *p, uint64_t i,
                                  ggld_error *err)
{
    const ggld_source_tensor *t = &p->source->tensors[i];
    ggld_quoted name = ggld_quote(t->name.data, t->name.len);

    if (t->readable)
        return GGLD_OK;
    if (t->type_name == NULL)
        return ggld_fail(err, GGLD_E_TENSOR_TYPE, in_table(i),
                         "tensor %" PRIu64 " %s is of type %" PRIu32
                         ", which can't be read",
                         i, name.text, t->type);
    if (t->type != GGLD_NO_TYPE)
        return ggld_fail(err, GGLD_E_TENSOR_TYPE, in_table(i),
                         "tensor %" PRIu64 " %s is of %s, which can't be read",
                         i, name.text, t->type_name);
    return ggld_fail(err, GGLD_E_TENSOR_TYPE, in_table(i),
                     "tensor %" PRIu64 " %s is of %s, for which GGUF has no "
                     "type",
                     i, name.text, t->type_name);
}

/* A name that is longer fits nothing. */
static bool fits(const char *glob, ggld_string name)
{
    char text[1024];

    if (name.len >= sizeof text)
        return false;
    memcpy(text, name.data, (size_t)name.len);
    text[name.len] = '\0';
    return fnmatch(glob, text, 0) == 0;
}

/* The first pattern that fits; n_keeps where none does. */
static size_t find_keep(const ggld_export_options *o, ggld_string name)
{
    size_t i = 0;

    while (i < o->n_keeps && !fits(o->keeps[i].glob, name))
        i++;
    return i;
}

static ggld_status check_rows(uint64_t i, const ggld_source_tensor *t,
                              uint32_t type, ggld_error *err)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);

    if (t->dims[0] % traits->block_elems == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_SHAPE, in_table(i),
                     "tensor %" PRIu64 " %s: rows of %" PRIu64
                     " elements are no whole blocks of %s, which have %" PRIu32,
                     i, ggld_quote(t->name.data, t->name.len).text, t->dims[0],
                     traits->name, traits->block_elems);
}

static ggld_status choose_type(const ggld_export_plan *p, ggld_planned *out,
                               bool *used, ggld_error *err)
{
    const ggld_source_tensor *t = &p->source->tensors[out->tensor];
    size_t keep = find_keep(&p->options, out->name);

    out->type = ggld_is_integer(t->type) ? t->type : p->output->choose(p, t);
    if (keep == p->options.n_keeps)
        return GGLD_OK;
    used[keep] = true;
    if (ggld_is_integer(t->type))
        return GGLD_OK;
    out->type = p->options.keeps[keep].type;
    return check_rows(out->tensor, t, out->type, err);
}

static ggld_status fail_unused(const char *what, const char *glob,
                               const char *why, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "%s %s: %s", what,
                     ggld_quote(glob, strlen(glob)).text, why);
}

static ggld_status check_keeps(const ggld_export_plan *p, const bool *used,
                               ggld_error *err)
{
    for (size_t i = 0; i < p->options.n_keeps; i++)
        if (!used[i])
            return fail_unused("keep", p->options.keeps[i].glob,
                               "no tensor has such a name, or earlier ones "
                               "take all that have",
                               err);
    return GGLD_OK;
}

/* ---- which tensors ---- */

static bool is_skipped(const ggld_export_options *o, ggld_string name)
{
    for (size_t i = 0; i < o->n_skips; i++)
        if (fits(o->skips[i], name))
            return true;
    return false;
}

static ggld_status check_skips(const ggld_export_plan *p, ggld_error *err)
{
    const ggld_export_source *s = p->source;

    for (size_t i = 0; i < p->options.n_skips; i++) {
        uint64_t k = 0;
        while (k < s->n_tensors &&
               !fits(p->options.skips[i], s->tensors[k].name))
            k++;
        if (k == s->n_tensors)
            return fail_unused("skip", p->options.skips[i],
                               "no tensor has such a name", err);
    }
    return GGLD_OK;
}

/* In the source's order, those that are not left out. */
static ggld_status list_tensors(ggld_export_plan *p, ggld_error *err)
{
    const ggld_export_source *s = p->source;
    ggld_status status = check_skips(p, err);

    for (uint64_t i = 0; i < s->n_tensors && status == GGLD_OK; i++) {
        if (is_skipped(&p->options, s->tensors[i].name))
            continue;
        p->tensors[p->n_tensors].tensor = i;
        p->tensors[p->n_tensors++].name = s->tensors[i].name;
        status = check_readable(p, i, err);
    }
    return status;
}

/* ---- chunks ---- */

static void count_chunks(ggld_export_plan *p)
{
    for (uint64_t i = 0; i < p->n_tensors; i++) {
        ggld_planned *planned = &p->tensors[i];
        const ggld_source_tensor *t = &p->source->tensors[planned->tensor];
        if (planned->fed) {
            const uint64_t n_elems = ggld_source_elems(t);
            p->n_chunks += n_elems / GGLD_CHUNK_ELEMS;
            p->n_chunks += n_elems % GGLD_CHUNK_ELEMS != 0;
            p->total_bytes += t->size_bytes;
        }
        planned->end = p->n_chunks;
    }
}

/* Of the first tensor whose end is past the number. */
ggld_planned_chunk ggld_plan_chunk(const ggld_export_plan *p, uint64_t number)
{
    uint64_t low = 0, high = p->n_tensors;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (p->tensors[middle].end > number)
            high = middle;
        else
            low = middle + 1;
    }
    const ggld_planned *planned = &p->tensors[low];
    uint64_t first = number - (low > 0 ? planned[-1].end : 0);
    ggld_planned_chunk c = { planned, &p->source->tensors[planned->tensor],
                             first * GGLD_CHUNK_ELEMS, GGLD_CHUNK_ELEMS };
    const uint64_t left = ggld_source_elems(c.tensor) - c.first_elem;
    if (c.n_elems > left)
        c.n_elems = left;
    return c;
}

/* ---- all of it ---- */

static ggld_status plan_tensors(ggld_export_plan *p, bool *used,
                                ggld_error *err)
{
    ggld_status status = list_tensors(p, err);

    if (status == GGLD_OK)
        status = ggld_rename_tensors(p, err);
    for (uint64_t i = 0; i < p->n_tensors && status == GGLD_OK; i++)
        status = choose_type(p, &p->tensors[i], used, err);
    if (status == GGLD_OK)
        status = check_keeps(p, used, err);
    return status == GGLD_OK ? p->output->arrange(p, err) : status;
}

ggld_status ggld_plan_make_export(ggld_export_plan *p, ggld_error *err)
{
    bool *used = calloc(p->options.n_keeps + 1, sizeof *used);
    ggld_status status;

    p->tensors = calloc((size_t)p->source->n_tensors + 1, sizeof *p->tensors);
    if (p->tensors == NULL || used == NULL)
        status = ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                           "no memory for a list of tensors");
    else
        status = plan_tensors(p, used, err);
    if (status == GGLD_OK)
        count_chunks(p);
    else
        ggld_plan_free_export(p);
    free(used);
    return status;
}

void ggld_plan_free_export(ggld_export_plan *p)
{
    free(p->tensors);
    p->tensors = NULL;
}
