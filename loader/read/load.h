/* SPDX-License-Identifier: MIT */
/* From a source to an open file, for open and for check. */
#ifndef GGLD_READ_LOAD_H
#define GGLD_READ_LOAD_H

#include "file.h"
#include "hints.h"
#include "report.h"
#include "source.h"
#include "split.h"

/* What a file is made of. */
typedef struct ggld_load {
    ggld_source source;
    uint64_t source_heap_bytes;
    const ggld_open_options *options; /* checked */
    const char *path;                 /* NULL: none */
    ggld_part part;                   /* see report.h */
    ggld_split *split; /* filled by what the records say; or NULL */
} ggld_load;

/* Gives the load its source, and the part its size. */
ggld_status ggld_load_source(ggld_load *load, int fd, ggld_range range,
                             ggld_error *err);

/* The file, or NULL and report->status, with the source released and the
 * verifier still the caller's; it has not been asked yet. A check gets NULL and
 * GGLD_OK where the file's faults, which it has heard, kept it from being
 * one. */
ggld_file *ggld_load_file(const ggld_load *load, ggld_report *report);
/* Shows the verifier, where there is one, the file's metadata. */
bool ggld_load_verify(const ggld_file *file, ggld_report *report);
/* Ends the opening of a file that was cut meanwhile: that says more than
 * whatever has come of it. */
bool ggld_load_intact(const ggld_file *file, ggld_report *report);

/* Names the file in the error that ends its opening, where it is one shard of
 * several by what was read of it. */
void ggld_load_blame(const ggld_file *file, ggld_report *report);

/* A file's record without bytes; NULL: no memory. */
ggld_file *ggld_load_new(const ggld_load *load, const char *path);
/* Frees what the library made, and releases the source, of each shard too; not
 * the verifier. */
void ggld_load_release(ggld_file *file);

#endif /* GGLD_READ_LOAD_H */
