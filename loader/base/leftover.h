/* SPDX-License-Identifier: MIT */
/* Temporary files of a target that a process which was killed has left. */
#ifndef GGLD_BASE_LEFTOVER_H
#define GGLD_BASE_LEFTOVER_H

#include <stdint.h>

#include "target.h"

/* Removes them: regular files of the name that this target's have, of this
 * user's or the old file's owner, which no living process has locked; none
 * whose name is cut, as they may be another target's. Where the folder or the
 * locks do not let it, they stay; that is no failure. removed may be NULL; name
 * is in the folder. */
void ggld_leftover_remove(const ggld_target *t,
                          void (*removed)(const char *name, uint64_t bytes,
                                          void *user),
                          void *user);

#endif /* GGLD_BASE_LEFTOVER_H */
