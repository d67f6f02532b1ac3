/* SPDX-License-Identifier: MIT */
/* Asks the processor, once: CPUID traps under virtual machines and costs tens
 * of microseconds there. What is remembered is a constant of the machine, so
 * that threads which ask at the same time write the same value. */
#include "cpu.h"

#include <unistd.h>

#include <ggld/file.h>

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

/* CPUID.1:ECX.F16C; clang 14's __builtin_cpu_supports does not know it. That
 * the system saves the registers is part of what "avx2" asks. */
static bool has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & (1u << 29)) != 0;
}

static uint32_t ask(void)
{
    bool avx2 = __builtin_cpu_supports("avx2");
    return avx2 && has_f16c() ? GGLD_CPU_AVX2 : 0;
}

uint32_t ggld_cpu_features(void)
{
    const uint32_t asked = 1u << 31;
    static _Atomic uint32_t known;
    uint32_t features = atomic_load_explicit(&known, memory_order_relaxed);
    if (features == 0) {
        features = ask() | asked;
        atomic_store_explicit(&known, features, memory_order_relaxed);
    }
    return features & ~asked;
}

#elif defined(__aarch64__) && !defined(__AARCH64EB__)

uint32_t ggld_cpu_features(void)
{
    return GGLD_CPU_NEON; /* part of every AArch64 */
}

#else

uint32_t ggld_cpu_features(void)
{
    return 0;
}

#endif

uint64_t ggld_cpu_cache_bytes(void)
{
#ifdef _SC_LEVEL3_CACHE_SIZE
    /* glibc has asked the processor when the program started. */
    long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (size > 0)
        return (uint64_t)size;
#endif
    return 8u << 20;
}
