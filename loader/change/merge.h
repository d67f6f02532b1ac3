/* SPDX-License-Identifier: MIT */
/* What both ways to merge ask first. */
#ifndef GGLD_CHANGE_MERGE_H
#define GGLD_CHANGE_MERGE_H

#include <ggld/file.h>

/* GGLD_E_INVALID where the file is no set. */
ggld_status ggld_merge_check_set(const ggld_file *file, ggld_error *err);

#endif /* GGLD_CHANGE_MERGE_H */
