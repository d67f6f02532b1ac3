/* SPDX-License-Identifier: MIT */
/* Memory between two pages that can't be touched. */
#ifndef TESTS_KERN_GUARD_H
#define TESTS_KERN_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct guard {
    uint8_t *first; /* right behind the lower page */
    uint8_t *end;   /* where the upper page begins */
} guard;

/* At least size bytes; exits where there are none. */
guard guard_make(size_t size);

/* size bytes that begin offset bytes behind the lower page, or end offset bytes
 * before the upper one. */
uint8_t *guard_place(const guard *g, size_t size, size_t offset, bool at_end);

/* Fills size bytes at p, and up to GUARD_MARGIN bytes on both sides of them. */
#define GUARD_MARGIN 64
void guard_fill(const guard *g, uint8_t *p, size_t size);
/* Are the margins still as they were filled? */
bool guard_margins_whole(const guard *g, const uint8_t *p, size_t size);

#endif /* TESTS_KERN_GUARD_H */
