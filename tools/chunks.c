/* SPDX-License-Identifier: MIT */
/* See chunks.h. */
#include "chunks.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

int chunks_make(chunks *c, const model *m, uint64_t most_elems,
                bool (*wanted)(const void *user, const ggld_tensor_info *info),
                const void *user)
{
    memset(c, 0, sizeof *c);
    c->m = m;
    c->most_elems = most_elems;
    c->n_tensors = ggld_tensor_count(m->file);
    c->end = calloc(c->n_tensors + 1, sizeof *c->end);
    if (c->end == NULL)
        return report(m->path, "no memory for a list of tensors");
    for (uint64_t i = 0; i < c->n_tensors; i++) {
        ggld_tensor_info info = model_tensor(m, i);
        if (wanted(user, &info)) {
            c->n += info.n_elems / most_elems;
            c->n += info.n_elems % most_elems != 0;
            c->n_elems += info.n_elems;
            c->size_bytes += info.size_bytes;
        }
        c->end[i] = c->n;
    }
    return STATUS_GOOD;
}

void chunks_free(chunks *c)
{
    free(c->end);
}

/* The first tensor whose end is past the number. */
static uint64_t tensor_of(const chunks *c, uint64_t number)
{
    uint64_t low = 0, high = c->n_tensors;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (c->end[middle] > number)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

chunk chunks_at(const chunks *c, uint64_t number)
{
    uint64_t i = tensor_of(c, number);
    uint64_t first = number - (i > 0 ? c->end[i - 1] : 0);
    chunk out = { .tensor = ggld_tensor_at(c->m->file, i) };

    out.info = model_tensor_info(out.tensor);
    out.first_elem = first * c->most_elems;
    out.n_elems = out.info.n_elems - out.first_elem;
    out.last = out.n_elems <= c->most_elems;
    if (!out.last)
        out.n_elems = c->most_elems;
    return out;
}
