/* SPDX-License-Identifier: MIT */
/* The folder part of a target: opened, and made where it is not there. */
#ifndef GGLD_BASE_FOLDER_H
#define GGLD_BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "target.h"

/* Opens the folder that the first len bytes of the target's path name, and
 * makes it, with those above it, where it is not there and make says so. len
 * 0: the working directory. */
ggld_status ggld_folder_open(ggld_target *t, size_t len, bool make,
                             ggld_error *err);
/* Removes folders that were made, the innermost first, as far as they are
 * empty. */
void ggld_folder_remove_made(ggld_target *t);
/* They are to stay. */
void ggld_folder_keep(ggld_target *t);
/* false, with errno, where the folder's entries can't be brought to disk. */
bool ggld_folder_sync(int fd);

#endif /* GGLD_BASE_FOLDER_H */
