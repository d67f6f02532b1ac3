/* SPDX-License-Identifier: MIT */
/* An allocator that counts, and that can be told to have no memory. */
#ifndef TESTS_UNIT_HEAP_H
#define TESTS_UNIT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/file.h>

typedef struct heap {
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t n_calls;
    uint64_t fail_at; /* this call, counted from 0, gets NULL; later ones too */
    bool fail_once;   /* ... or not */
} heap;

#define HEAP_NEVER_FAILS UINT64_MAX

ggld_allocator heap_allocator(heap *h);

#endif /* TESTS_UNIT_HEAP_H */
