/* SPDX-License-Identifier: MIT */
/* Guesses at what became of a broken file, to stand behind the message. */
#ifndef GGLD_READ_HINTS_H
#define GGLD_READ_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/span.h"

/* These return static text that goes on from a message, or "". */

/* Of a file of this name (NULL: unknown) or else of this size, where it is cut
 * off or starts oddly: that it may be one part of several. */
const char *ggld_hint_part(const char *path);
const char *ggld_hint_part_size(uint64_t file_bytes);

/* Of a field of size bytes at offset, in the span with its first byte, that
 * can't be right: that a text filter went over the file. */
const char *ggld_hint_filter(ggld_span span, uint64_t offset, uint64_t size);

/* Is the journal of an edit in place beside the file of that name (NULL:
 * unknown)? */
bool ggld_hint_journal(const char *path);

#endif /* GGLD_READ_HINTS_H */
