/* SPDX-License-Identifier: MIT */
/* System calls that go on where they were interrupted or did less than they
 * were asked to. */
#ifndef GGLD_CHANGE_SYS_H
#define GGLD_CHANGE_SYS_H

#include <stdbool.h>
#include <stdint.h>

/* All of these: 0, or the errno. */
int ggld_sys_read(int fd, void *dst, uint64_t size, uint64_t offset);
int ggld_sys_write(int fd, const void *data, uint64_t size, uint64_t offset);
int ggld_sys_sync(int fd);
int ggld_sys_cut(int fd, uint64_t size);
/* As mv -n does it, where the file system knows that: EEXIST where to is
 * taken. */
int ggld_sys_rename_to_free(int folder_fd, const char *from, const char *to);
/* Locks fd, which was opened as name: EWOULDBLOCK where another process has it
 * locked, or something else is called so by now. A file system without locks
 * has none that is locked. */
int ggld_sys_lock(int folder_fd, const char *name, int fd);
int ggld_sys_allocate(int fd, int mode, uint64_t offset, uint64_t size);

/* Bytes of a block, in which its file system inserts and shares. */
uint64_t ggld_sys_block_bytes(int fd);
/* Can ranges be inserted into files of that folder, of blocks of that size? Tried
 * on one without a name; what can't be told is true. */
bool ggld_sys_can_insert(int folder_fd, uint64_t block_bytes);
/* Is there room for size bytes more in that folder? Tried in the same way: 0, or
 * the errno; what can't be told is 0. */
int ggld_sys_try_room(int folder_fd, uint64_t size);
/* Asks for large pages, which come in with fewer faults; a wish. */
void ggld_sys_use_large_pages(void *memory, uint64_t size);
/* A file in a folder, as openat opens it: the descriptor, or -1 and errno. */
int ggld_sys_open(int folder_fd, const char *name, int flags, unsigned mode);

#endif /* GGLD_CHANGE_SYS_H */
