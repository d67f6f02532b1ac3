/* SPDX-License-Identifier: MIT */
/* Diagnostics: one line each on standard error, "ggld: FILE: what". Names are
 * escaped, whether they come from a file or from the command line. */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdbool.h>

#include <ggld/error.h>

#include "command.h"

/* What the library advises of GGLD_OPEN_SINGLE, in words of a command that has
 * --single, or left out for one that has not. */
typedef struct report_text {
    char text[sizeof((ggld_error *)0)->message];
} report_text;
report_text report_words(const char *message, bool has_single);

/* All of these return the exit status that goes with them. */
int report_error(const char *path, const ggld_error *err);
/* Of a command that has --single. */
int report_error_single(const char *path, const ggld_error *err);
int report_errno(const char *path, int sys_errno, const char *what);
int report(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int report_usage(const args *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Does it say that the output is the input? That is wrong usage. */
bool report_is_onto_itself(const ggld_error *err);
/* Worth knowing; nothing is wrong. */
void report_note(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* TOOLS_REPORT_H */
