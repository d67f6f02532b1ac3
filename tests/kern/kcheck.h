/* SPDX-License-Identifier: MIT */
/* What the checks and the timings of kernels share: one call site. */
#ifndef TESTS_KERN_KCHECK_H
#define TESTS_KERN_KCHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "sets.h"

typedef struct options {
    uint64_t seed;
    uint64_t step;    /* every how many-th misalignment; 1: all */
    const char *type; /* NULL: all */
    const char *set;
    bool bench;
    bool json;
} options;

typedef enum kernel {
    KERNEL_TO_F32,
    KERNEL_STREAM,
    KERNEL_FROM_F32,
    KERNELS
} kernel;

extern const char *const kernel_names[KERNELS];

/* Is there one in that set? */
bool kernel_exists(const ggld_kern_set *set, uint32_t type, kernel which);
/* Checks and timings both come through here. Returns what from_f32 returns, or
 * GGLD_NO_ELEM. */
uint64_t kernel_run(const ggld_kern_set *set, uint32_t type, kernel which,
                    const void *src, void *dst, uint64_t n_blocks);

/* 0, or 1 after the first mismatch was printed. */
int check_kernels(const sets *all, const options *o);
int check_f32_to_f16(const sets *all, const options *o);
void bench_kernels(const sets *all, const options *o);

#endif /* TESTS_KERN_KCHECK_H */
