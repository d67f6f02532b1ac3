/* SPDX-License-Identifier: MIT */
/* Questions about names of files, as they are given. */
#ifndef TOOLS_PATHS_H
#define TOOLS_PATHS_H

#include <stdbool.h>

#include "command.h"

/* Do both name one existing file, by whatever links? */
bool paths_same(const char *a, const char *b);

/* "-", which is no file's name but standard output. path may be NULL. */
bool paths_is_stdout(const char *path);
/* Of a command whose output has to be a file, and is called what in its usage:
 * "-" would be one by mistake. Exit status. */
int paths_refuse_stdout(const args *a, const char *what, const char *path);

#endif /* TOOLS_PATHS_H */
