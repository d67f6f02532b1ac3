/* SPDX-License-Identifier: MIT */
/* Policy: which set is used where, and when it streams. Everything else is in
 * the sets. */
#include <ggld/file.h>

#include "../base/checked.h"
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
 * plain stores are the faster ones. What the system reports as the cache may be
 * the sum of many, of which a core fills one: where 512 MiB were reported, plain
 * stores won up to 16 MiB of output, and streaming ones from 64 MiB on, by 1.3
 * to 1.9. Small output is decided without asking. */
#define ONE_CACHE_BYTES (32u << 20)

bool ggld_kern_streams(uint64_t n_elems)
{
    const uint64_t never = (4u << 20) / sizeof(float);
    if (n_elems <= never)
        return false;
    return n_elems > ggld_min_u64(ggld_cpu_cache_bytes(), ONE_CACHE_BYTES) /
                         sizeof(float);
}
