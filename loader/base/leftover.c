/* SPDX-License-Identifier: MIT */
/* See leftover.h. Who writes a temporary file has it locked from its making on
 * (target.c), and locks end with the process: what can be locked is nobody's. */
#include "leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"

static bool is_own(const ggld_target *t, const struct stat *st)
{
    return S_ISREG(st->st_mode) &&
           (st->st_uid == geteuid() || (t->replaces && st->st_uid == t->uid));
}

/* -1: it is none of ours. Looked at first, as opening a device may do
 * something. */
static int open_own(const ggld_target *t, const char *name, struct stat *st)
{
    int fd;

    if (fstatat(t->folder_fd, name, st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !is_own(t, st))
        return -1;
    do
        fd = openat(t->folder_fd, name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 || (fstat(fd, st) == 0 && is_own(t, st)))
        return fd;
    close(fd);
    return -1;
}

static bool remove_one(const ggld_target *t, const char *name, uint64_t *bytes)
{
    struct stat st;
    int fd = open_own(t, name, &st);

    if (fd < 0)
        return false;
    bool gone = ggld_lock_temp(t->folder_fd, name, fd) == 0 &&
                unlinkat(t->folder_fd, name, 0) == 0;
    close(fd);
    *bytes = (uint64_t)st.st_size;
    return gone;
}

void ggld_leftover_remove(const ggld_target *t,
                          void (*removed)(const char *name, uint64_t bytes,
                                          void *user),
                          void *user)
{
    /* Of a set of shards some may be whole and have no lock (publish.c). */
    if (ggld_target_is_cut(t->name))
        return;
    int fd = fcntl(t->folder_fd, F_DUPFD_CLOEXEC, 0);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    uint64_t bytes;

    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    rewinddir(folder); /* the descriptors share a place in it */
    while ((entry = readdir(folder)) != NULL)
        if (ggld_target_is_temp(entry->d_name, t->name) &&
            remove_one(t, entry->d_name, &bytes) && removed != NULL)
            removed(entry->d_name, bytes, user);
    closedir(folder);
}
