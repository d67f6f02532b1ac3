/* SPDX-License-Identifier: MIT */
/* New names of tensors, by a table. */
#ifndef GGLD_EXPORT_RENAME_H
#define GGLD_EXPORT_RENAME_H

#include "plan.h"

/* Gives the planned tensors the names that the options' table has for them. A
 * name that the table has twice is refused; names in it that no tensor has are
 * noted. */
ggld_status ggld_rename_tensors(ggld_export_plan *p, ggld_error *err);

#endif /* GGLD_EXPORT_RENAME_H */
