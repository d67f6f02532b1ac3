/* SPDX-License-Identifier: MIT */
/* A tensor's type and dimensions as two words: "q4_K 4096x32000". */
#include <inttypes.h>
#include <string.h>

#include "../base/checked.h"
#include "formats.h"

void ggld_shape_put(ggld_text *t, const ggld_shape *shape)
{
    const ggld_type_traits *traits = ggld_type_traits_of(shape->type);
    if (traits != NULL)
        ggld_text_put(t, traits->name, strlen(traits->name));
    else
        ggld_text_printf(t, "%" PRIu32, shape->type);
    if (shape->n_dims == 0)
        ggld_text_printf(t, " scalar");
    for (uint32_t i = 0; i < shape->n_dims; i++)
        ggld_text_printf(t, "%c%" PRIu64, i == 0 ? ' ' : 'x', shape->dims[i]);
}

/* By name where the type has one, so that it has one spelling. */
static bool type_take(ggld_word word, uint32_t *out)
{
    char name[16] = "";
    uint64_t number;
    uint32_t type;
    if (ggld_word_u64(word, &number)) {
        *out = (uint32_t)number;
        return number <= UINT32_MAX && ggld_type_traits_of(*out) == NULL;
    }
    memcpy(name, word.data, ggld_min_u64(word.len, sizeof name - 1));
    if (!ggld_type_from_name(name, &type) ||
        !ggld_word_is(word, ggld_type_traits_of(type)->name))
        return false;
    *out = type;
    return true;
}

static bool dims_take(ggld_word word, ggld_shape *shape)
{
    if (ggld_word_is(word, "scalar"))
        return true;
    if (word.len == 0 || word.data[word.len - 1] == 'x')
        return false;
    while (word.len != 0) {
        if (shape->n_dims == 4 || !ggld_word_u64(ggld_word_split(&word, 'x'),
                                                 &shape->dims[shape->n_dims++]))
            return false;
    }
    return true;
}

bool ggld_shape_take(ggld_word type, ggld_word dims, ggld_shape *out)
{
    ggld_shape shape = { 0, 0, { 1, 1, 1, 1 } };
    if (!type_take(type, &shape.type) || !dims_take(dims, &shape))
        return false;
    *out = shape;
    return true;
}
