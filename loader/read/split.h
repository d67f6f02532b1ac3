/* SPDX-License-Identifier: MIT */
/* Shards one by one: what their names and their key-values say. */
#ifndef GGLD_READ_SPLIT_H
#define GGLD_READ_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/quote.h"
#include "file.h"
#include "report.h"

/* split.count is a u16. */
#define GGLD_MAX_SHARDS 65535u

/* The path of shard number no of count: the prefix, and "-00002-of-00003.gguf"
 * for the second of three. */
typedef struct ggld_split_name {
    const char *path; /* whose first bytes are the prefix */
    size_t prefix_len;
    uint32_t no;
    uint32_t count;
} ggld_split_name;

/* false: the path does not end that way. */
bool ggld_split_name_of(const char *path, ggld_split_name *out);
/* What a shard's path would be, were it named as that one should be. */
ggld_split_name ggld_split_name_for(const char *path, uint32_t no,
                                    uint32_t count);
size_t ggld_split_path_bytes(const ggld_split_name *name); /* with the NUL */
void ggld_split_path(char *out, const ggld_split_name *name);

/* A path's last part for a message; of a long one the number stays. */
ggld_quoted ggld_split_label(const char *path);

/* What the records that have been parsed say of a file. */
typedef struct ggld_split {
    uint64_t count; /* 0: it is no shard */
    uint64_t no;    /* UINT64_MAX: it does not say */
} ggld_split;
ggld_split ggld_split_of(const ggld_file *file);

/* The rules for a file's own split.count: *out is 0 where it is no shard. All
 * of these: true where the work goes on. */
bool ggld_split_count(const ggld_file *file, ggld_report *report,
                      uint32_t *out);
/* For one that is to be number no of count. */
bool ggld_split_member(const ggld_file *file, ggld_report *report, uint32_t no,
                       uint32_t count);
/* For one in a set of n_tensors tensors. */
bool ggld_split_total(const ggld_file *file, ggld_report *report,
                      uint64_t n_tensors);

#endif /* GGLD_READ_SPLIT_H */
