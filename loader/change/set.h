/* SPDX-License-Identifier: MIT */
/* Shards that are written, one writer after the other, and named together. */
#ifndef GGLD_CHANGE_SET_H
#define GGLD_CHANGE_SET_H

#include "../write/writer.h"
#include "meter.h"
#include "publish.h"
#include "split_plan.h"

typedef struct ggld_set {
    const ggld_split_plan *plan;
    const char *prefix;
    /* Whose tensors they are, the plan being of its draft; NULL: those of the
     * plan's file. */
    const ggld_writer *model;
    ggld_meter meter;
    /* From open on. */
    char *path; /* room for any shard's */
    size_t path_bytes;
    ggld_publication out;
    ggld_writer *part; /* that is being written; NULL: none */
    uint32_t no;       /* its number, or that of the next */
} ggld_set;

/* All names are judged; the fields above were set. On failure there is nothing
 * to close. */
ggld_status ggld_set_open(ggld_set *s, ggld_error *err);
/* Begins shard s->no. */
ggld_status ggld_set_begin_part(ggld_set *s, ggld_error *err);
/* Seals it, and goes on to the next number. */
ggld_status ggld_set_end_part(ggld_set *s, ggld_error *err);
/* Once all have been ended: they get their names. */
ggld_status ggld_set_publish(ggld_set *s, ggld_error *err);
/* Removes what has not been published. */
void ggld_set_close(ggld_set *s);

#endif /* GGLD_CHANGE_SET_H */
