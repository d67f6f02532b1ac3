/* SPDX-License-Identifier: MIT */
/* Seeded random numbers: the same on every machine. */
#ifndef GGLD_PEER_RANDOM_H
#define GGLD_PEER_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct random_state {
    uint64_t state;
} random_state;

/* SplitMix64: one addition and a mix of the bits. */
static inline uint64_t random_u64(random_state *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline uint64_t random_below(random_state *r, uint64_t limit)
{
    return random_u64(r) % limit;
}

static inline void random_bytes(random_state *r, void *dst, size_t size)
{
    for (size_t done = 0; done < size; done += 8) {
        uint64_t word = random_u64(r);
        memcpy((char *)dst + done, &word, size - done < 8 ? size - done : 8);
    }
}

/* About a gaussian of deviation 1: the sum of twelve uniform numbers. */
static inline float random_gaussian(random_state *r)
{
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t word = random_u64(r);
        for (int part = 0; part < 4; part++)
            sum += (int64_t)(word >> (16 * part) & 0xFFFF);
    }
    return (float)(sum - 6 * 0x10000) / 65536.0f;
}

#endif /* GGLD_PEER_RANDOM_H */
