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
} ggld_lines;

/* The next line, without its newline; false at the end. */
bool ggld_lines_next(ggld_lines *l, ggld_word *line);

/* GGLD_E_STRING (or another code) with "LABEL line N: " before the message. */
ggld_status ggld_lines_fail(const ggld_lines *l, ggld_error *err,
                            ggld_status code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Takes a CR off the line's end, as text from other systems has it. */
void ggld_word_strip_cr(ggld_word *line);

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
