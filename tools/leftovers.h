/* SPDX-License-Identifier: MIT */
/* Temporary files that a command which was killed has left of an output. */
#ifndef TOOLS_LEFTOVERS_H
#define TOOLS_LEFTOVERS_H

/* Before path is written: removes them, and says so in one line. */
void leftovers_remove(const char *path);

#endif /* TOOLS_LEFTOVERS_H */
