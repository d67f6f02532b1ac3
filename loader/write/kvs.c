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

static bool reserve_entry(ggld_kvs *kvs, const ggld_allocator *a)
{
    if (!ggld_name_list_reserve(&kvs->keys, a))
        return false;
    if (kvs->cap == kvs->keys.cap)
        return true;
    /* An array of pointers. NOLINTBEGIN(bugprone-sizeof-expression) */
    ggld_kv_entry **entries = ggld_grow(a, kvs->entries, kvs->keys.n,
                                        kvs->keys.cap, sizeof *kvs->entries);
    /* NOLINTEND(bugprone-sizeof-expression) */
    if (entries == NULL)
        return false;
    kvs->entries = entries;
    kvs->cap = kvs->keys.cap;
    return true;
}

bool ggld_kvs_put(ggld_kvs *kvs, const ggld_allocator *a, ggld_kv_entry *entry)
{
    uint32_t i = ggld_name_list_find(&kvs->keys, entry->key);
    if (i != GGLD_INDEX_NONE) {
        kvs->keys.names[i] = entry->key;
        ggld_free(a, kvs->entries[i]);
        kvs->entries[i] = entry;
        return true;
    }
    if (!reserve_entry(kvs, a))
        return false;
    kvs->entries[kvs->keys.n] = entry;
    ggld_name_list_add(&kvs->keys, entry->key);
    return true;
}

void ggld_kvs_free(ggld_kvs *kvs, const ggld_allocator *a)
{
    for (uint32_t i = 0; i < kvs->keys.n; i++)
        ggld_free(a, kvs->entries[i]);
    ggld_free(a, kvs->entries);
    ggld_name_list_free(&kvs->keys, a);
    memset(kvs, 0, sizeof *kvs);
}
