/* SPDX-License-Identifier: MIT */
/* Which tensors go into which shard. */
#ifndef GGLD_CHANGE_SPLIT_PLAN_H
#define GGLD_CHANGE_SPLIT_PLAN_H

#include <ggld/shards.h>

typedef struct ggld_shard_part {
    uint64_t first_tensor;
    uint64_t n_tensors;
    uint64_t file_bytes;
} ggld_shard_part;

struct ggld_split_plan {
    const ggld_file *file;
    ggld_split_options options;
    uint32_t alignment_bytes;
    bool big_endian;
    ggld_shard_part *parts;
    uint32_t n_parts;
    uint32_t cap;
};

#endif /* GGLD_CHANGE_SPLIT_PLAN_H */
