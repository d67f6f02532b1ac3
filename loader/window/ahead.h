/* SPDX-License-Identifier: MIT */
/* Which chunks will be touched next: runs of touches in order, some of them at
 * a time, from different threads or of different rows. Chunks and numbers only;
 * nothing is filled here. */
#ifndef GGLD_WINDOW_AHEAD_H
#define GGLD_WINDOW_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define GGLD_AHEAD_RUNS 8u

typedef struct ggld_ahead_run {
    uint32_t seen;   /* the last chunk that was touched */
    uint32_t next;   /* to be filled */
    uint32_t end;    /* so far, not with it */
    uint32_t length; /* touches in order */
} ggld_ahead_run;

typedef struct ggld_ahead {
    ggld_ahead_run runs[GGLD_AHEAD_RUNS];
    uint32_t oldest;   /* run: to be given up for a new one */
    uint32_t n_chunks; /* of the window */
    uint32_t most;     /* chunks ahead of a touch; 0: never any */
} ggld_ahead;

void ggld_ahead_init(ggld_ahead *a, uint32_t n_chunks, uint32_t most);
/* A chunk was touched that was not in place. Is there something to fill ahead? */
bool ggld_ahead_touched(ggld_ahead *a, uint32_t chunk);
/* The next chunk to fill; false: there is none. Each comes once. */
bool ggld_ahead_take(ggld_ahead *a, uint32_t *out_chunk);

#endif /* GGLD_WINDOW_AHEAD_H */
