/* SPDX-License-Identifier: MIT */
/* Questions about names of files. */
#ifndef TOOLS_PATHS_H
#define TOOLS_PATHS_H

#include <stdbool.h>

/* Do both name one existing file, by whatever links? */
bool paths_same(const char *a, const char *b);

#endif /* TOOLS_PATHS_H */
