/* SPDX-License-Identifier: MIT */
/* Keeps entries. Judges neither keys nor values; whoever puts them does. */
#include "kvs.h"

#include <string.h>

#include "../base/checked.h"

ggld_kv_entry *ggld_kv_entry_new(const ggld_allocator *a, ggld_string key,
                                 uint32_t type, uint64_t value_bytes)
{
    uint64_t size;
    if (!ggld_add_u64(sizeof(ggld_kv_entry), key.len, &size) ||
        !ggld_add_u64(size, value_bytes, &size))
        return NULL;
    ggld_kv_entry *entry = ggld_alloc_bytes(a, size);
    if (entry == NULL)
        return NULL;
    char *key_copy = (char *)(entry + 1);
    memcpy(key_copy, key.data, (size_t)key.len);
    entry->key.data = key_copy;
    entry->key.len = key.len;
    entry->type = type;
    entry->value = (uint8_t *)key_copy + key.len;
    entry->value_bytes = value_bytes;
    return entry;
}

/* What the list holds. */
typedef struct row {
    ggld_string key; /* the entry's */
    ggld_kv_entry *entry;
} row;

static row *row_at(const ggld_kvs *kvs, uint32_t i)
{
    return (row *)kvs->keys.records + i;
}

const ggld_kv_entry *ggld_kvs_at(const ggld_kvs *kvs, uint32_t i)
{
    return row_at(kvs, i)->entry;
}

bool ggld_kvs_put(ggld_kvs *kvs, const ggld_allocator *a, ggld_kv_entry *entry)
{
    const row new_row = { entry->key, entry };
    uint32_t i = ggld_name_list_find(&kvs->keys, entry->key);
    if (i != GGLD_INDEX_NONE) {
        ggld_free(a, row_at(kvs, i)->entry);
        *row_at(kvs, i) = new_row;
        return true;
    }
    if (!ggld_name_list_reserve(&kvs->keys, a, sizeof new_row))
        return false;
    ggld_name_list_add(&kvs->keys, &new_row);
    return true;
}

void ggld_kvs_free(ggld_kvs *kvs, const ggld_allocator *a)
{
    for (uint32_t i = 0; i < kvs->keys.n; i++)
        ggld_free(a, row_at(kvs, i)->entry);
    ggld_name_list_free(&kvs->keys, a);
}
