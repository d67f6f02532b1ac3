/* SPDX-License-Identifier: MIT */
/* From bytes to records: header, key-values, tensor table. */
#ifndef GGLD_READ_PARSE_H
#define GGLD_READ_PARSE_H

#include <stdint.h>

#include "../base/error.h"
#include "file.h"
#include "hints.h"

typedef enum ggld_parsed {
    GGLD_PARSED,       /* to the end of the table */
    GGLD_PARSE_BROKEN, /* the file's fault: see error */
    GGLD_PARSE_MORE,   /* the bytes at hand end first: see span_needed */
    GGLD_PARSE_NOMEM
} ggld_parsed;

typedef struct ggld_parse {
    ggld_file *file;
    /* 0: no limit but the file's size. */
    uint64_t max_kv;
    uint64_t max_tensors;
    uint64_t max_string_bytes;
    ggld_part part; /* for messages of a file that is cut off */

    uint64_t kv_capacity;
    uint64_t tensor_capacity;
    uint64_t table_end; /* how far it came */
    uint64_t n_kvs;     /* that the header tells of; 0: it is broken */
    uint64_t n_tensors;
    bool cut; /* the file's end is what broke it, and not a wrong number */
    uint64_t span_needed; /* at most the file's size */
    ggld_error error;
} ggld_parse;

/* Reads file->metadata, which may be the first part of the file only, into the
 * file's records, anew from the start at each call. However it ends, the
 * records there are are whole, and offsets of tensors still count from the
 * data section. No judgement but what keeps it from going on; a type without
 * a size leaves size_bytes 0. */
ggld_parsed ggld_parse_run(ggld_parse *p);

#endif /* GGLD_READ_PARSE_H */
