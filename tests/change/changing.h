/* SPDX-License-Identifier: MIT */
/* An input that changes while another model is made of it: refused, whatever has
 * become of it, and the old output is as it was. */
#ifndef TESTS_CHANGE_CHANGING_H
#define TESTS_CHANGE_CHANGING_H

#include <stdbool.h>

#include <ggld/error.h>
#include <ggld/progress.h>

typedef struct making {
    const char *what;
    /* Makes out of in, and asks progress at least once on the way; out is NULL
     * where in is to be replaced. */
    ggld_status (*run)(const char *in, const char *out, ggld_progress progress,
                       void *user, ggld_error *err);
    bool replaces;  /* its output is its input */
    bool makes_set; /* of shards: out is the prefix of their names */
    /* 0, or of how many its input is a set: in is the first one, and the last
     * is the one that changes. */
    unsigned n_shards;
} making;

/* save_input: a model to be made something of, or of a set the shards, path
 * being their names' prefix. n_failed (views/check.h) counts. */
void try_each_change(const making *m, void (*save_input)(const char *path));

#endif /* TESTS_CHANGE_CHANGING_H */
