/* SPDX-License-Identifier: MIT */
/* A growing list over base's index, which is made anew each time the list
 * doubles. */
#include "names.h"

#include <string.h>

#include "../base/checked.h"

#define FIRST_CAP 16

static ggld_names names_of(const void *records, size_t record_bytes)
{
    ggld_names view = { records, record_bytes };
    return view;
}

uint32_t ggld_name_list_find(const ggld_name_list *list, ggld_string name)
{
    if (list->n == 0)
        return GGLD_INDEX_NONE;
    return ggld_index_find(list->index,
                           names_of(list->records, list->record_bytes),
                           name.data, name.len);
}

bool ggld_name_list_reserve(ggld_name_list *list, const ggld_allocator *a,
                            size_t record_bytes)
{
    uint64_t bytes;

    if (list->n < list->cap)
        return true;
    if (list->cap > GGLD_INDEX_MAX / 2)
        return false;
    uint32_t cap = list->cap == 0 ? FIRST_CAP : 2 * list->cap;
    if (!ggld_mul_u64(cap, record_bytes, &bytes))
        return false;
    ggld_index *index = ggld_index_new(a, cap);
    if (index == NULL)
        return false;
    void *records =
        ggld_grow_bytes(a, list->records, list->n * record_bytes, bytes);
    if (records == NULL) {
        ggld_free(a, index);
        return false;
    }
    for (uint32_t i = 0; i < list->n; i++)
        ggld_index_insert(index, names_of(records, record_bytes), i);
    ggld_free(a, list->index);
    list->records = records;
    list->record_bytes = record_bytes;
    list->index = index;
    list->cap = cap;
    return true;
}

void ggld_name_list_add(ggld_name_list *list, const void *record)
{
    memcpy((char *)list->records + list->n * list->record_bytes, record,
           list->record_bytes);
    ggld_index_insert(list->index, names_of(list->records, list->record_bytes),
                      list->n);
    list->n++;
}

void ggld_name_list_close(ggld_name_list *list, const ggld_allocator *a)
{
    ggld_free(a, list->index);
    list->index = NULL;
}

void ggld_name_list_free(ggld_name_list *list, const ggld_allocator *a)
{
    ggld_free(a, list->records);
    ggld_name_list_close(list, a);
    memset(list, 0, sizeof *list);
}
