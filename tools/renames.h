/* SPDX-License-Identifier: MIT */
/* A table of new names, as text: a line each, OLD NEW, parted by tabs, so that
 * names may have spaces, or, where a line has no tab, by spaces. Empty lines, and
 * those that begin with #, say nothing. */
#ifndef TOOLS_RENAMES_H
#define TOOLS_RENAMES_H

#include <stdbool.h>

#include <ggld/export.h>

#define RENAMES_WHY_MAX 320

typedef struct renames {
    ggld_export_rename *table; /* in the order of the lines */
    size_t n;
    char *text; /* where its names are */
} renames;

/* Takes text, of malloc and ended by a NUL, over. false, and why, for people:
 * it has a NUL before its end, a line is not of two names, a name has two new
 * ones, or there is no memory. To be freed in any case. */
bool renames_read(renames *r, char *text, size_t size,
                  char why[RENAMES_WHY_MAX]);
void renames_free(renames *r);

#endif /* TOOLS_RENAMES_H */
