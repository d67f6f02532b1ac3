/* SPDX-License-Identifier: MIT */
/* The lock of a file that is open under a name: at once, or not at all. */
#ifndef GGLD_BASE_LOCK_H
#define GGLD_BASE_LOCK_H

/* Locks fd, which was opened as name. 0; EWOULDBLOCK where another has it
 * locked, or something else is called so by now; another errno where the file
 * system has no locks. Until the last descriptor of that opening is closed. */
int ggld_lock_named(int folder_fd, const char *name, int fd);

/* The same of a temporary file, whose lock tells others that somebody writes
 * it. EOPNOTSUPP on a network's file system, where one machine may not see
 * another's locks, and where with SMB a lock keeps also this process from
 * reading by another descriptor. */
int ggld_lock_temp(int folder_fd, const char *name, int fd);

#endif /* GGLD_BASE_LOCK_H */
