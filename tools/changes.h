/* SPDX-License-Identifier: MIT */
/* What an edit changes: the old file beside the new one. */
#ifndef TOOLS_CHANGES_H
#define TOOLS_CHANGES_H

#include <ggld/edit.h>

#include "js.h"
#include "out.h"

/* Lines that begin with "+" (added), "-" (removed), "~" (changed) or ">"
 * (renamed). ggld.padding is left out. */
void changes_print(output *o, const ggld_edit *edit, const ggld_file *now);
/* An array of {"change", "what", "name", and "old_name", "old", "new" where
 * there are such}. */
void changes_json(js *w, const char *key, const ggld_edit *edit,
                  const ggld_file *now);

#endif /* TOOLS_CHANGES_H */
