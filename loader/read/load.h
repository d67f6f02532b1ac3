/* SPDX-License-Identifier: MIT */
/* From a source to an open file, for open and for check. */
#ifndef GGLD_READ_LOAD_H
#define GGLD_READ_LOAD_H

#include "file.h"
#include "report.h"

/* What a file is made of. */
typedef struct ggld_load {
    ggld_source source;
    uint64_t source_heap_bytes;
    const ggld_open_options *options; /* checked */
    const char *hint;                 /* see report.h */
} ggld_load;

/* The file, or NULL and report->status, with the source and the verifier still
 * the caller's. A check gets NULL and GGLD_OK where the file's faults, which
 * it has heard, kept it from being one. */
ggld_file *ggld_load_file(const ggld_load *load, ggld_report *report);

/* Frees what the library made; releases neither source nor verifier. */
void ggld_load_discard(ggld_file *file);

#endif /* GGLD_READ_LOAD_H */
