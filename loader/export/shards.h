/* SPDX-License-Identifier: MIT */
/* What the two safetensors sources, files and an index, have in common. */
#ifndef GGLD_EXPORT_SHARDS_H
#define GGLD_EXPORT_SHARDS_H

#include "header.h"
#include "source.h"

/* The state of a source. */
typedef struct ggld_shards {
    ggld_st_header *headers; /* their tensors are the source's */
    uint32_t n;
    char *index; /* its text, where there is one; to be freed */
    uint64_t index_bytes;
} ggld_shards;

/* Files in the order given, and all of their tensors. */
ggld_status ggld_shards_open(ggld_export_source *s, const char *const *paths,
                             size_t n_paths, ggld_error *err);
ggld_status ggld_shards_list(ggld_export_source *s, ggld_error *err);

/* The same of an index: the files that it names, beside it, in the order of
 * their names. Both have to name the same tensors in the same files. */
ggld_status ggld_shard_index_open(ggld_export_source *s,
                                  const char *const *paths, size_t n_paths,
                                  ggld_error *err);
ggld_status ggld_shard_index_list(ggld_export_source *s, ggld_error *err);

#endif /* GGLD_EXPORT_SHARDS_H */
