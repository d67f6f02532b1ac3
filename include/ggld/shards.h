/* SPDX-License-Identifier: MIT */
/* One model in several files, and back: what llama.cpp's gguf-split does, with
 * its names and keys. Sets are read by ggld_open_path (file.h). */
#ifndef GGLD_SHARDS_H
#define GGLD_SHARDS_H

#include "error.h"
#include "file.h"
#include "progress.h"
#include "write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "PREFIX-00002-of-00003.gguf" for prefix, 1, 3: no counts from 0. Writes what
 * dst_size has room for, always ended by a NUL (where it is not 0), and returns
 * the length of the whole. Any thread. */
GGLD_API size_t ggld_shard_path(char *dst, size_t dst_size, const char *prefix,
                                uint32_t no, uint32_t count);

/* ---- split ---- */

/* Shards that are there under those names are replaced. */
#define GGLD_SPLIT_FORCE (1u << 0)
/* No tensors in the first shard, which then is small. */
#define GGLD_SPLIT_BARE_FIRST (1u << 1)

/* One of the limits at least; 0: none. */
typedef struct ggld_split_options {
    size_t struct_size; /* sizeof(ggld_split_options) */
    uint32_t flags;     /* GGLD_SPLIT_... */
    uint32_t reserved32;
    /* Of a shard's file, with its metadata. A tensor that is larger by itself
     * has a shard of its own, which is larger too. */
    uint64_t max_bytes;
    uint64_t max_tensors;   /* of a shard */
    ggld_progress progress; /* may be NULL */
    void *progress_user;
    uint64_t reserved[4];
} ggld_split_options;

static inline ggld_split_options ggld_split_options_init(void)
{
    ggld_split_options options = {
        sizeof(ggld_split_options), 0, 0, 0, 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* Which tensors go into which shard: known before anything is written. */
typedef struct ggld_split_plan ggld_split_plan;

/* Shards hold tensors in table order, as many as the limits allow. The first
 * holds the model's key-values; all hold split.no (u16, from 0), split.count
 * (u16) and split.tensors.count (i32), and general.alignment where that is not
 * 32. A model that fits has one shard; a set may be split anew.
 *
 * GGLD_E_LIMIT: that makes more than 65535 shards. The file must stay open as
 * long as the plan. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_split_plan_new(ggld_split_plan **out, const ggld_file *file,
                                const ggld_split_options *options,
                                ggld_error *err);
/* plan may be NULL. */
GGLD_API void ggld_split_plan_free(ggld_split_plan *plan);
GGLD_API uint32_t ggld_split_plan_count(const ggld_split_plan *plan);

typedef struct ggld_split_shard {
    size_t struct_size; /* set by the caller: sizeof(ggld_split_shard) */
    uint64_t first_tensor;
    uint64_t n_tensors;
    uint64_t file_bytes;
    uint64_t reserved[2];
} ggld_split_shard;

/* Of shard no, from 0; all zero past the last. */
GGLD_API void ggld_split_plan_get(const ggld_split_plan *plan, uint32_t no,
                                  ggld_split_shard *out);

/* Writes the shards, as ggld_shard_path(prefix) names them: version 3, in the
 * byte order of the file. All appear or none: each is written beside its name
 * and synced, and when all are, they get their names, the first one last.
 * Data goes from file to file, as by ggld_writer_copy_tensor.
 *
 * GGLD_E_INVALID: a shard is there already and GGLD_SPLIT_FORCE was not said,
 * or a name is the file's own. GGLD_E_CHANGED: the file has changed meanwhile.
 * Whenever it fails, what was there is as it was and nothing is left.
 *
 * Should the system go down while names are given, some shards have theirs and
 * the others lie beside as NAME.tmp.*; with GGLD_SPLIT_FORCE old ones as
 * NAME.old.*. Old and new ones are never under their names together, and a set
 * that lacks shards does not open. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_split_write(const ggld_split_plan *plan, const char *prefix,
                             ggld_error *err);

/* ---- a set that is written anew ---- */

/* Shards whose data is put, as to a writer (write.h), and not there yet in any
 * file. One thread's at a time. After a failed call it can only be freed. */
typedef struct ggld_set_writer ggld_set_writer;

/* model is a writer on which key-values were set and tensors declared or
 * copied, and which has not begun. The shards are those that ggld_split_write
 * would make of the file that it would write, with its byte order, alignment,
 * GGLD_WRITE_SPARSE and progress; options are a split's, whose progress is not
 * used. The plan is made of the metadata alone, and the first shard begun. All
 * names are looked at now, as by ggld_split_write.
 *
 * model takes no more calls but free, after this writer's; tensors that it
 * copies stay open until then. Errors: those of ggld_split_plan_new(),
 * ggld_split_write() and ggld_writer_begin(); model then can only be freed. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_set_writer_begin(ggld_set_writer **out, ggld_writer *model,
                                  const char *prefix,
                                  const ggld_split_options *options,
                                  ggld_error *err);
/* Before finish: removes what was written. w may be NULL. */
GGLD_API void ggld_set_writer_free(ggld_set_writer *w);
/* Which tensors go into which shard; the writer's, until it is freed. */
GGLD_API const ggld_split_plan *ggld_set_writer_plan(const ggld_set_writer *w);
/* As ggld_writer_put_bytes: in the order of the model's tensors, from shard to
 * shard. A shard is written and synced before the next is begun. Index and
 * offset of errors are those of the shard. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_set_writer_put_bytes(ggld_set_writer *w, const void *data,
                                      size_t size, ggld_error *err);
/* As ggld_writer_seal: everything but the names. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_set_writer_seal(ggld_set_writer *w, ggld_error *err);
/* What was sealed gets its names, all or none, as by ggld_split_write. On
 * success the shards are there and synced; free the writer. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_set_writer_finish(ggld_set_writer *w, ggld_error *err);

/* ---- merge ---- */

/* What was written is read back and compared with the shards before it gets its
 * name. */
#define GGLD_MERGE_COMPARE (1u << 0)
/* The shards are removed when the output is there, synced, and compared: this
 * includes GGLD_MERGE_COMPARE. */
#define GGLD_MERGE_DELETE (1u << 1)

typedef struct ggld_merge_options {
    size_t struct_size;     /* sizeof(ggld_merge_options) */
    uint32_t flags;         /* GGLD_MERGE_... */
    uint32_t reserved32;    /* 0 */
    ggld_progress progress; /* may be NULL */
    void *progress_user;
    uint64_t reserved[4];
} ggld_merge_options;

static inline ggld_merge_options ggld_merge_options_init(void)
{
    ggld_merge_options options = {
        sizeof(ggld_merge_options), 0, 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* Writes the set that file is to path as one file, without the split keys:
 * version 3, in the first shard's byte order and alignment. It appears only
 * complete, and what was there is replaced.
 *
 * GGLD_E_INVALID: the file is no set, nor the one shard of one; or path is one
 * of its shards. GGLD_E_CHANGED: a shard has changed meanwhile. GGLD_E_CHECKSUM:
 * what was read back is not what was written. GGLD_E_IO after the output
 * appeared: a shard can't be removed; the message says which. options may be
 * NULL. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_merge(const ggld_file *file, const char *path,
                       const ggld_merge_options *options, ggld_error *err);

/* For a disk that has no room for both: each shard is removed as soon as its
 * part of the output is synced and compared with it. DESTROYS THE SHARDS as it
 * goes, and needs room for the largest of them besides. shard_path is the path
 * of any of them; they must be regular files, and not links. flags are 0.
 *
 * The output grows as PATH.ggld-part; PATH.ggld-merge, a journal, tells which
 * shards are in it. After a failure or a crash, at whatever point, the same
 * call goes on (shard_path may then be that of a shard that is gone); nothing
 * is lost meanwhile: each tensor is in a shard, in the part, or in both. Where
 * no shard is in it yet, a failure leaves nothing. At last the part gets its
 * name, and the journal goes. Shards, and a part, that have other times or are
 * copies are read, and known by their content; before anything more is removed
 * all that is left is looked at.
 *
 * GGLD_E_CHANGED: a shard, or the part, is not what it was when the merge
 * began, or another merge of theirs is at work. GGLD_E_INVALID: a part is there
 * of which no journal tells: it may be all that is left of other shards, and is
 * not touched. GGLD_E_SHARD: no shard is there, but a whole model at path, as
 * after a merge that was done. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_merge_consume(const char *shard_path, const char *path,
                               const ggld_merge_options *options,
                               ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_SHARDS_H */
