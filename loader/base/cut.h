/* SPDX-License-Identifier: MIT */
/* A file that has become shorter while it was read: one wording for every way
 * to read, so that who meets it need not know which was at work. */
#ifndef GGLD_BASE_CUT_H
#define GGLD_BASE_CUT_H

#include <inttypes.h>

#include "error.h"

/* Behind the file's name and ": "; its size now, and when it was opened. */
#define GGLD_CUT_FORMAT                                                        \
    "was truncated while it was read: it has %" PRIu64                         \
    " bytes now, and had %" PRIu64 " when it was opened"

/* The size now, in bytes from base of the file, where reading has come to an
 * end at `end` of the same: reading may have begun behind the file's end. */
uint64_t ggld_cut_size(int fd, uint64_t base, uint64_t end);
/* Fails with code at place; label: what comes before "file: ", or "". */
ggld_status ggld_fail_cut(ggld_error *err, ggld_status code, ggld_place place,
                          const char *label, uint64_t now, uint64_t had);

#endif /* GGLD_BASE_CUT_H */
