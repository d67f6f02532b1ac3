/* SPDX-License-Identifier: MIT */
/* Interleaved runs and their medians. */
#include "race.h"

#include <stdlib.h>
#include <time.h>

/* Long against the clock's own cost, short against a change of frequency. */
#define MIN_SECONDS 2e-3
#define MAX_REPEATS 1000000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_once(const contender *c)
{
    double start = now();
    c->run(c->ctx);
    double seconds = now() - start;
    if (c->after != NULL)
        c->after(c->ctx);
    return seconds;
}

/* Mean over repeats. With something to do after each, the clock is read each
 * time, else once for all. */
static double time_runs(const contender *c, long repeats)
{
    double seconds = 0;

    if (c->after != NULL) {
        for (long i = 0; i < repeats; i++)
            seconds += time_once(c);
        return seconds / (double)repeats;
    }
    double start = now();
    for (long i = 0; i < repeats; i++)
        c->run(c->ctx);
    return (now() - start) / (double)repeats;
}

/* The second run decides: the first one faults pages in. */
static long repeats_of(const contender *c)
{
    time_once(c);
    double repeats = MIN_SECONDS / (time_once(c) + 1e-9) + 1;
    return repeats > MAX_REPEATS ? MAX_REPEATS : (long)repeats;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

void race(contender *contenders, int n)
{
    double seconds[RACE_MAX][RACE_RUNS];
    long repeats[RACE_MAX];

    for (int i = 0; i < n; i++)
        repeats[i] = repeats_of(&contenders[i]);
    for (int run = 0; run < RACE_RUNS; run++)
        for (int i = 0; i < n; i++)
            seconds[i][run] = time_runs(&contenders[i], repeats[i]);
    for (int i = 0; i < n; i++) {
        qsort(seconds[i], RACE_RUNS, sizeof(double), by_value);
        contenders[i].seconds = seconds[i][RACE_RUNS / 2];
    }
}
