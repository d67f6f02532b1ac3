/* SPDX-License-Identifier: MIT */
/* The lock of a file that is open under a name: at once, or not at all. */
#ifndef GGLD_BASE_LOCK_H
#define GGLD_BASE_LOCK_H

/* Locks fd, which was opened as name. 0; EWOULDBLOCK where another has it
 * locked, or something else is called so by now; another errno where the file
 * system has no locks. Until the last descriptor of that opening is closed. */
int ggld_lock_named(int folder_fd, const char *name, int fd);

#endif /* GGLD_BASE_LOCK_H */
