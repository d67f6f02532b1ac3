/* SPDX-License-Identifier: MIT */
/* Makes folders one part at a time from the innermost that is there, the
 * anchor, and remembers which ones are new: only those may be removed. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(int at_fd, const char *path)
{
    int fd;
    do
        fd = openat(at_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool ggld_folder_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    /* Some file systems have nothing to sync of a folder, and say so. */
    return result == 0 || errno == EINVAL || errno == ENOTSUP;
}

/* End of the part of a path that starts at i. */
static size_t part_end(const char *path, size_t i)
{
    while (path[i] != '\0' && path[i] != '/')
        i++;
    return i;
}

static size_t skip_slashes(const char *path, size_t i)
{
    while (path[i] == '/')
        i++;
    return i;
}

/* The innermost folder of path that is there: its descriptor, and where in
 * path what is missing starts. -1, with errno, where there is none. */
static int open_anchor(char *path, size_t *missing)
{
    size_t end = strlen(path);

    for (;;) {
        char cut = path[end];
        path[end] = '\0';
        int fd = open_folder(AT_FDCWD, end == 0 ? "." : path);
        path[end] = cut;
        if (fd >= 0 || errno != ENOENT || end == 0) {
            *missing = skip_slashes(path, end);
            return fd;
        }
        while (end > 0 && path[end - 1] == '/')
            end--;
        while (end > 0 && path[end - 1] != '/')
            end--;
    }
}

/* Makes the part of made that ends at end, and opens it. New folders' entries
 * are brought to disk at once: the sync of the file's own folder would not. */
static int enter_part(ggld_target *t, int at_fd, const char *part, size_t end)
{
    if (mkdirat(at_fd, part, 0777) == 0) {
        t->made_end[end] = 1;
        if (!ggld_folder_sync(at_fd))
            return -1;
    } else if (errno != EEXIST) {
        return -1;
    }
    return open_folder(at_fd, part);
}

/* Every part of made, from the anchor on. -1, with errno, where one can't be
 * made. */
static int make_parts(ggld_target *t)
{
    int at_fd = t->anchor_fd;

    for (size_t i = 0; t->made[i] != '\0' && at_fd >= 0;) {
        size_t end = part_end(t->made, i);
        char cut = t->made[end];
        t->made[end] = '\0';
        int fd = enter_part(t, at_fd, t->made + i, end);
        int saved = errno;
        t->made[end] = cut;
        if (at_fd != t->anchor_fd)
            close(at_fd);
        errno = saved;
        at_fd = fd;
        i = skip_slashes(t->made, end);
    }
    return at_fd;
}

static ggld_status make_folder(ggld_target *t, const char *missing,
                               ggld_error *err)
{
    size_t size = strlen(missing) + 1;
    t->made = ggld_alloc(t->allocator, size, 2);
    if (t->made == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the output's path");
    memcpy(t->made, missing, size);
    t->made_end = (uint8_t *)t->made + size;
    t->folder_fd = make_parts(t);
    if (t->folder_fd < 0)
        return ggld_target_fail(t, errno, "can't make its folder", err);
    return GGLD_OK;
}

ggld_status ggld_folder_open(ggld_target *t, size_t len, bool make,
                             ggld_error *err)
{
    char *folder = ggld_alloc(t->allocator, len + 1, 1);
    if (folder == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the output's path");
    memcpy(folder, t->path, len);

    size_t missing;
    ggld_status status = GGLD_OK;
    int fd = open_anchor(folder, &missing);
    if (fd < 0) {
        status = ggld_target_fail(t, errno, "can't open its folder", err);
    } else if (folder[missing] == '\0') {
        t->folder_fd = fd;
    } else if (!make) {
        close(fd);
        status = ggld_target_fail(t, ENOENT, "can't open its folder", err);
    } else {
        t->anchor_fd = fd;
        status = make_folder(t, folder + missing, err);
    }
    ggld_free(t->allocator, folder);
    return status;
}

void ggld_folder_keep(ggld_target *t)
{
    if (t->anchor_fd >= 0)
        close(t->anchor_fd);
    t->anchor_fd = -1;
    ggld_free(t->allocator, t->made);
    t->made = NULL;
    t->made_end = NULL;
}

void ggld_folder_remove_made(ggld_target *t)
{
    if (t->made != NULL)
        for (size_t end = strlen(t->made); end > 0; end--) {
            if (t->made_end[end] == 0)
                continue;
            t->made[end] = '\0';
            unlinkat(t->anchor_fd, t->made, AT_REMOVEDIR);
        }
    ggld_folder_keep(t);
}
