/* SPDX-License-Identifier: MIT */
/* A merge that removes its shards as it goes: what is known of it, and what
 * becomes of one shard. */
#ifndef GGLD_CHANGE_CONSUME_H
#define GGLD_CHANGE_CONSUME_H

#include <stdbool.h>

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

ggld_status ggld_consume_fail(const ggld_consume *c, int sys_errno,
                              const char *what, ggld_error *err);
ggld_status ggld_consume_fail_memory(ggld_error *err);

/* ---- the beginning: consume_begin.c ---- */

/* The shards read, then the journal, then the part. */
ggld_status ggld_consume_begin(ggld_consume *c, ggld_error *err);

/* ---- the journal: consume_journal.c ---- */

/* It is written anew as it is in memory; its folder is synced. */
ggld_status ggld_consume_save_journal(ggld_consume *c, ggld_error *err);
/* *found: there is one, and it is of these shards. */
ggld_status ggld_consume_load_journal(ggld_consume *c, bool *found,
                                      ggld_error *err);
/* After the last of all: the output has its name. */
ggld_status ggld_consume_drop_journal(const ggld_consume *c, ggld_error *err);
/* Of the shards' common name, without folders. */
uint64_t ggld_consume_prefix_digest(const ggld_consume *c);
/* Shards that are in the part; 0 where there is no journal. */
uint32_t ggld_consume_n_done(const ggld_consume *c);
/* name lies beside the output, and is not of this merge. */
ggld_status ggld_consume_fail_foreign(const ggld_consume *c, const char *name,
                                      ggld_error *err);

/* ---- the part: consume_part.c ---- */

/* The journal speaks of this file from now on. */
ggld_status ggld_consume_know_part(ggld_consume *c,
                                   const ggld_part_identity *part,
                                   ggld_error *err);
/* The part under this name. Where it is another file than the journal's, what
 * was consumed has to be in it: else GGLD_E_CHANGED. */
ggld_status ggld_consume_open_part(ggld_consume *c, const char *name,
                                   ggld_error *err);
void ggld_consume_close_part(ggld_consume *c);
/* Are the shard's tensors in it, as the journal knows them? */
ggld_status ggld_consume_part_has(ggld_consume *c, uint32_t no, bool *has,
                                  ggld_error *err);
/* The system went down between the name and the journal's end? */
bool ggld_consume_is_named(const ggld_consume *c);
/* The part is an output that has its name, in a folder that was copied? */
bool ggld_consume_is_named_copy(ggld_consume *c);
bool ggld_consume_is_there(const ggld_consume *c, const char *name);
ggld_status ggld_consume_name_part(const ggld_consume *c, ggld_error *err);
/* No shard is in it yet: as if nothing had been begun. */
void ggld_consume_take_back(ggld_consume *c);

/* ---- one shard: consume_shard.c ---- */

const char *ggld_consume_path(const ggld_consume *c, uint32_t no);
/* How many of them are there. */
uint32_t ggld_consume_n_shards(const ggld_consume *c);
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
 * down: it is looked for in the part once more, and taken in if it is not there
 * after all. Another file of that name is nobody's business here. */
ggld_status ggld_consume_settle(ggld_consume *c, uint32_t no, ggld_error *err);

#endif /* GGLD_CHANGE_CONSUME_H */
