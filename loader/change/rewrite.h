/* SPDX-License-Identifier: MIT */
/* All of a file into another one: what upgrade and merge have in common. */
#ifndef GGLD_CHANGE_REWRITE_H
#define GGLD_CHANGE_REWRITE_H

#include "take.h"

typedef struct ggld_rewrite {
    const ggld_file *in;
    bool drop_split;
    bool big_endian;
    bool compare; /* before the new file gets its name */
    ggld_meter meter;
} ggld_rewrite;

/* Bytes that the meter will move by. */
uint64_t ggld_rewrite_bytes(const ggld_rewrite *r);
/* GGLD_E_CHANGED where in has changed meanwhile. */
ggld_status ggld_rewrite_run(ggld_rewrite *r, const char *path,
                             ggld_error *err);

#endif /* GGLD_CHANGE_REWRITE_H */
