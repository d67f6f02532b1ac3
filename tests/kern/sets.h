/* SPDX-License-Identifier: MIT */
/* The instruction sets that this processor runs, the definition first. */
#ifndef TESTS_KERN_SETS_H
#define TESTS_KERN_SETS_H

#include <stddef.h>
#include <stdint.h>

#include <ggld/file.h>

#include "base/cpu.h"
#include "kern/kern.h"

#define MAX_SETS 3

typedef struct sets {
    const ggld_kern_set *at[MAX_SETS];
    size_t n;
} sets;

static inline sets sets_here(void)
{
    const uint32_t asked[] = { 0, GGLD_CPU_AVX2, GGLD_CPU_NEON };
    sets s = { { NULL }, 0 };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const ggld_kern_set *set =
            ggld_kern_resolve(ggld_cpu_features() & asked[i]);
        if (s.n == 0 || set != s.at[0])
            s.at[s.n++] = set;
    }
    return s;
}

#endif /* TESTS_KERN_SETS_H */
