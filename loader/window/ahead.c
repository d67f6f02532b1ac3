/* SPDX-License-Identifier: MIT */
/* A touch belongs to a run if it is behind the last one of that run and not past
 * what was filled ahead: who reads faster than chunks are filled touches those
 * on their way, who reads more slowly the first that was not. Each such touch
 * doubles how far ahead of it is filled, so that a touch at random costs nothing
 * more than itself. */
#include "ahead.h"

#include <string.h>

#define FIRST_AHEAD 2u

void ggld_ahead_init(ggld_ahead *a, uint32_t n_chunks, uint32_t most)
{
    memset(a, 0, sizeof *a);
    a->n_chunks = n_chunks;
    a->most = most;
}

static ggld_ahead_run *run_of(ggld_ahead *a, uint32_t chunk)
{
    for (uint32_t i = 0; i < GGLD_AHEAD_RUNS; i++) {
        ggld_ahead_run *run = &a->runs[i];
        if (run->length != 0 && run->seen < chunk && chunk <= run->end)
            return run;
    }
    return NULL;
}

static void begin_run(ggld_ahead *a, uint32_t chunk)
{
    ggld_ahead_run run = { chunk, chunk + 1, chunk + 1, 1 };
    a->runs[a->oldest] = run;
    a->oldest = (a->oldest + 1) % GGLD_AHEAD_RUNS;
}

bool ggld_ahead_touched(ggld_ahead *a, uint32_t chunk)
{
    if (a->most == 0)
        return false;
    ggld_ahead_run *run = run_of(a, chunk);
    if (run == NULL) {
        begin_run(a, chunk);
        return false;
    }
    uint32_t far = FIRST_AHEAD << (run->length < 16 ? run->length - 1 : 15);
    far = far < a->most ? far : a->most;
    uint32_t left = a->n_chunks - chunk - 1;
    uint32_t end = chunk + 1 + (far < left ? far : left);
    run->seen = chunk;
    run->length++;
    run->next = run->next > chunk ? run->next : chunk + 1;
    run->end = run->end > end ? run->end : end;
    return run->next < run->end;
}

bool ggld_ahead_take(ggld_ahead *a, uint32_t *out_chunk)
{
    for (uint32_t i = 0; i < GGLD_AHEAD_RUNS; i++) {
        ggld_ahead_run *run = &a->runs[i];
        if (run->next < run->end) {
            *out_chunk = run->next++;
            return true;
        }
    }
    return false;
}
