/* SPDX-License-Identifier: MIT */
/* A text line by line, the words of a line, and refusals that name them. */
#ifndef GGLD_INTEGRITY_LINES_H
#define GGLD_INTEGRITY_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/integrity.h>

/* A piece of the text; may be written to, as the text is the parser's own. */
typedef struct ggld_word {
    char *data;
    size_t len;
} ggld_word;

typedef struct ggld_lines {
    const char *label; /* quoted in messages as it is: the caller's own */
    char *text;
    size_t size;
    size_t pos;        /* of what comes behind the current line */
    uint64_t number;   /* of the current line, from 1 */
    uint64_t offset;   /* of its first byte */
    bool unterminated; /* it is the last one and has no newline */
    bool cr_lf;        /* all end in CR LF: the CR is no part of the line */
} ggld_lines;

/* The next line, without its end; false past the last. */
bool ggld_lines_next(ggld_lines *l, ggld_word *line);

/* GGLD_E_STRING (or another code) with "LABEL line N: " before the message. */
ggld_status ggld_lines_fail(const ggld_lines *l, ggld_error *err,
                            ggld_status code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Do all lines end in LF, or all in CR LF, as text from other systems has it?
 * Then cr_lf says which. To be asked before the first line is taken. */
GGLD_MUST_CHECK
ggld_status ggld_lines_agree(ggld_lines *l, ggld_error *err);
/* Does the last line have its newline? Where it has not, who can tell whether
 * it was cut? */
GGLD_MUST_CHECK
ggld_status ggld_lines_end(const ggld_lines *l, ggld_error *err);

/* Up to the next separator; the rest moves behind that one byte. All of the
 * rest where there is none. */
ggld_word ggld_word_split(ggld_word *rest, char separator);
static inline ggld_word ggld_word_next(ggld_word *rest)
{
    return ggld_word_split(rest, ' ');
}
bool ggld_word_is(ggld_word word, const char *text);
/* Decimal digits only, no zero before others. */
bool ggld_word_u64(ggld_word word, uint64_t *out);
/* An algorithm's name, in small letters. */
bool ggld_word_algo(ggld_word word, uint32_t *out);
/* "sha256:HEX"; both parts must be right. */
bool ggld_word_digest(ggld_word word, ggld_digest *out);

#endif /* GGLD_INTEGRITY_LINES_H */
