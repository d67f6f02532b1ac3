/* SPDX-License-Identifier: MIT */
/* What went wrong, where, and who must act. Every fallible call returns a
 * ggld_status and takes a ggld_error as its last argument, which may be NULL.
 * On success the error is left as it was; on failure every field is set and
 * the call's output is untouched. Nothing is allocated, logged or kept. */
#ifndef GGLD_ERROR_H
#define GGLD_ERROR_H

#include <stdint.h>

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Codes are permanent: a number never changes its meaning. */
typedef enum ggld_status {
    GGLD_OK = 0,

    /* The caller must act. */
    GGLD_E_INVALID = 10,   /* an argument, or a call out of order */
    GGLD_E_NOMEM = 11,     /* the allocator returned NULL */
    GGLD_E_CANCELLED = 12, /* the caller asked for it */
    GGLD_E_ABI = 13,       /* struct_size or a reserved field is not ours */

    /* The system. sys_errno tells more. */
    GGLD_E_IO = 20,
    GGLD_E_CHANGED = 21, /* the file is not the one that was opened */

    /* The file's maker. */
    GGLD_E_MAGIC = 30,       /* not a GGUF file */
    GGLD_E_VERSION = 31,     /* a version of GGUF that is not known */
    GGLD_E_TRUNCATED = 32,   /* the file ends before what it declares */
    GGLD_E_OVERFLOW = 33,    /* a number or product that no file can hold */
    GGLD_E_LIMIT = 34,       /* past a limit of the format or the options */
    GGLD_E_STRING = 35,      /* a key, name or text that is not allowed */
    GGLD_E_VALUE_TYPE = 36,  /* of a key-value */
    GGLD_E_TENSOR_TYPE = 37, /* unknown, removed, or not allowed here */
    GGLD_E_SHAPE = 38,       /* rows that are not whole blocks, dimensions */
    GGLD_E_ALIGNMENT = 39,
    GGLD_E_OVERLAP = 40, /* two tensors share bytes */
    GGLD_E_DUPLICATE = 41,
    GGLD_E_CHECKSUM = 42,
    GGLD_E_VALUE = 43, /* NaN, infinity, or a value the type cannot hold */
    GGLD_E_SHARD = 44, /* shards that are not those of one set */

    /* Nobody is wrong, it is not offered. */
    GGLD_E_UNSUPPORTED = 50
} ggld_status;

/* The part of the file that an error speaks of. */
typedef enum ggld_section {
    GGLD_IN_NONE = 0,    /* no part: a wrong argument, no memory */
    GGLD_IN_FILE,        /* the file as a whole */
    GGLD_IN_HEADER,      /* magic, version, counts */
    GGLD_IN_KV,          /* index is the key-value's, in file order */
    GGLD_IN_TENSOR_INFO, /* index is the tensor's, in table order */
    GGLD_IN_TENSOR_DATA  /* index is the tensor's, in table order */
} ggld_section;

#define GGLD_NO_INDEX    UINT64_MAX
#define GGLD_MESSAGE_MAX 256

typedef struct ggld_error {
    ggld_status code;
    ggld_section section;
    int sys_errno;   /* 0 where the system is not at fault */
    uint32_t shard;  /* 0 where there is one file */
    uint64_t index;  /* of the record, or GGLD_NO_INDEX; of a set's tensor, in
                        the set's table, and from open in the shard's own */
    uint64_t offset; /* in the shard's file, of the field that is wrong; of a
                        view or buffer, the element */
    uint64_t reserved[2];
    /* One line, NUL-terminated. Names are quoted, control bytes and text that
     * is not UTF-8 stand as \xNN, long names are shortened with "...". */
    char message[GGLD_MESSAGE_MAX];
} ggld_error;

/* "GGLD_E_TRUNCATED" and so on; "GGLD_E_?" for a code that is not known. The
 * string is static. Any thread. */
GGLD_API const char *ggld_status_name(ggld_status code);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_ERROR_H */
