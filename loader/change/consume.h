/* SPDX-License-Identifier: MIT */
/* A merge that removes its shards as it goes: what is known of it, and what
 * becomes of one shard. */
#ifndef GGLD_CHANGE_CONSUME_H
#define GGLD_CHANGE_CONSUME_H

#include "../base/target.h"
#include "../read/split.h"
#include "compare.h"
#include "merge_journal.h"

typedef struct ggld_consume {
    ggld_allocator heap;
    ggld_split_name set; /* of the shard that was named */
    char *shard_path;    /* room for any shard's */
    ggld_target place;   /* of the output */
    char part[GGLD_TEMP_NAME_MAX];
    char journal_name[GGLD_TEMP_NAME_MAX];
    char fresh_name[GGLD_TEMP_NAME_MAX];
    char *part_path;
    ggld_merge_journal journal;
    int journal_fd; /* holds the lock; -1: there is no journal */
    int part_fd;
    ggld_file *part_file; /* the same, as a model */
    bool big_endian;      /* the output */
    ggld_compare_room *room;
    ggld_meter meter;
} ggld_consume;

const char *ggld_consume_path(const ggld_consume *c, uint32_t no);
ggld_status ggld_consume_fail(const ggld_consume *c, int sys_errno,
                              const char *what, ggld_error *err);

/* The shard as it is now, its tensors read. */
ggld_status ggld_consume_identify(ggld_consume *c, uint32_t no,
                                  ggld_shard_identity *out, ggld_error *err);
/* Is it what the journal says? Of one with other times the tensors are read,
 * and where they are the same, its times are the journal's from now on.
 * GGLD_E_CHANGED: it is another one. */
ggld_status ggld_consume_recognise(ggld_consume *c, uint32_t no,
                                   ggld_error *err);
/* Into the part, to disk, compared, marked, removed. */
ggld_status ggld_consume_shard(ggld_consume *c, uint32_t no, ggld_error *err);
/* One that is in the part already is gone, or about to be when the system went
 * down. Another file of that name is nobody's business here. */
ggld_status ggld_consume_settle(ggld_consume *c, uint32_t no, ggld_error *err);

#endif /* GGLD_CHANGE_CONSUME_H */
