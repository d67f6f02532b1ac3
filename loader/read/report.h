/* SPDX-License-Identifier: MIT */
/* What the rules say, to an open (which ends with the first error) or to a
 * check (which hears everything). The rules themselves don't know which. */
#ifndef GGLD_READ_REPORT_H
#define GGLD_READ_REPORT_H

#include <stdbool.h>

#include <ggld/file.h>

#include "../base/error.h"
#include "hints.h"

typedef enum ggld_grade {
    GGLD_GRADE_NOTE,   /* a note in either mode */
    GGLD_GRADE_ODD,    /* a warning in either mode */
    GGLD_GRADE_STRICT, /* a warning; strict refuses it */
    GGLD_GRADE_ERROR   /* refused in either mode */
} ggld_grade;

typedef struct ggld_subject {
    ggld_place place;
    const ggld_string *name; /* of the record; NULL where it has none */
} ggld_subject;

typedef struct ggld_report {
    bool strict;
    ggld_finding finding; /* NULL: this is an open */
    void *user;
    ggld_part part;   /* for messages of files that are cut off */
    const char *hint; /* what was made of it; NULL: nothing yet */
    bool broken;      /* an error was heard of the file in hand */
    uint32_t hinted;  /* and hints: bits by their kinds */
    ggld_error *err;
    ggld_status status; /* why the work ended; GGLD_OK: it did not */
    /* What the finding is about was read from; NULL: it can't be cut short. */
    const ggld_source *source;
    /* The shard that findings are about; NULL: there is one file. */
    const char *shard_path;
    uint32_t shard;
} ggld_report;

static inline ggld_subject ggld_subject_of(ggld_section section, uint64_t index,
                                           uint64_t offset,
                                           const ggld_string *name)
{
    ggld_subject subject = { { section, index, offset }, name };
    return subject;
}

/* Fills in *out as a finding: "tensor 12 'name': ", what format makes, and
 * hint. */
void ggld_report_describe(ggld_error *out, ggld_status code,
                          ggld_subject subject, const char *hint,
                          const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Both: true where the work goes on. */
bool ggld_report_add(ggld_report *r, ggld_grade grade, ggld_status code,
                     ggld_subject subject, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool ggld_report_error(ggld_report *r, const ggld_error *error);

/* Puts a shard's number into an error (which may be NULL), and its name before
 * the message. */
void ggld_report_blame(ggld_error *err, uint32_t shard, const char *path);

/* Ends the work for want of memory; returns false. */
bool ggld_report_nomem(ggld_report *r, const char *what);

/* Is anyone to hear of this grade? Spares an open the looking. */
bool ggld_report_wants(const ggld_report *r, ggld_grade grade);

#endif /* GGLD_READ_REPORT_H */
