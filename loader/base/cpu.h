/* SPDX-License-Identifier: MIT */
/* What this processor can do, in the terms of GGLD_CPU_... */
#ifndef GGLD_BASE_CPU_H
#define GGLD_BASE_CPU_H

#include <stdint.h>

/* GGLD_CPU_AVX2 means AVX2 and F16C, switched on by the system too. */
uint32_t ggld_cpu_features(void);

/* Size of the last cache, or 8 MiB where the system does not tell. */
uint64_t ggld_cpu_cache_bytes(void);

#endif /* GGLD_BASE_CPU_H */
