/* SPDX-License-Identifier: MIT */
/* Eight threads touch a window at random, which may hold a tenth of itself, and
 * compare every value with what ggld_view_read_f32 gave; a ninth drops at random.
 * GGLD_STRESS_SECONDS says for how long; the argument, where that is not set. */
#include "../jobs/check.h"
#include "../jobs/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ggld/window.h>

#define ROW_ELEMS 4096u
#define N_ROWS    4096u
#define N_ELEMS   ((uint64_t)ROW_ELEMS * N_ROWS) /* 64 MiB of floats */
#define N_READERS 8u
#define RUN_MOST  600u /* elements in order from a place at random */

typedef struct shared {
    ggld_window *window;
    const float *expected;
    time_t until;
    _Atomic bool stop;
} shared;

typedef struct worker {
    pthread_t thread;
    const shared *all;
    uint64_t seed;
    uint64_t n_compared;
    uint64_t n_wrong;
} worker;

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static void *read_at_random(void *arg)
{
    worker *me = arg;
    const float *data = ggld_window_data(me->all->window);
    for (uint64_t i = 0; i % 64 != 0 || time(NULL) < me->all->until; i++) {
        uint64_t r = random_next(&me->seed);
        uint64_t n = r % RUN_MOST + 1;
        uint64_t at = (r >> 16) % (N_ELEMS - RUN_MOST);
        for (uint64_t k = at; k < at + n; k++)
            me->n_wrong +=
                memcmp(&data[k], &me->all->expected[k], sizeof *data) != 0;
        me->n_compared += n;
    }
    return NULL;
}

static void *drop_at_random(void *arg)
{
    worker *me = arg;
    struct timespec pause = { 0, 3000000 };
    while (!me->all->stop) {
        uint64_t at = random_next(&me->seed) % (N_ELEMS - N_ELEMS / 64);
        me->n_wrong += ggld_window_drop(me->all->window, at, N_ELEMS / 64,
                                        NULL) != GGLD_OK;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void start(worker *w, shared *all, uint64_t seed,
                  void *(*function)(void *))
{
    worker fresh = { .all = all, .seed = seed * 0x9E3779B97F4A7C15 + 1 };
    *w = fresh;
    if (pthread_create(&w->thread, NULL, function, w) != 0)
        exit(99);
}

static void run(shared *all)
{
    worker readers[N_READERS], dropper;
    ggld_window_counts c = { sizeof c };
    uint64_t n_compared = 0;
    start(&dropper, all, 99, drop_at_random);
    for (unsigned i = 0; i < N_READERS; i++)
        start(&readers[i], all, i + 1, read_at_random);
    for (unsigned i = 0; i < N_READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        n_compared += readers[i].n_compared;
        CHECK(readers[i].n_wrong == 0,
              "thread %u: %llu of %llu values are wrong", i,
              (unsigned long long)readers[i].n_wrong,
              (unsigned long long)readers[i].n_compared);
    }
    all->stop = true;
    pthread_join(dropper.thread, NULL);
    CHECK(dropper.n_wrong == 0, "expected drops to succeed");
    ggld_window_stats(all->window, &c);
    printf("%llu values compared, %llu faults, %llu chunks filled, %llu "
           "dropped, peak %llu KiB of %llu\n",
           (unsigned long long)n_compared, (unsigned long long)c.n_faults,
           (unsigned long long)c.n_filled, (unsigned long long)c.n_dropped,
           (unsigned long long)c.peak_bytes >> 10,
           (unsigned long long)c.max_resident_bytes >> 10);
    CHECK(c.peak_bytes <= c.max_resident_bytes && c.n_failed == 0 &&
              c.n_dropped > 0,
          "expected the budget to hold and chunks to go");
}

int main(int argc, char **argv)
{
    const char *seconds = getenv("GGLD_STRESS_SECONDS");
    model_tensor tensor = { GGLD_TYPE_Q4_0, N_ROWS, ROW_ELEMS };
    ggld_window_options o = ggld_window_options_init();
    ggld_error err = { 0 };
    shared all = { .window = NULL };
    char *path = model_write(&tensor, 1);
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 0));
    float *expected = malloc(N_ELEMS * sizeof *expected);
    if (expected == NULL ||
        ggld_view_read_f32(&view, expected, N_ELEMS, &err) != GGLD_OK)
        return 99;
    seconds = seconds == NULL && argc > 1 ? argv[1] : seconds;
    all.expected = expected;
    all.until = time(NULL) + (seconds != NULL ? atoi(seconds) : 3);
    o.max_resident_bytes = N_ELEMS * sizeof(float) / 10;
    ggld_status status = ggld_window_open(&all.window, &view, &o, &err);
    if (status == GGLD_E_UNSUPPORTED)
        printf("skipped: %s\n", err.message);
    else
        CHECK(status == GGLD_OK, "expected a window, got: %s", err.message);
    if (status == GGLD_OK)
        run(&all);
    ggld_window_close(all.window);
    ggld_close(file);
    model_remove(path);
    free(expected);
    if (status == GGLD_E_UNSUPPORTED)
        return 77;
    return n_failed != 0;
}
