/* SPDX-License-Identifier: MIT */
/* Sizes are checked here, so that a product never wraps into a small one. */
#include "alloc.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void default_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

ggld_allocator ggld_allocator_of(const ggld_allocator *allocator)
{
    ggld_allocator standard = { default_alloc, default_free, NULL };
    return allocator != NULL ? *allocator : standard;
}

void *ggld_alloc_bytes(const ggld_allocator *a, uint64_t size)
{
    if (size > PTRDIFF_MAX)
        return NULL;
    return a->alloc(a->ctx, size == 0 ? 1 : (size_t)size);
}

void *ggld_alloc(const ggld_allocator *a, uint64_t count, size_t size)
{
    uint64_t total;
    if (!ggld_mul_u64(count, size, &total))
        return NULL;
    void *ptr = ggld_alloc_bytes(a, total);
    if (ptr != NULL)
        memset(ptr, 0, (size_t)total);
    return ptr;
}

/* realloc moves the pages of what is large, and never has it twice. */
void *ggld_grow_bytes(const ggld_allocator *a, void *old, uint64_t old_bytes,
                      uint64_t new_bytes)
{
    if (a->alloc == default_alloc && a->free == default_free && old != NULL)
        return new_bytes <= PTRDIFF_MAX ? realloc(old, (size_t)new_bytes)
                                        : NULL;
    void *ptr = ggld_alloc_bytes(a, new_bytes);
    if (ptr != NULL && old != NULL) {
        memcpy(ptr, old, (size_t)old_bytes);
        ggld_free(a, old);
    }
    return ptr;
}

void *ggld_grow(const ggld_allocator *a, void *old, uint64_t old_count,
                uint64_t new_count, size_t size)
{
    uint64_t total, used = old != NULL ? old_count * size : 0;
    if (!ggld_mul_u64(new_count, size, &total))
        return NULL;
    char *ptr = ggld_grow_bytes(a, old, used, total);
    if (ptr != NULL)
        memset(ptr + used, 0, (size_t)(total - used));
    return ptr;
}

void ggld_free(const ggld_allocator *a, void *ptr)
{
    if (ptr != NULL)
        a->free(a->ctx, ptr);
}
