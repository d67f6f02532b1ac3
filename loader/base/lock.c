/* SPDX-License-Identifier: MIT */
/* See lock.h. The name is looked at once the lock is held: whoever had it
 * before may have removed the file. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

int ggld_lock_named(int folder_fd, const char *name, int fd)
{
    struct stat open_one, named;
    int result;

    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return errno;
    if (fstat(fd, &open_one) != 0 ||
        fstatat(folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        open_one.st_ino != named.st_ino || open_one.st_dev != named.st_dev)
        return EWOULDBLOCK;
    return 0;
}
