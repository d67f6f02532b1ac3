/* SPDX-License-Identifier: MIT */
/* userfaultfd(2) as windows need it: the system calls and nothing else. Where
 * the system has none, all of these fail with ENOSYS. */
#ifndef GGLD_WINDOW_UFFD_H
#define GGLD_WINDOW_UFFD_H

#include <stdbool.h>
#include <stddef.h>

/* For faults of user mode, which needs no privilege. 0, or an errno. */
int ggld_uffd_open(int *out_fd);
/* From here on whoever touches a page of the range that is not there waits. */
int ggld_uffd_register(int fd, void *addr, size_t size, bool *can_poison);
/* Those who wait touch again. */
void ggld_uffd_unregister(int fd, void *addr, size_t size);

/* The address of a touch that waits; false: there is none now. */
bool ggld_uffd_next(int fd, void **out_addr);

/* Puts whole pages in place, instead of what is there, and wakes who waits for
 * them. 0, or an errno: then some may be in place. */
int ggld_uffd_copy(int fd, void *dst, const void *src, size_t size);
/* From here on touching them is SIGBUS, until they are given back. */
int ggld_uffd_poison(int fd, void *dst, size_t size);
void ggld_uffd_wake(int fd, void *addr, size_t size);

/* Frees the pages; the next touch waits. 0, or an errno. */
int ggld_uffd_give_back(void *addr, size_t size);

#endif /* GGLD_WINDOW_UFFD_H */
