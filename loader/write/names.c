/* SPDX-License-Identifier: MIT */
/* A growing list over base's index, which is made anew each time the list
 * doubles. */
#include "names.h"

#include <string.h>

#define FIRST_CAP 16

static ggld_names names_of(const ggld_string *names)
{
    ggld_names view = { names, sizeof *names };
    return view;
}

uint32_t ggld_name_list_find(const ggld_name_list *list, ggld_string name)
{
    if (list->n == 0)
        return GGLD_INDEX_NONE;
    return ggld_index_find(list->index, names_of(list->names), name.data,
                           name.len);
}

bool ggld_name_list_reserve(ggld_name_list *list, const ggld_allocator *a)
{
    if (list->n < list->cap)
        return true;
    if (list->cap > GGLD_INDEX_MAX / 2)
        return false;
    uint32_t cap = list->cap == 0 ? FIRST_CAP : 2 * list->cap;
    ggld_index *index = ggld_index_new(a, cap);
    if (index == NULL)
        return false;
    ggld_string *names = ggld_grow(a, list->names, list->n, cap, sizeof *names);
    if (names == NULL) {
        ggld_free(a, index);
        return false;
    }
    for (uint32_t i = 0; i < list->n; i++)
        ggld_index_insert(index, names_of(names), i);
    ggld_free(a, list->index);
    list->names = names;
    list->index = index;
    list->cap = cap;
    return true;
}

void ggld_name_list_add(ggld_name_list *list, ggld_string name)
{
    list->names[list->n] = name;
    ggld_index_insert(list->index, names_of(list->names), list->n);
    list->n++;
}

void ggld_name_list_free(ggld_name_list *list, const ggld_allocator *a)
{
    ggld_free(a, list->names);
    ggld_free(a, list->index);
    memset(list, 0, sizeof *list);
}
