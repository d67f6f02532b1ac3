/* SPDX-License-Identifier: MIT */
/* See watch.h. */
#include "watch.h"

#include "progress.h"
#include "stop.h"

int watch_progress(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    progress *p = user;

    p->total_bytes = total_bytes;
    progress_add(p, done_bytes - p->done_bytes);
    return stop_asked();
}
