/* SPDX-License-Identifier: MIT */
/* See pipeline.h. All state but what is inside a slot that works is the calling
 * thread's, whose loop hears of finished work: no locks. */
#include "pipeline.h"

#include <stdbool.h>
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

static ggld_status run_alone(const pipeline *p, ggld_error *err)
{
    void *slot = malloc(p->slot_bytes);

    if (slot == NULL)
        return fail(err, GGLD_E_NOMEM, "no memory for a chunk");
    ggld_status status = run_here(p, slot, err);
    free(slot);
    return status;
}

#ifdef GGLD_HAVE_UV
#include <uv.h>

typedef struct slot {
    uv_work_t work; /* its data is the run */
    uint64_t item;
    bool ready; /* worked on, and to be taken in its turn */
    ggld_status status;
    ggld_error err;
    uint8_t *memory;
} slot;

typedef struct run {
    const pipeline *p;
    uv_loop_t loop;
    uint32_t n_slots;
    uint64_t n_started; /* items; item i is in slot i % n_slots */
    uint64_t n_taken;
    ggld_status status;
    ggld_error *err;
    slot slots[PIPELINE_SLOTS_MAX];
} run;

/* On a thread of the pool. */
static void on_work(uv_work_t *work)
{
    const run *r = work->data;
    slot *s = (slot *)work;

    s->status = r->p->work(r->p->user, s->item, s->memory, &s->err);
}

static void take_ready(run *r)
{
    while (r->status == GGLD_OK && r->n_taken < r->n_started) {
        slot *s = &r->slots[r->n_taken % r->n_slots];
        if (!s->ready)
            return;
        s->ready = false;
        r->n_taken++;
        r->status = s->status;
        if (stop_asked())
            r->status = fail_stopped(r->err);
        else if (r->status != GGLD_OK)
            *r->err = s->err;
        else
            r->status = r->p->take(r->p->user, s->item, s->memory, r->err);
    }
}

static void start_more(run *r);

static void on_worked(uv_work_t *work, int uv_status)
{
    run *r = work->data;

    (void)uv_status; /* nobody cancels it */
    ((slot *)work)->ready = true;
    take_ready(r);
    start_more(r);
}

static void start_more(run *r)
{
    while (r->status == GGLD_OK && r->n_started < r->p->n_items &&
           r->n_started - r->n_taken < r->n_slots) {
        slot *s = &r->slots[r->n_started % r->n_slots];
        s->item = r->n_started++;
        s->work.data = r;
        uv_queue_work(&r->loop, &s->work, on_work, on_worked);
    }
}

/* libuv's pool has four threads unless this says otherwise; fewer cores than
 * that gain by them while they wait for a disk. Two slots a thread keep all at
 * work while one result is being taken. */
static uint32_t choose_slots(uint64_t n_items)
{
    uint64_t n = uv_available_parallelism();
    char text[24];

    n = n < 4 ? 4 : n > PIPELINE_SLOTS_MAX / 2 ? PIPELINE_SLOTS_MAX / 2 : n;
    snprintf(text, sizeof text, "%u", (unsigned)n);
    (void)setenv("UV_THREADPOOL_SIZE", text, 0);
    return (uint32_t)(2 * n < n_items ? 2 * n : n_items);
}

static ggld_status run_on_pool(run *r)
{
    if (uv_loop_init(&r->loop) != 0)
        return fail(r->err, GGLD_E_NOMEM, "no loop for threads");
    start_more(r);
    while (uv_run(&r->loop, UV_RUN_DEFAULT) != 0)
        continue;
    (void)uv_loop_close(&r->loop);
    return r->status;
}

static ggld_status run_parallel(const pipeline *p, ggld_error *err)
{
    run *r = calloc(1, sizeof *r);
    uint8_t *memory = NULL;
    ggld_status status;

    if (r != NULL) {
        r->p = p;
        r->err = err;
        r->n_slots = choose_slots(p->n_items);
        memory = malloc(r->n_slots * p->slot_bytes);
    }
    if (memory != NULL) {
        for (uint32_t i = 0; i < r->n_slots; i++)
            r->slots[i].memory = memory + i * p->slot_bytes;
        status = run_on_pool(r);
    } else {
        status = fail(err, GGLD_E_NOMEM, "no memory for chunks");
    }
    free(memory);
    free(r);
    return status;
}

static ggld_status run_items(const pipeline *p, ggld_error *err)
{
    return p->n_items > 1 ? run_parallel(p, err) : run_alone(p, err);
}
#else
static ggld_status run_items(const pipeline *p, ggld_error *err)
{
    return run_alone(p, err);
}
#endif

ggld_status pipeline_run(const pipeline *p, ggld_error *err)
{
    ggld_status status = run_items(p, err);

    return status == GGLD_OK && stop_asked() ? fail_stopped(err) : status;
}
