/* SPDX-License-Identifier: MIT */
/* Records with names, in the order they came in, and from a name to its
 * number. The names' bytes are the caller's and stay where they are. */
#ifndef GGLD_WRITE_NAMES_H
#define GGLD_WRITE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/types.h>

#include "../base/alloc.h"
#include "../base/index.h"

typedef struct ggld_name_list {
    void *records; /* each begins with its name, a ggld_string */
    size_t record_bytes;
    uint32_t n;
    uint32_t cap;
    ggld_index *index; /* with room for cap names; NULL where cap is 0 */
} ggld_name_list;

/* Room for one more record, of always the same size: records may be elsewhere
 * then. false where there is no memory. */
bool ggld_name_list_reserve(ggld_name_list *list, const ggld_allocator *a,
                            size_t record_bytes);
/* Number of that name, or GGLD_INDEX_NONE. */
uint32_t ggld_name_list_find(const ggld_name_list *list, ggld_string name);
/* Behind the others; room was reserved, and its name is not there yet. */
void ggld_name_list_add(ggld_name_list *list, const void *record);
/* No name is looked for, and nothing added, from here on. */
void ggld_name_list_close(ggld_name_list *list, const ggld_allocator *a);
void ggld_name_list_free(ggld_name_list *list, const ggld_allocator *a);

#endif /* GGLD_WRITE_NAMES_H */
