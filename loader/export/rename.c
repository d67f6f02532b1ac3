/* SPDX-License-Identifier: MIT */
/* See rename.h. */
#include "rename.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/index.h"
#include "../base/quote.h"

/* The table, by its first column. */
typedef struct table {
    ggld_string *from;
    bool *used;
    ggld_index *index;
} table;

static ggld_names names_of(const table *t)
{
    ggld_names names = { t->from, sizeof *t->from };
    return names;
}

static ggld_status fill_table(table *t, const ggld_export_options *o,
                              ggld_error *err)
{
    for (size_t i = 0; i < o->n_renames; i++) {
        const char *from = o->renames[i].from;
        if (from == NULL || o->renames[i].to == NULL)
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "rename %zu: a name is NULL", i);
        t->from[i].data = from;
        t->from[i].len = strlen(from);
        if (ggld_index_insert(t->index, names_of(t), (uint32_t)i) != i)
            return ggld_fail(err, GGLD_E_DUPLICATE, ggld_nowhere(),
                             "rename %s: it is there twice",
                             ggld_quote(from, strlen(from)).text);
    }
    return GGLD_OK;
}

static void apply_table(const table *t, ggld_export_plan *p)
{
    const ggld_export_rename *renames = p->options.renames;

    for (uint64_t i = 0; i < p->n_tensors; i++) {
        ggld_string *name = &p->tensors[i].name;
        uint32_t found =
            ggld_index_find(t->index, names_of(t), name->data, name->len);
        if (found == GGLD_INDEX_NONE)
            continue;
        t->used[found] = true;
        name->data = renames[found].to;
        name->len = strlen(renames[found].to);
    }
}

static void note_unused(const table *t, const ggld_export_plan *p)
{
    size_t n = p->options.n_renames, n_unused = 0, first = n;

    for (size_t i = n; i-- > 0;) {
        if (t->used[i])
            continue;
        n_unused++;
        first = i;
    }
    if (n_unused != 0)
        ggld_plan_note(
            p, "%zu of %zu names to be changed are not there, as %s", n_unused,
            n, ggld_quote(t->from[first].data, t->from[first].len).text);
}

ggld_status ggld_rename_tensors(ggld_export_plan *p, ggld_error *err)
{
    const ggld_allocator allocator = ggld_allocator_of(NULL);
    size_t n = p->options.n_renames;
    table t = { 0 };
    ggld_status status = GGLD_OK;

    if (n == 0)
        return GGLD_OK;
    t.from = calloc(n, sizeof *t.from);
    t.used = calloc(n, sizeof *t.used);
    t.index = n < GGLD_INDEX_MAX ? ggld_index_new(&allocator, n) : NULL;
    if (t.from == NULL || t.used == NULL || t.index == NULL)
        status = ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                           "no memory for %zu names", n);
    if (status == GGLD_OK)
        status = fill_table(&t, &p->options, err);
    if (status == GGLD_OK) {
        apply_table(&t, p);
        note_unused(&t, p);
    }
    free(t.from);
    free(t.used);
    ggld_free(&allocator, t.index);
    return status;
}
