/* SPDX-License-Identifier: MIT */
/* Edits in place that were interrupted: said by all who look at a file, ended
 * by ggld edit. */
#ifndef TOOLS_PENDING_H
#define TOOLS_PENDING_H

#include <stdbool.h>

#include <ggld/edit.h>

#include "out.h"

/* "clean", "untouched", "halfway" and so on. */
const char *pending_name(ggld_edit_trace trace);
/* What there is; *why of all but GGLD_EDIT_CLEAN. A file that can't be looked
 * at is clean: whoever opens it next says what is wrong. */
ggld_edit_trace pending_of(const char *path, ggld_error *why);
/* Is the file neither the old one nor the new one? */
bool pending_is_between(ggld_edit_trace trace);
/* Ends it, where there is one; a note says so, or o, where it is not NULL. Exit
 * status. */
int pending_end(const char *path, bool force, output *o);

#endif /* TOOLS_PENDING_H */
