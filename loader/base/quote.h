/* SPDX-License-Identifier: MIT */
/* Text out of a file made fit for a message or a terminal. */
#ifndef GGLD_BASE_QUOTE_H
#define GGLD_BASE_QUOTE_H

#include <stddef.h>
#include <stdint.h>

/* Room for a quoted name: about 64 bytes of it, quotes, and "...". */
#define GGLD_QUOTE_MAX 96

typedef struct ggld_quoted {
    char text[GGLD_QUOTE_MAX];
} ggld_quoted;

/* 'name', with control bytes, quotes' own backslash and bytes that are not
 * UTF-8 as \xNN, cut with "..." inside the quotes where it is long. Use as
 * ggld_quote(data, len).text in an argument list. */
ggld_quoted ggld_quote(const char *data, uint64_t len);

/* The same in at most max_bytes, NUL and quotes among them: 16 to
 * GGLD_QUOTE_MAX. */
ggld_quoted ggld_quote_within(const char *data, uint64_t len, size_t max_bytes);

/* Length of the well-formed UTF-8 character at data (1 to 4), or 0 where
 * there is none within len bytes. A NUL is one byte long. */
size_t ggld_utf8_len(const uint8_t *data, uint64_t len);

/* Bytes of data up to the first that is not UTF-8: len where all of it is. */
uint64_t ggld_utf8_prefix(const void *data, uint64_t len);

#endif /* GGLD_BASE_QUOTE_H */
