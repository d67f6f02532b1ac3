/* SPDX-License-Identifier: MIT */
/* A file's content taken over into another: what stays, and how it is seen
 * that it did. */
#ifndef GGLD_CHANGE_TAKE_H
#define GGLD_CHANGE_TAKE_H

#include <ggld/write.h>

#include "compare.h"

#define GGLD_KEY_SPLIT_NO      "split.no"
#define GGLD_KEY_SPLIT_COUNT   "split.count"
#define GGLD_KEY_SPLIT_TENSORS "split.tensors.count"

bool ggld_key_is(ggld_string key, const char *name);
/* One of those that make a file a shard? */
bool ggld_key_is_split(ggld_string key);

/* The alignment that a file with this one's content has: its own, or 32 where
 * that is none that a writer takes. */
uint32_t ggld_take_alignment(const ggld_file *file);
/* Tensors' bytes, all together. */
uint64_t ggld_take_bytes(const ggld_file *file);

/* Does the key-value stay? Not where its key was there before, nor the split
 * keys where they are to go. */
bool ggld_take_keeps(const ggld_file *file, const ggld_kv *kv, bool drop_split);
/* All that stay, in order; general.alignment becomes the writer's. */
ggld_status ggld_take_kvs(ggld_writer *w, const ggld_file *file,
                          bool drop_split, ggld_error *err);
/* Key-values that did not stay because their key was there before. */
uint64_t ggld_take_again(const ggld_file *file);
ggld_status ggld_take_tensors(ggld_writer *w, const ggld_file *file,
                              ggld_error *err);

/* Is all that was taken over from in what out holds? GGLD_E_CHECKSUM where it
 * is not. */
ggld_status ggld_take_check_kvs(const ggld_file *in, const ggld_file *out,
                                bool drop_split, ggld_error *err);
/* All of in's tensors, which out may have more of. */
ggld_status ggld_take_check_tensors(const ggld_file *in, const ggld_file *out,
                                    ggld_meter *meter, ggld_error *err);

/* GGLD_E_INVALID where path is a file that file was opened from. */
ggld_status ggld_take_other_path(const ggld_file *file, const char *path,
                                 ggld_error *err);
/* As ggld_file_changed, but that what can't be told is taken as unchanged. */
ggld_status ggld_take_unchanged(const ggld_file *file, ggld_error *err);

#endif /* GGLD_CHANGE_TAKE_H */
