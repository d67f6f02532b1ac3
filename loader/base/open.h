/* SPDX-License-Identifier: MIT */
/* Opening a model to read it, by a name that may be anything's. */
#ifndef GGLD_BASE_OPEN_H
#define GGLD_BASE_OPEN_H

/* As openat opens it. With O_NONBLOCK a FIFO is not waited for; a file with a
 * lease on it, as it has while it is edited in place, is tried again for two
 * seconds, where open without it would wait. The descriptor, or -1 and errno. */
int ggld_open_patiently(int folder_fd, const char *path, int flags,
                        unsigned mode);
/* Stands behind the message of one that could not be opened so: what to do, or
 * "". */
const char *ggld_open_hint(int sys_errno);

#endif /* GGLD_BASE_OPEN_H */
