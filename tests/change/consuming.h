/* SPDX-License-Identifier: MIT */
/* A set of shards that ggld_merge_consume makes a model of, in a folder of its
 * own beside an old output, and what has become of it. */
#ifndef TESTS_CHANGE_CONSUMING_H
#define TESTS_CHANGE_CONSUMING_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/error.h>

#include "syscalls.h"

#define N_SHARDS 3

extern char *folder; /* has nothing but the scene */
extern char *source_folder;
extern char out_path[128], journal_path[160], part_path[160];

/* Around all of a plain main's tests; what its exit status is to be. */
void consuming_begin(void);
int consuming_end(void);

/* The shards, and an old file where the output is to be. */
void set_scene(void);
/* Two shards are left, and one is in the part. */
void set_halfway(void);
/* In a static buffer. */
const char *shard_path(uint32_t no);

ggld_status run(ggld_error *err);
/* In a child, which dies before call number n; false where there are not as
 * many. */
bool run_killed(unsigned n);

bool is_whole(void);
bool is_old(void);
uint32_t n_shards(void);

/* n_failed (views/check.h) counts. The model is whole, and alone. */
void expect_done(const char *what, unsigned n);
/* The old output and all shards are there, and nothing else. */
void expect_untouched(const char *what, unsigned n);
/* Wherever it was stopped: the output is old or whole, and nothing is lost. */
void check_between(const char *what, unsigned n);
void expect_refusal(ggld_status want, const char *message);

#endif /* TESTS_CHANGE_CONSUMING_H */
