/* SPDX-License-Identifier: MIT */
/* Times several ways to do a thing side by side: they take turns, so that what
 * else the machine does hits all of them alike, and the median counts. What is
 * timed is one thread that waits for nothing: its processor time, which is the
 * clock's on a quiet machine and still means something on a busy one. */
#ifndef GGLD_PEER_RACE_H
#define GGLD_PEER_RACE_H

#define RACE_RUNS 9
#define RACE_MAX  4

typedef struct contender {
    void (*run)(void *ctx);   /* timed */
    void (*after)(void *ctx); /* not timed, after each run; or NULL */
    void *ctx;
    double seconds; /* the median of one run */
} contender;

/* Sets seconds of n (at most RACE_MAX) contenders. A run that is short is
 * repeated until the clock can tell. */
void race(contender *contenders, int n);

#endif /* GGLD_PEER_RACE_H */
