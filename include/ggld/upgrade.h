/* SPDX-License-Identifier: MIT */
/* An old file brought to the form that is written today, without loss. */
#ifndef GGLD_UPGRADE_H
#define GGLD_UPGRADE_H

#include "error.h"
#include "file.h"
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To a big-endian file, for a machine that has that order. */
#define GGLD_UPGRADE_BIG_ENDIAN (1u << 0)

typedef struct ggld_upgrade_options {
    size_t struct_size;     /* sizeof(ggld_upgrade_options) */
    uint32_t flags;         /* GGLD_UPGRADE_... */
    uint32_t reserved32;    /* 0 */
    ggld_progress progress; /* copying, then comparing; may be NULL */
    void *progress_user;
    uint64_t reserved[4];
} ggld_upgrade_options;

static inline ggld_upgrade_options ggld_upgrade_options_init(void)
{
    ggld_upgrade_options options = {
        sizeof(ggld_upgrade_options), 0, 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* What could not stay as it was. */
typedef struct ggld_upgrade_result {
    size_t struct_size; /* set by the caller: sizeof(ggld_upgrade_result) */
    /* Key-values whose key was there before: of one that is there twice the
     * first is kept, which is the one that readers find. */
    uint64_t n_kvs_left_out;
    /* Of the new file: the old one's, or 32 where that was no power of two, or
     * more than 1 MiB. */
    uint64_t alignment_bytes;
    uint64_t reserved[2];
} ggld_upgrade_result;

/* Writes the file, of any version and byte order, to path: version 3, and
 * little-endian where the flags ask for nothing else. All else stays as it is:
 * keys, types and values of the key-values and their order, names, types and
 * dimensions of the tensors, and what their bytes say. Data lies in the order
 * of the table, on the alignment, with zeros between. Of a set the shards become
 * one file, without the split keys.
 *
 * The new file gets its name only after it was read back, and every key-value
 * and all of every tensor compared with the old one. Until then nothing has
 * changed under that name, and on failure nothing is left.
 *
 * GGLD_E_UNSUPPORTED: a tensor of an unknown type in the other byte order; the
 * message names it. GGLD_E_INVALID: path is the file itself. GGLD_E_CHANGED:
 * the file has changed meanwhile. GGLD_E_CHECKSUM: what was read back is not
 * what was written; the message says where it differs. options and result may
 * be NULL. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_upgrade(const ggld_file *file, const char *path,
                         const ggld_upgrade_options *options,
                         ggld_upgrade_result *result, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_UPGRADE_H */
