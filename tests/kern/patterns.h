/* SPDX-License-Identifier: MIT */
/* Seeded input for kernels: blocks, and floats to quantise. */
#ifndef TESTS_KERN_PATTERNS_H
#define TESTS_KERN_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "kern/kern.h"

/* xorshift64*; the state is never 0. */
typedef struct rng {
    uint64_t state;
} rng;

static inline rng rng_of(uint64_t seed)
{
    rng r = { seed * 0x9E3779B97F4A7C15u | 1 };
    return r;
}

static inline uint64_t rng_next(rng *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545F4914F6CDD1Du;
}

/* Random bytes; zeros; ones; then random bytes with every scale of a class. */
enum {
    BLOCKS_RANDOM,
    BLOCKS_ZEROS,
    BLOCKS_ONES,
    BLOCKS_SCALE_ZERO,
    BLOCKS_SCALE_MINUS_ZERO,
    BLOCKS_SCALE_SUBNORMAL,
    BLOCKS_SCALE_LARGEST,
    BLOCKS_SCALE_INFINITE,
    BLOCKS_SCALE_NAN,
    BLOCKS_PATTERNS
};
extern const char *const blocks_pattern_names[BLOCKS_PATTERNS];
void fill_blocks(uint8_t *blocks, const ggld_type_row *type, size_t n_blocks,
                 int pattern, rng *r);

enum {
    FLOATS_LIKE_WEIGHTS,
    FLOATS_ANY_BITS,
    FLOATS_ZEROS, /* of both signs */
    FLOATS_ONE_VALUE,
    FLOATS_TIES, /* halves between levels, equal magnitudes */
    FLOATS_SUBNORMAL,
    FLOATS_TINY, /* scales around the smallest that has an inverse */
    FLOATS_HUGE, /* scales around the largest half */
    FLOATS_INFINITE,
    FLOATS_NAN,
    FLOATS_PATTERNS
};
extern const char *const floats_pattern_names[FLOATS_PATTERNS];
void fill_floats(float *floats, size_t n, int pattern, rng *r);

#endif /* TESTS_KERN_PATTERNS_H */
