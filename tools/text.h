/* SPDX-License-Identifier: MIT */
/* Text for people: names made safe for a terminal, sizes, counts, floats. */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "out.h"

#define TEXT_NUMBER_MAX 96

/* The ending of what there are n of: "%" PRIu64 " tensor%s". */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

typedef struct text_number {
    char text[TEXT_NUMBER_MAX];
} text_number;

/* Length of the well-formed UTF-8 character at data (1 to 4) and its code
 * point; 0 where there is none within len bytes. */
size_t text_utf8(const char *data, size_t len, uint32_t *code);
/* May a terminal see it? Control characters, those that change the direction
 * of text, and invisible ones may not. */
bool text_printable(uint32_t code);

/* Names: what is not printable stands as \xNN (bytes that are not UTF-8, ASCII
 * controls) or \u{N}, a backslash as two. */
void text_put_name(output *o, const char *data, size_t len);
/* Text of several lines: the same, but lines and tabs are kept. */
void text_put_lines(output *o, const char *data, size_t len);
/* The same between double quotes, which are escaped too; cut with "..." after
 * max_chars characters. */
void text_put_quoted(output *o, const char *data, size_t len, size_t max_chars);
/* For messages: as text_put_name but backslashes as they are, into a buffer;
 * cut where it does not fit. */
void text_escape(char *dst, size_t dst_size, const char *data, size_t len);
/* Columns that text_put_name takes, one a character. */
size_t text_name_width(const char *data, size_t len);
/* The name, and spaces up to width columns. */
void text_put_column(output *o, const char *data, size_t len, size_t width);

/* The same, and "..." at the end of a name that is longer. */
void text_put_fitted(output *o, const char *data, size_t len, size_t width);

/* Columns of the terminal that fd is: as COLUMNS says, or the terminal; 80 where
 * neither does, or where it is none. */
size_t text_terminal_columns(int fd);

text_number text_size(uint64_t bytes);     /* "4.3 MiB" */
text_number text_grouped(uint64_t number); /* "4,521,344" */
text_number text_count(uint64_t number);   /* "8.03 B" */
/* The shortest that reads back as the same value. */
text_number text_f32(float value);
text_number text_f64(double value);

#endif /* TOOLS_TEXT_H */
