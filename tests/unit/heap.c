/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <stdlib.h>

/* In front of each piece, with room for any alignment. */
typedef union head {
    size_t size;
    max_align_t align;
} head;

static void *heap_alloc(void *ctx, size_t size)
{
    heap *h = ctx;
    uint64_t call = h->n_calls++;
    if (call == h->fail_at || (call > h->fail_at && !h->fail_once))
        return NULL;
    head *piece = malloc(sizeof *piece + size);
    if (piece == NULL)
        abort();
    piece->size = size;
    h->live_bytes += size;
    if (h->live_bytes > h->peak_bytes)
        h->peak_bytes = h->live_bytes;
    return piece + 1;
}

static void heap_free(void *ctx, void *ptr)
{
    heap *h = ctx;
    head *piece = (head *)ptr - 1;
    h->live_bytes -= piece->size;
    free(piece);
}

ggld_allocator heap_allocator(heap *h)
{
    ggld_allocator allocator = { heap_alloc, heap_free, h };
    return allocator;
}
