/* SPDX-License-Identifier: MIT */
/* An output that is there whole or not at all, whatever call fails, does less
 * than it was asked, or is the last of the process. */
#ifndef TESTS_CHANGE_WHOLE_H
#define TESTS_CHANGE_WHOLE_H

#include <ggld/error.h>

typedef struct writing {
    const char *what;
    /* Writes to that path, always the same, on one thread. */
    ggld_status (*run)(const char *out, ggld_error *err);
} writing;

/* n_failed (views/check.h) counts. */
void try_each_call(const writing *w);

#endif /* TESTS_CHANGE_WHOLE_H */
