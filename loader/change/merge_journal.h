/* SPDX-License-Identifier: MIT */
/* What a merge that consumes its shards has to remember: which shards there
 * were, and which are in the output. It appears whole; afterwards one byte a
 * shard is all that changes. */
#ifndef GGLD_CHANGE_MERGE_JOURNAL_H
#define GGLD_CHANGE_MERGE_JOURNAL_H

#include <stdbool.h>
#include <sys/stat.h>

#include "../base/alloc.h"
#include "../base/error.h"

typedef struct ggld_shard_identity {
    uint64_t size_bytes;
    uint64_t seconds; /* of its last change, which nobody can set back */
    uint64_t nanoseconds;
    uint64_t n_tensors;
    uint64_t digest; /* of its tensors, as they are in the part */
} ggld_shard_identity;

/* An inode's number alone is given to the next file when the part is gone. */
typedef struct ggld_part_identity {
    uint64_t device;
    uint64_t inode; /* 0: it was not yet made when the journal was */
    uint64_t born;  /* in nanoseconds; 0: the system does not say */
} ggld_part_identity;

typedef struct ggld_merge_journal {
    ggld_part_identity part;
    uint32_t n_shards;
    ggld_shard_identity *shards;
    uint8_t *done;          /* 1: the shard is in the part */
    uint64_t prefix_digest; /* of the shards' common name */
    uint64_t done_offset;   /* in the journal's file */
} ggld_merge_journal;

/* Of a file that has these times; tensors and digest are for the caller. */
ggld_shard_identity ggld_shard_identity_of(const struct stat *st);
/* Size and time: is it the same by these alone? */
bool ggld_shard_identity_same(const ggld_shard_identity *a,
                              const ggld_shard_identity *b);

/* Of what is under name in the folder, a link itself, or where name is "" of
 * folder_fd. false: errno. */
bool ggld_part_identity_of(int folder_fd, const char *name,
                           ggld_part_identity *out);
/* false where that can't be known. */
bool ggld_part_identity_same(const ggld_part_identity *a,
                             const ggld_part_identity *b);

/* Memory for n_shards; false where there is none. */
bool ggld_merge_journal_init(ggld_merge_journal *j, const ggld_allocator *a,
                             uint32_t n_shards);
void ggld_merge_journal_free(ggld_merge_journal *j, const ggld_allocator *a);

/* All of these: 0, or the errno; EWOULDBLOCK: another process has the journal
 * locked. *lock_fd, -1 or of the journal that was there, is of the one that is
 * there now, and locked.
 *
 * save makes the file under name, by fresh_name and a rename, to disk but for
 * the folder; EEXIST: under fresh_name is what no save has made, or, where there
 * is no lock yet, there is something under name. */
int ggld_merge_journal_save(ggld_merge_journal *j, const ggld_allocator *a,
                            int folder_fd, const char *name,
                            const char *fresh_name, int *lock_fd);
/* ENOENT: there is none. EBADMSG: it is damaged. */
int ggld_merge_journal_load(ggld_merge_journal *j, const ggld_allocator *a,
                            int folder_fd, const char *name, int *lock_fd);
/* The shard is in the part, which is on disk; and now this is too. */
int ggld_merge_journal_mark(ggld_merge_journal *j, int folder_fd,
                            const char *name, uint32_t no);

#endif /* GGLD_CHANGE_MERGE_JOURNAL_H */
