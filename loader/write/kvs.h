/* SPDX-License-Identifier: MIT */
/* The key-values of a file to be written, in order, their values encoded. */
#ifndef GGLD_WRITE_KVS_H
#define GGLD_WRITE_KVS_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/types.h>

#include "names.h"

/* One block of memory, with the key's and the value's bytes behind it. */
typedef struct ggld_kv_entry {
    ggld_string key;
    uint32_t type;
    uint8_t *value;
    uint64_t value_bytes;
} ggld_kv_entry;

typedef struct ggld_kvs {
    ggld_name_list keys; /* records are key and entry */
} ggld_kvs;

/* i is below keys.n. */
const ggld_kv_entry *ggld_kvs_at(const ggld_kvs *kvs, uint32_t i);

/* An entry with the key copied and room for the value, all of which is to be
 * filled. NULL where there is no memory. */
ggld_kv_entry *ggld_kv_entry_new(const ggld_allocator *a, ggld_string key,
                                 uint32_t type, uint64_t value_bytes);
/* Behind the others, or in the place of the entry with that key. true: the
 * entry is the list's. false, no memory: list and entry are as they were. */
bool ggld_kvs_put(ggld_kvs *kvs, const ggld_allocator *a, ggld_kv_entry *entry);
void ggld_kvs_free(ggld_kvs *kvs, const ggld_allocator *a);

#endif /* GGLD_WRITE_KVS_H */
