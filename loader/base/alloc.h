/* SPDX-License-Identifier: MIT */
/* Heap memory through the app's allocator, or malloc. */
#ifndef GGLD_BASE_ALLOC_H
#define GGLD_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include <ggld/file.h>

/* A copy of *allocator, or malloc and free where it is NULL. */
ggld_allocator ggld_allocator_of(const ggld_allocator *allocator);

/* NULL where there is none, or count * size is past SIZE_MAX. The memory is
 * zero. size 0 gives memory that can be freed. */
void *ggld_alloc(const ggld_allocator *a, uint64_t count, size_t size);
/* The same for size bytes that are written before they are read: not zeroed,
 * so that a buffer of a file's size is not gone over twice. */
void *ggld_alloc_bytes(const ggld_allocator *a, uint64_t size);
/* Memory for new_count, old_count of them copied, the rest zero, the old memory
 * freed. NULL: the old memory is as it was. */
void *ggld_grow(const ggld_allocator *a, void *old, uint64_t old_count,
                uint64_t new_count, size_t size);
/* The same, the rest not zeroed: pages of it that nobody uses are not there. */
void *ggld_grow_bytes(const ggld_allocator *a, void *old, uint64_t old_bytes,
                      uint64_t new_bytes);
void ggld_free(const ggld_allocator *a, void *ptr); /* ptr may be NULL */

#endif /* GGLD_BASE_ALLOC_H */
