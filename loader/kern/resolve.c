/* SPDX-License-Identifier: MIT */
/* Policy: which set is used where, and when it streams. Everything else is in the sets. */
#include <ggld/file.h>

#include "../base/cpu.h"
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

/* Output that fits the last cache is still there when the caller reads it, and
 * plain stores are the faster ones. (Measured where 512 MiB of cache are
 * reported: plain stores win up to 1 GiB, by 1.1 to 1.4.) Small output is
 * decided without asking. */
bool ggld_kern_streams(uint64_t n_elems)
{
    const uint64_t never = (4u << 20) / sizeof(float);
    return n_elems > never && n_elems > ggld_cpu_cache_bytes() / sizeof(float);
}
