/* SPDX-License-Identifier: MIT */
/* The table of chunks: which are held, since when, and which go. */
#include "window.h"

#include <sys/mman.h>

#include "clock.h"
#include "uffd.h"

#define DROP_BYTES (1u << 20)

size_t ggld_window_chunk_size(const ggld_window *w, uint32_t chunk)
{
    size_t left = w->size_bytes - (size_t)chunk * w->chunk_bytes;
    return left < w->chunk_bytes ? left : w->chunk_bytes;
}

static void link_newest(ggld_window *w, uint32_t chunk)
{
    w->chunks[chunk].older = w->newest;
    w->chunks[chunk].newer = GGLD_WINDOW_NO_CHUNK;
    if (w->newest != GGLD_WINDOW_NO_CHUNK)
        w->chunks[w->newest].newer = chunk;
    else
        w->oldest = chunk;
    w->newest = chunk;
}

static void unlink_chunk(ggld_window *w, uint32_t chunk)
{
    uint32_t older = w->chunks[chunk].older, newer = w->chunks[chunk].newer;
    if (older != GGLD_WINDOW_NO_CHUNK)
        w->chunks[older].newer = newer;
    else
        w->oldest = newer;
    if (newer != GGLD_WINDOW_NO_CHUNK)
        w->chunks[newer].older = older;
    else
        w->newest = older;
}

void ggld_window_age(ggld_window *w, uint32_t chunk)
{
    unlink_chunk(w, chunk);
    link_newest(w, chunk);
}

void ggld_window_claim(ggld_window *w, uint32_t chunk, bool touched)
{
    ggld_window_counts *c = &w->counts;
    w->chunks[chunk].state = GGLD_CHUNK_FILLING;
    link_newest(w, chunk);
    w->n_held++;
    c->n_filled++;
    c->n_ahead += !touched;
    c->resident_bytes += ggld_window_chunk_size(w, chunk);
    if (c->resident_bytes > c->peak_bytes)
        c->peak_bytes = c->resident_bytes;
}

static void release_run(ggld_window *w, uint32_t first, uint32_t n)
{
    uint64_t began = ggld_clock_ns();
    size_t size = 0;
    for (uint32_t i = first; i < first + n; i++) {
        size_t one = ggld_window_chunk_size(w, i);
        if (w->chunks[i].state == GGLD_CHUNK_FAILED)
            (void)mprotect(ggld_window_at(w, i), one, PROT_READ);
        size += one;
        unlink_chunk(w, i);
        w->chunks[i].state = GGLD_CHUNK_EMPTY;
    }
    /* Fails only where the app has taken the memory away. */
    (void)ggld_uffd_give_back(ggld_window_at(w, first), size);
    w->n_held -= n;
    w->counts.resident_bytes -= size;
    w->counts.n_dropped += n;
    w->counts.drop_ns += ggld_clock_ns() - began;
}

void ggld_window_release(ggld_window *w, uint32_t chunk)
{
    release_run(w, chunk, 1);
}

/* Each call to the system interrupts all processors that run the app: chunks
 * that were filled in order go some at a time, at most an eighth of all. */
static uint32_t run_behind(const ggld_window *w, uint32_t first)
{
    uint32_t most = (uint32_t)(DROP_BYTES / w->chunk_bytes);
    most = most < w->max_held / 8 ? most : w->max_held / 8;
    uint32_t n = 1;
    while (n < most && w->chunks[first + n - 1].newer == first + n &&
           w->chunks[first + n].state != GGLD_CHUNK_FILLING)
        n++;
    return n;
}

bool ggld_window_drop_oldest(ggld_window *w)
{
    uint32_t chunk = w->oldest;
    while (chunk != GGLD_WINDOW_NO_CHUNK &&
           w->chunks[chunk].state == GGLD_CHUNK_FILLING)
        chunk = w->chunks[chunk].newer;
    if (chunk == GGLD_WINDOW_NO_CHUNK)
        return false;
    release_run(w, chunk, run_behind(w, chunk));
    return true;
}

bool ggld_window_make_room(ggld_window *w)
{
    while (w->n_held >= w->max_held)
        if (!ggld_window_drop_oldest(w))
            return false;
    return true;
}
