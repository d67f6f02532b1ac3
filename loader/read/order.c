/* SPDX-License-Identifier: MIT */
/* Heapsort: no recursion, no memory of its own, and no input that makes it
 * slow. */
#include "order.h"

/* By offset; at one offset those without bytes first, then by number. */
static bool is_before(const ggld_tensor *tensors, uint32_t a, uint32_t b)
{
    const ggld_tensor *s = &tensors[a], *t = &tensors[b];
    if (s->offset != t->offset)
        return s->offset < t->offset;
    if (s->size_bytes != t->size_bytes)
        return s->size_bytes < t->size_bytes;
    return a < b;
}

static void sift_down(uint32_t *heap, uint64_t root, uint64_t n,
                      const ggld_tensor *tensors)
{
    for (;;) {
        uint64_t child = 2 * root + 1;
        if (child >= n)
            return;
        if (child + 1 < n && is_before(tensors, heap[child], heap[child + 1]))
            child++;
        if (!is_before(tensors, heap[root], heap[child]))
            return;
        uint32_t swapped = heap[root];
        heap[root] = heap[child];
        heap[child] = swapped;
        root = child;
    }
}

void ggld_order_sort(uint32_t *order, const ggld_tensor *tensors, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = n / 2; i-- > 0;)
        sift_down(order, i, n, tensors);
    for (uint64_t i = n; i-- > 1;) {
        uint32_t last = order[0];
        order[0] = order[i];
        order[i] = last;
        sift_down(order, 0, i, tensors);
    }
}
