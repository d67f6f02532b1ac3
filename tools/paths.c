/* SPDX-License-Identifier: MIT */
/* See paths.h. */
#include "paths.h"

#include <sys/stat.h>

bool paths_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}
