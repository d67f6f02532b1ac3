/* SPDX-License-Identifier: MIT */
/* What a file was when it was opened, to tell whether it still is: the one rule
 * for whatever reads a model and writes another. Told by the descriptor alone: a
 * file that is replaced by rename loses its last name, and keeps its bytes. */
#ifndef GGLD_BASE_STAMP_H
#define GGLD_BASE_STAMP_H

#include <sys/stat.h>

#include "error.h"

typedef struct ggld_stamp {
    uint64_t size;
    uint64_t n_names;
    struct timespec content, inode; /* of their last change */
} ggld_stamp;

ggld_stamp ggld_stamp_of(const struct stat *st);
/* GGLD_OK where both are the same; else GGLD_E_CHANGED, and the message says
 * what has become of it. name: what stands before it, "file" or a path. */
ggld_status ggld_stamp_compare(const ggld_stamp *then, const ggld_stamp *now,
                               const char *name, ggld_error *err);

#endif /* GGLD_BASE_STAMP_H */
