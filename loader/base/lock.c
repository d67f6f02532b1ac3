/* SPDX-License-Identifier: MIT */
/* See lock.h. The name is looked at once the lock is held: whoever had it
 * before may have removed the file. It is looked at without locks too. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* By what statfs(2) tells: NFS, SMB and CIFS, FUSE, 9P. */
static const uint32_t networks[] = { 0x6969,     0x517B,     0xFF534D42,
                                     0xFE534D42, 0x65735546, 0x01021997 };

static bool is_named(int folder_fd, const char *name, int fd)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 &&
           fstatat(folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

int ggld_lock_named(int folder_fd, const char *name, int fd)
{
    int result;

    do
        result = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    while (result == EINTR);
    if (result != EWOULDBLOCK && !is_named(folder_fd, name, fd))
        result = EWOULDBLOCK;
    return result;
}

int ggld_lock_temp(int folder_fd, const char *name, int fd)
{
    struct statfs system;
    int result;

    do
        result = fstatfs(fd, &system) == 0 ? 0 : errno;
    while (result == EINTR);
    if (result != 0)
        return result;
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if ((uint32_t)system.f_type == networks[i])
            return EOPNOTSUPP;
    return ggld_lock_named(folder_fd, name, fd);
}
