/* SPDX-License-Identifier: MIT */
/* Between the library's long calls and whoever waits at the terminal. */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include <stdint.h>

/* A ggld_progress whose user is a progress (progress.h) that has begun: moves
 * the bar, and ends the call after a signal (stop.h). */
int watch_progress(uint64_t done_bytes, uint64_t total_bytes, void *user);

#endif /* TOOLS_WATCH_H */
