/* SPDX-License-Identifier: MIT */
/* Names to record numbers. */
#ifndef GGLD_BASE_INDEX_H
#define GGLD_BASE_INDEX_H

#include <stdint.h>

#include <ggld/file.h>

/* Look-up by name over records: open addressing, keyed. */
typedef struct ggld_index ggld_index;

#define GGLD_INDEX_NONE UINT32_MAX
/* Records that an index, and so a file, can have of one kind. */
#define GGLD_INDEX_MAX (UINT32_MAX - 1)

/* The names lie in records of stride bytes; name i is the ggld_string at
 * first + i * stride. */
typedef struct ggld_names {
    const void *first;
    size_t stride;
} ggld_names;

/* Room for n names; NULL where there is no memory. */
ggld_index *ggld_index_new(const ggld_allocator *a, uint64_t n);
uint64_t ggld_index_heap_bytes(const ggld_index *index);

/* Puts record i in, whose name is names' i. Where an earlier record has the
 * same name that one stays, and its number is returned; else i. */
uint32_t ggld_index_insert(ggld_index *index, ggld_names names, uint32_t i);
/* The record of that name, or GGLD_INDEX_NONE. */
uint32_t ggld_index_find(const ggld_index *index, ggld_names names,
                         const char *data, uint64_t len);

#endif /* GGLD_BASE_INDEX_H */
