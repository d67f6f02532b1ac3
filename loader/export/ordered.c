/* SPDX-License-Identifier: MIT */
/* See <ggld/ordered.h>. Item i lives in slot i % n_slots. Workers start items in
 * their order while there is a slot; the caller takes them in theirs. One lock
 * guards which slot is whose; a slot's memory is its holder's. */
#include <ggld/ordered.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/structs.h"

#define MIN_AUTO_THREADS  4
#define DEFAULT_MAX_BYTES (64u << 20)
#define SLOT_ALIGNMENT    64

typedef struct slot {
    bool ready; /* worked on, and to be taken in its turn */
    ggld_status status;
    ggld_error err;
    uint8_t *memory;
} slot;

typedef struct run {
    const ggld_ordered *o;
    uint32_t n_threads;
    uint32_t n_slots;
    slot *slots;
    uint8_t *memory;
    pthread_mutex_t lock;
    pthread_cond_t room;  /* a slot is free, or it is over */
    pthread_cond_t ready; /* an item is */
    uint64_t n_started;
    uint64_t n_taken;
    bool over;
} run;

/* The next item, once there is a slot for it; false: there is nothing to do
 * any more. With the lock. */
static bool start_item(run *r, uint64_t *item)
{
    while (!r->over && r->n_started < r->o->n_items &&
           r->n_started - r->n_taken == r->n_slots)
        pthread_cond_wait(&r->room, &r->lock);
    if (r->over || r->n_started == r->o->n_items)
        return false;
    *item = r->n_started++;
    return true;
}

static void *run_worker(void *arg)
{
    run *r = arg;
    uint64_t item;

    pthread_mutex_lock(&r->lock);
    while (start_item(r, &item)) {
        slot *s = &r->slots[item % r->n_slots];
        pthread_mutex_unlock(&r->lock);
        s->status = r->o->work(r->o->user, item, s->memory, &s->err);
        pthread_mutex_lock(&r->lock);
        s->ready = true;
        pthread_cond_signal(&r->ready);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static ggld_status take_item(run *r, uint64_t item, ggld_error *err)
{
    slot *s = &r->slots[item % r->n_slots];
    ggld_status status;

    pthread_mutex_lock(&r->lock);
    while (!s->ready)
        pthread_cond_wait(&r->ready, &r->lock);
    pthread_mutex_unlock(&r->lock);
    status = s->status;
    if (status != GGLD_OK)
        *err = s->err;
    else
        status = r->o->take(r->o->user, item, s->memory, err);
    pthread_mutex_lock(&r->lock);
    s->ready = false;
    r->n_taken++;
    r->over = status != GGLD_OK;
    if (r->over)
        pthread_cond_broadcast(&r->room);
    else
        pthread_cond_signal(&r->room);
    pthread_mutex_unlock(&r->lock);
    return status;
}

static ggld_status run_alone(const run *r, ggld_error *err)
{
    const ggld_ordered *o = r->o;
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < o->n_items && status == GGLD_OK; i++) {
        status = o->work(o->user, i, r->memory, err);
        if (status == GGLD_OK)
            status = o->take(o->user, i, r->memory, err);
    }
    return status;
}

/* Signals are for the threads of the app. A fault is the thread's own. */
static void block_signals(sigset_t *old)
{
    sigset_t set;

    sigfillset(&set);
    sigdelset(&set, SIGBUS);
    sigdelset(&set, SIGSEGV);
    sigdelset(&set, SIGFPE);
    sigdelset(&set, SIGILL);
    pthread_sigmask(SIG_BLOCK, &set, old);
}

static uint32_t start_threads(run *r, pthread_t *threads)
{
    uint32_t n = 0;
    sigset_t old;

    block_signals(&old);
    while (n < r->n_threads &&
           pthread_create(&threads[n], NULL, run_worker, r) == 0)
        n++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return n;
}

static ggld_status run_threads(run *r, ggld_error *err)
{
    pthread_t threads[GGLD_ORDERED_MAX_THREADS];
    ggld_status status = GGLD_OK;
    uint32_t n = start_threads(r, threads);

    if (n == 0)
        return run_alone(r, err);
    for (uint64_t i = 0; i < r->o->n_items && status == GGLD_OK; i++)
        status = take_item(r, i, err);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return status;
}

static ggld_status run_locked(run *r, ggld_error *err)
{
    if (r->n_threads == 1 || r->o->n_items < 2)
        return run_alone(r, err);
    (void)pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->room, NULL);
    pthread_cond_init(&r->ready, NULL);
    ggld_status status = run_threads(r, err);
    pthread_cond_destroy(&r->ready);
    pthread_cond_destroy(&r->room);
    pthread_mutex_destroy(&r->lock);
    return status;
}

static uint32_t count_threads(const ggld_ordered *o)
{
    long n = o->n_threads;

    if (n == 0) {
        n = sysconf(_SC_NPROCESSORS_ONLN);
        n = n < MIN_AUTO_THREADS ? MIN_AUTO_THREADS : n;
    }
    return n > GGLD_ORDERED_MAX_THREADS ? GGLD_ORDERED_MAX_THREADS
                                        : (uint32_t)n;
}

static ggld_status run_slots(run *r, ggld_error *err)
{
    const ggld_ordered *o = r->o;
    uint64_t most =
        o->max_slots_bytes != 0 ? o->max_slots_bytes : DEFAULT_MAX_BYTES;
    uint64_t bytes = 0;
    ggld_status status = GGLD_E_NOMEM;

    if (o->slot_bytes < SIZE_MAX &&
        ggld_align_up(o->slot_bytes + 1, SLOT_ALIGNMENT, &bytes) &&
        bytes <= SIZE_MAX / ((size_t)2 * GGLD_ORDERED_MAX_THREADS)) {
        r->n_threads = count_threads(o);
        r->n_slots =
            (uint32_t)ggld_min_u64(UINT64_C(2) * r->n_threads, most / bytes);
        if (r->n_threads == 1 || r->n_slots == 0)
            r->n_slots = 1;
        else if (r->n_slots > o->n_items)
            r->n_slots = o->n_items == 0 ? 1 : (uint32_t)o->n_items;
        r->n_threads = (uint32_t)ggld_min_u64(r->n_threads, r->n_slots);
        r->slots = calloc(r->n_slots, sizeof *r->slots);
        r->memory = aligned_alloc(SLOT_ALIGNMENT, (size_t)bytes * r->n_slots);
    }
    if (r->slots != NULL && r->memory != NULL) {
        for (uint32_t i = 0; i < r->n_slots; i++)
            r->slots[i].memory = r->memory + i * (size_t)bytes;
        status = run_locked(r, err);
    } else {
        ggld_fail(err, status, ggld_nowhere(),
                  "no memory for slots of %zu bytes", o->slot_bytes);
    }
    free(r->memory);
    free(r->slots);
    return status;
}

ggld_status ggld_ordered_run(const ggld_ordered *ordered, ggld_error *err)
{
    ggld_ordered o = ggld_ordered_init();
    run r = { .o = &o };
    ggld_error mine = { 0 };

    if (ordered == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_ordered is NULL");
    ggld_status status =
        ggld_struct_take("ggld_ordered", ordered,
                         offsetof(ggld_ordered, reserved), &o, sizeof o, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_all_zero(o.reserved, sizeof o.reserved) || o.reserved32 != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_ordered: a reserved field is not zero");
    if (o.work == NULL || o.take == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_ordered: work and take are both needed");
    /* Steps are given an error to fill in, whatever the caller wants. */
    status = run_slots(&r, &mine);
    if (status != GGLD_OK && err != NULL)
        *err = mine;
    return status;
}
