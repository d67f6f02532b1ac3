/* SPDX-License-Identifier: MIT */
/* An output file that appears under its name only complete: a temporary file
 * beside it, fsync, rename, fsync of the folder, which is made where it is not
 * there. What is no regular file (a
 * pipe, /dev/stdout) is written to as it is. */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include <limits.h>

#include "out.h"

typedef struct outfile {
    output out;
    const char *path;         /* as it was given */
    char target[PATH_MAX];    /* symbolic links followed */
    char temporary[PATH_MAX]; /* empty: written to as it is */
    size_t first_made;        /* where in target the first folder ends that was
                                 made for it; 0: none was */
} outfile;

/* Both give the exit status and report what is wrong; outfile_finish removes
 * the temporary file unless status is good and all was written. */
int outfile_begin(outfile *f, const char *path);
int outfile_finish(outfile *f, int status);

#endif /* TOOLS_OUTFILE_H */
