/* SPDX-License-Identifier: MIT */
/* See pipeline.h. The threads are those of ggld_ordered_run(); here it only
 * learns of signals. */
#include "pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stop.h"

static ggld_status fail(ggld_error *err, ggld_status code, const char *what)
{
    memset(err, 0, sizeof *err);
    err->code = code;
    err->index = GGLD_NO_INDEX;
    snprintf(err->message, sizeof err->message, "%s", what);
    return err->code;
}

static ggld_status fail_stopped(ggld_error *err)
{
    return fail(err, GGLD_E_CANCELLED, "stopped by a signal");
}

#ifdef GGLD_HAVE_UV
#include <ggld/ordered.h>

#include "opts.h"

uint32_t pipeline_threads(void)
{
    const char *text = getenv("UV_THREADPOOL_SIZE");
    uint64_t n = 0;

    if (text != NULL)
        (void)opts_number(text, 1, GGLD_ORDERED_MAX_THREADS, &n);
    return (uint32_t)n;
}

static ggld_status take_unless_stopped(void *user, uint64_t item, void *slot,
                                       ggld_error *err)
{
    const pipeline *p = user;
    return stop_asked() ? fail_stopped(err) : p->take(p->user, item, slot, err);
}

static ggld_status work_of(void *user, uint64_t item, void *slot,
                           ggld_error *err)
{
    const pipeline *p = user;
    return p->work(p->user, item, slot, err);
}

static ggld_status run_items(const pipeline *p, ggld_error *err)
{
    ggld_ordered o = ggld_ordered_init();

    o.n_items = p->n_items;
    o.slot_bytes = p->slot_bytes;
    o.n_threads = pipeline_threads();
    o.user = (void *)(uintptr_t)p;
    o.work = work_of;
    o.take = take_unless_stopped;
    return ggld_ordered_run(&o, err);
}
#else
static ggld_status run_here(const pipeline *p, void *slot, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < p->n_items && status == GGLD_OK; i++) {
        if (stop_asked())
            return fail_stopped(err);
        status = p->work(p->user, i, slot, err);
        if (status == GGLD_OK)
            status = p->take(p->user, i, slot, err);
    }
    return status;
}

static ggld_status run_items(const pipeline *p, ggld_error *err)
{
    void *slot = malloc(p->slot_bytes);

    if (slot == NULL)
        return fail(err, GGLD_E_NOMEM, "no memory for a chunk");
    ggld_status status = run_here(p, slot, err);
    free(slot);
    return status;
}
#endif

ggld_status pipeline_run(const pipeline *p, ggld_error *err)
{
    ggld_status status = run_items(p, err);

    return status == GGLD_OK && stop_asked() ? fail_stopped(err) : status;
}
