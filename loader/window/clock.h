/* SPDX-License-Identifier: MIT */
/* Time, for what windows count. */
#ifndef GGLD_WINDOW_CLOCK_H
#define GGLD_WINDOW_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ggld_clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif /* GGLD_WINDOW_CLOCK_H */
