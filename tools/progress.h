/* SPDX-License-Identifier: MIT */
/* A bar on standard error for work of more than a second, where that is a
 * terminal; nothing otherwise. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *label;
    uint64_t total_bytes;
    uint64_t done_bytes;
    double started; /* seconds */
    double shown;
    bool terminal;
    bool visible;
} progress;

double progress_clock(void); /* seconds, monotonic */
void progress_begin(progress *p, const char *label, uint64_t total_bytes);
void progress_add(progress *p, uint64_t bytes);
void progress_end(progress *p); /* wipes the bar */

#endif /* TOOLS_PROGRESS_H */
