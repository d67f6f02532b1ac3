/* SPDX-License-Identifier: MIT */
/* Ctrl-C and its like as a question that long work asks between two chunks, so
 * that what was written halfway is removed. */
#ifndef TOOLS_STOP_H
#define TOOLS_STOP_H

#include <stdbool.h>

void stop_watch(void); /* from here on signals only set the answer */
bool stop_asked(void);
/* Reports it, and gives the exit status. */
int stop_report(const char *path);
/* The same of a command that never writes: it does not say that nothing was. */
int stop_report_reader(const char *path);
/* Once everything is tidy: dies of the signal that came, if one did, so that a
 * shell's loop hears of it and ends too. */
void stop_end(void);

#endif /* TOOLS_STOP_H */
