/* SPDX-License-Identifier: MIT */
/* Opens a file in every way there is, and looks at what comes of it. For plain
 * mains: faults are printed and counted. */
#ifndef TESTS_MALFORMED_OUTCOME_H
#define TESTS_MALFORMED_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/file.h>

extern int outcome_faults;

/* Prints "name: ..." and counts. */
void outcome_fault(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Opens fd with flags, reads everything that can be reached in what opens, and
 * checks that a refusal is well said. *err is all zero where it opens. */
bool outcome_opens(const char *name, int fd, uint32_t flags, ggld_error *err);

/* The same of bytes in memory. */
bool outcome_opens_memory(const char *name, const void *data, size_t size,
                          uint32_t flags, ggld_error *err);

/* The same bytes by map, private copy and pread, and through ggld_check_fd:
 * all must agree. Does it open? */
bool outcome_agreed(const char *name, int fd, uint32_t flags, ggld_error *err);

#endif /* TESTS_MALFORMED_OUTCOME_H */
