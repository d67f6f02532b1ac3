/* SPDX-License-Identifier: MIT */
/* See paths.h. */
#include "paths.h"

#include <string.h>
#include <sys/stat.h>

#include "report.h"

bool paths_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

bool paths_is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

int paths_refuse_stdout(const args *a, const char *what, const char *path)
{
    if (!paths_is_stdout(path))
        return STATUS_GOOD;
    return report_usage(a,
                        "%s is '-': it has to be a file, which appears only "
                        "complete (./- is one of that name)",
                        what);
}
