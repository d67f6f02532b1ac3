/* SPDX-License-Identifier: MIT */
/* Whether a file is this one's alone: that it has one name, and that nobody
 * else has it open or mapped. */
#ifndef GGLD_CHANGE_ALONE_H
#define GGLD_CHANGE_ALONE_H

#include <signal.h>
#include <stdbool.h>

#include "../base/error.h"

typedef struct ggld_alone {
    int fd;
    bool leased;
    bool blocked; /* the signal was not, before */
    sigset_t mask;
} ggld_alone;

/* Until it is given back, who opens the file waits, or hears that it would have
 * to. force: only other edits are kept out. fd: open for writing. */
ggld_status ggld_alone_take(ggld_alone *alone, int fd, bool force,
                            ggld_error *err);
void ggld_alone_give(ggld_alone *alone);

#endif /* GGLD_CHANGE_ALONE_H */
