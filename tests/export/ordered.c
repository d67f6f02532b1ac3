/* SPDX-License-Identifier: MIT */
/* Items of work in order: every item once, in turn, whatever the threads; the
 * first failure is the one that counts. */
#include <stdatomic.h>
#include <string.h>

#include <ggld/ordered.h>

#include "support.h"

#define N_ITEMS 2000

typedef struct work {
    _Atomic uint32_t done[N_ITEMS];
    uint64_t next;     /* to be taken */
    uint64_t fails_at; /* item whose work fails */
    uint64_t stops_at; /* item whose take fails */
} work;

typedef struct slot {
    uint64_t item;
    uint64_t square;
} slot;

static ggld_status fail(ggld_error *err, ggld_status code, uint64_t item)
{
    memset(err, 0, sizeof *err);
    err->code = code;
    err->index = item;
    return code;
}

static ggld_status do_work(void *user, uint64_t item, void *memory,
                           ggld_error *err)
{
    work *w = user;
    slot *s = memory;

    atomic_fetch_add(&w->done[item], 1);
    s->item = item;
    s->square = item * item;
    /* Later ones fail sooner, and must not be heard first. */
    return item >= w->fails_at ? fail(err, GGLD_E_VALUE, item) : GGLD_OK;
}

static ggld_status do_take(void *user, uint64_t item, void *memory,
                           ggld_error *err)
{
    work *w = user;
    const slot *s = memory;

    CHECK(item == w->next && s->item == item && s->square == item * item,
          "expected item %d; got %d, in its slot %d", (int)w->next, (int)item,
          (int)s->item);
    w->next++;
    return item == w->stops_at ? fail(err, GGLD_E_CANCELLED, item) : GGLD_OK;
}

static void test_run(uint32_t n_threads, uint64_t n_items,
                     uint64_t max_slots_bytes, uint64_t fails_at,
                     uint64_t stops_at)
{
    static work w;
    ggld_ordered o = ggld_ordered_init();
    ggld_error err = { 0 };
    uint64_t end = n_items;
    ggld_status expected = GGLD_OK;

    memset(&w, 0, sizeof w);
    w.fails_at = fails_at;
    w.stops_at = stops_at;
    o.n_items = n_items;
    o.slot_bytes = sizeof(slot);
    o.n_threads = n_threads;
    o.max_slots_bytes = max_slots_bytes;
    o.user = &w;
    o.work = do_work;
    o.take = do_take;
    if (stops_at < n_items && stops_at < fails_at) {
        expected = GGLD_E_CANCELLED;
        end = stops_at + 1;
    } else if (fails_at < n_items) {
        expected = GGLD_E_VALUE;
        end = fails_at;
    }
    ggld_status got = ggld_ordered_run(&o, &err);
    CHECK(got == expected && w.next == end,
          "%u threads, %d items: expected %s after %d; got %s after %d",
          (unsigned)n_threads, (int)n_items, ggld_status_name(expected),
          (int)end, ggld_status_name(got), (int)w.next);
    if (got != GGLD_OK)
        CHECK(err.code == got &&
                  err.index == (got == GGLD_E_VALUE ? fails_at : stops_at),
              "expected the error of item %d; got that of %d",
              (int)(got == GGLD_E_VALUE ? fails_at : stops_at), (int)err.index);
    for (uint64_t i = 0; i < n_items; i++)
        CHECK(w.done[i] == 1 || (i >= end && w.done[i] <= 1),
              "item %d: expected done once; got %u times", (int)i,
              (unsigned)w.done[i]);
}

static void test_refused(void)
{
    ggld_ordered o = ggld_ordered_init();
    ggld_error err;

    CHECK(ggld_ordered_run(NULL, &err) == GGLD_E_INVALID, "NULL: expected "
                                                          "GGLD_E_INVALID");
    CHECK(ggld_ordered_run(&o, &err) == GGLD_E_INVALID,
          "no steps: expected GGLD_E_INVALID");
    o.work = do_work;
    o.take = do_take;
    CHECK(ggld_ordered_run(&o, &err) == GGLD_OK,
          "no items: expected GGLD_OK; got %s", err.message);
    o.slot_bytes = SIZE_MAX;
    CHECK(ggld_ordered_run(&o, &err) == GGLD_E_NOMEM,
          "slots past all memory: expected GGLD_E_NOMEM");
    o.slot_bytes = 1;
    o.reserved[3] = 1;
    CHECK(ggld_ordered_run(&o, &err) == GGLD_E_ABI,
          "a reserved field: expected GGLD_E_ABI");
    o.reserved[3] = 0;
    o.struct_size = 8;
    CHECK(ggld_ordered_run(&o, NULL) == GGLD_E_ABI,
          "a short struct: expected GGLD_E_ABI");
}

int main(void)
{
    static const uint32_t threads[] = { 0, 1, 2, 3, 8, 1000 };
    const uint64_t never = UINT64_MAX;

    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        test_run(threads[i], N_ITEMS, 0, never, never);
        test_run(threads[i], 0, 0, never, never);
        test_run(threads[i], 1, 0, never, never);
        test_run(threads[i], 3, 0, never, never);
        test_run(threads[i], N_ITEMS, 1, never, never); /* one slot */
        test_run(threads[i], N_ITEMS, 200, 777, never);
        test_run(threads[i], N_ITEMS, 0, 777, never);
        test_run(threads[i], N_ITEMS, 0, never, 1234);
        test_run(threads[i], N_ITEMS, 0, 0, never);
        test_run(threads[i], N_ITEMS, 0, 500, 499);
    }
    test_refused();
    return finish();
}
