/* SPDX-License-Identifier: MIT */
/* Guesses at what became of a broken file, to stand behind the message. */
#ifndef GGLD_READ_HINTS_H
#define GGLD_READ_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/error.h>

#include "../base/span.h"

/* The finding of zeros that a file ends with begins and ends with these. */
#define GGLD_ZEROS_BEGIN "the last "
#define GGLD_ZEROS_END                                                  \
    ": perhaps a download that was interrupted after its room was set " \
    "aside"

/* And those of line ends that a transfer changed: 0D put before each 0A, or
 * taken from before it. */
#define GGLD_LINES_ADDED "each of the "
#define GGLD_LINES_TAKEN "none of the "
#define GGLD_LINES_ADDED_END                             \
    ": a transfer as text turned LF to CR LF; fetch it " \
    "again as binary"
#define GGLD_LINES_TAKEN_END                             \
    ": a transfer as text turned CR LF to LF; fetch it " \
    "again as binary"

/* Of a file that ends before what it is to have. */
#define GGLD_CUT_BEGIN "the file ends inside its "
#define GGLD_CUT_END   ": a download that stopped? resume it, or fetch it again"

/* These return static text that goes on from a message, or "". */

/* What tells of a file that it is one part of several. */
typedef struct ggld_part {
    const char *path;    /* NULL: unknown */
    uint64_t file_bytes; /* 0: it is a range of a file */
} ggld_part;

/* Of a file that is cut off or starts oddly: that it may be one part of
 * several, by its name, by that of a file beside it (two are looked for), or by
 * its size. */
const char *ggld_hint_part(ggld_part part);

/* Of a field of size bytes at offset, in the span with its first byte, that
 * can't be right: that a text filter went over the file. */
const char *ggld_hint_filter(ggld_span span, uint64_t offset, uint64_t size);

typedef enum ggld_hint_kind {
    GGLD_HINT_NONE,
    GGLD_HINT_PART, /* by names */
    GGLD_HINT_SIZE, /* a part, by a mere round number */
    GGLD_HINT_FILTER,
    GGLD_HINT_LINES,
    GGLD_HINT_ZEROS,
    GGLD_HINT_CUT
} ggld_hint_kind;

/* What kind the hint of an error's message is. */
ggld_hint_kind ggld_hint_kind_of(const ggld_error *error);

/* Is the journal of an edit in place beside the file of that name (NULL:
 * unknown)? */
bool ggld_hint_journal(const char *path);

#endif /* GGLD_READ_HINTS_H */
