/* SPDX-License-Identifier: MIT */
/* Policy: which set is used where. Everything else is in the sets. */
#include <ggld/file.h>

#include "sets.h"

const ggld_kern_set *ggld_kern_resolve(uint32_t cpu_features)
{
#if defined(__x86_64__) || defined(__i386__)
    if ((cpu_features & GGLD_CPU_AVX2) != 0)
        return &ggld_kern_avx2;
#endif
#if defined(__aarch64__) && !defined(__AARCH64EB__)
    if ((cpu_features & GGLD_CPU_NEON) != 0)
        return &ggld_kern_neon;
#endif
    (void)cpu_features;
    return &ggld_kern_scalar;
}
