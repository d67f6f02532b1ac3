/* SPDX-License-Identifier: MIT */
/* Works through the folder's descriptor, so that neither a change of working
 * directory nor a renamed folder leads astray. Never opens or changes the file
 * that is there. */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "leftover.h"
#include "lock.h"
#include "quote.h"

/* As many as Linux follows itself. */
#define MAX_LINKS 40
/* ".tmp." and 16 hexadecimal digits. */
#define TEMP_SUFFIX_BYTES 21
#define TEMP_TRIES        64

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

ggld_status ggld_target_fail(const ggld_target *t, int sys_errno,
                             const char *what, ggld_error *err)
{
    return ggld_fail_errno(err, sys_errno, in_file(), "output %s: %s",
                           ggld_quote(t->path, strlen(t->path)).text, what);
}

static ggld_status fail_kind(const ggld_target *t, const char *what,
                             ggld_error *err)
{
    return ggld_fail(err, GGLD_E_INVALID, in_file(), "output %s %s",
                     ggld_quote(t->path, strlen(t->path)).text, what);
}

static ggld_status fail_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory for the output's path");
}

/* Bytes of path in front of its last part, the slash included. */
static size_t folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* path becomes what its last part, a link, points to: link alone where that is
 * absolute, otherwise in the link's folder. */
static ggld_status follow_link(ggld_target *t, const char *link, size_t len,
                               ggld_error *err)
{
    size_t folder = link[0] == '/' ? 0 : folder_bytes(t->path);
    char *path = ggld_alloc(t->allocator, folder + len + 1, 1);
    if (path == NULL)
        return fail_memory(err);
    memcpy(path, t->path, folder);
    memcpy(path + folder, link, len);
    ggld_free(t->allocator, t->path);
    t->path = path;
    return GGLD_OK;
}

static ggld_status follow_links(ggld_target *t, ggld_error *err)
{
    char link[PATH_MAX];

    for (int i = 0; i < MAX_LINKS; i++) {
        ssize_t len = readlink(t->path, link, sizeof link);
        /* A link that can't be read must not be replaced. */
        if (len < 0 && errno == EIO)
            return ggld_target_fail(t, EIO, "can't look where it leads", err);
        if (len <= 0) /* no link; whatever else is wrong shows later */
            return GGLD_OK;
        ggld_status status = follow_link(t, link, (size_t)len, err);
        if (status != GGLD_OK)
            return status;
    }
    return ggld_target_fail(t, ELOOP, "can't follow the links", err);
}

/* Through links; of one that leads to a pipe there is no path to follow. */
static ggld_status expect_file(const ggld_target *t, ggld_error *err)
{
    struct stat st;

    if (stat(t->path, &st) != 0)
        return GGLD_OK; /* it is to be made, or what is wrong shows later */
    if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
        return fail_kind(t, "is a pipe, where a file is wanted", err);
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
        return fail_kind(t, "is a device, where a file is wanted", err);
    return GGLD_OK;
}

static ggld_status set_path(ggld_target *t, const char *path, ggld_error *err)
{
    size_t size = strlen(path) + 1;
    t->path = ggld_alloc(t->allocator, size, 1);
    if (t->path == NULL)
        return fail_memory(err);
    memcpy(t->path, path, size);
    ggld_status status = expect_file(t, err);
    if (status == GGLD_OK)
        status = follow_links(t, err);
    if (status != GGLD_OK)
        return status;
    t->name = t->path + folder_bytes(t->path);
    if (t->path[0] == '\0')
        return fail_kind(t, "is empty: give the path of a file", err);
    if (t->name[0] == '\0' || strcmp(t->name, ".") == 0 ||
        strcmp(t->name, "..") == 0)
        return fail_kind(t, "is a folder: give the path of a file", err);
    return GGLD_OK;
}

/* What is there under the name now. */
static ggld_status look_at_old(ggld_target *t, ggld_error *err)
{
    struct stat old;
    if (fstatat(t->folder_fd, t->name, &old, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return GGLD_OK;
        return ggld_target_fail(t, errno, "can't look at it", err);
    }
    if (S_ISDIR(old.st_mode))
        return fail_kind(t, "is a folder: give the path of a file", err);
    if (!S_ISREG(old.st_mode))
        return fail_kind(t, "is there and is no regular file", err);
    t->replaces = true;
    t->mode = old.st_mode & 07777;
    t->uid = old.st_uid;
    t->gid = old.st_gid;
    return GGLD_OK;
}

static ggld_status open_target(ggld_target *t, const char *path, bool make,
                               ggld_error *err)
{
    ggld_status status = set_path(t, path, err);
    if (status == GGLD_OK)
        status = ggld_folder_open(t, folder_bytes(t->path), make, err);
    if (status == GGLD_OK)
        status = look_at_old(t, err);
    if (status != GGLD_OK)
        ggld_target_close(t);
    return status;
}

void ggld_target_init(ggld_target *t, const ggld_allocator *allocator)
{
    memset(t, 0, sizeof *t);
    t->allocator = allocator;
    t->folder_fd = -1;
    t->lock_fd = -1;
    t->anchor_fd = -1;
}

ggld_status ggld_target_open(ggld_target *t, const char *path,
                             const ggld_allocator *allocator, ggld_error *err)
{
    ggld_target_init(t, allocator);
    return open_target(t, path, true, err);
}

ggld_status ggld_target_find(ggld_target *t, const char *path,
                             const ggld_allocator *allocator, ggld_error *err)
{
    ggld_target_init(t, allocator);
    return open_target(t, path, false, err);
}

/* The name, cut where the suffix would make it longer than a name can be, and
 * a number that another process or a run before is unlikely to have. */
static void make_temp_name(const ggld_target *t,
                           char out[static GGLD_TEMP_NAME_MAX])
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number =
        (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    number ^= (uint64_t)getpid() << 40;
    snprintf(out, GGLD_TEMP_NAME_MAX, "%.*s.tmp.%016llx",
             NAME_MAX - TEMP_SUFFIX_BYTES, t->name, (unsigned long long)number);
}

bool ggld_target_is_cut(const char *name)
{
    return strlen(name) > NAME_MAX - TEMP_SUFFIX_BYTES;
}

bool ggld_target_is_temp(const char *temp, const char *name)
{
    size_t len =
        ggld_target_is_cut(name) ? NAME_MAX - TEMP_SUFFIX_BYTES : strlen(name);

    return strlen(temp) == len + TEMP_SUFFIX_BYTES &&
           memcmp(temp, name, len) == 0 &&
           memcmp(temp + len, ".tmp.", 5) == 0 &&
           strspn(temp + len + 5, "0123456789abcdef") == 16;
}

/* The old file's mode whatever the umask is; a new one's by the umask. */
static int open_temp(const ggld_target *t, const char *temp_name)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd;
    do
        fd = openat(t->folder_fd, temp_name, flags,
                    t->replaces ? S_IRUSR | S_IWUSR : 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* As far as this process may: an owner that can't be kept is no failure. */
static void keep_owner(const ggld_target *t, int fd)
{
    struct stat now;

    if (fstat(fd, &now) == 0 &&
        (now.st_uid != t->uid || now.st_gid != t->gid) &&
        fchown(fd, t->uid, t->gid) != 0)
        (void)!fchown(fd, (uid_t)-1, t->gid);
}

/* Between its making and its lock another writer may take the file for a
 * leftover, and remove it: then it is to be made again, under another name.
 * Without locks it is kept as it is, as others remove nothing then. */
static int make_locked(ggld_target *t, const char *temp_name)
{
    int fd = open_temp(t, temp_name);

    if (fd < 0)
        return -1;
    int result = ggld_lock_temp(t->folder_fd, temp_name, fd);
    if (result == EWOULDBLOCK) {
        close(fd);
        unlinkat(t->folder_fd, temp_name, 0);
        errno = EEXIST;
        return -1;
    }
    /* The lock outlives fd, which is closed before the file has its name. */
    if (result == 0)
        t->lock_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return fd;
}

ggld_status ggld_target_make_temp(ggld_target *t, int *out, ggld_error *err)
{
    char temp_name[GGLD_TEMP_NAME_MAX];
    int fd = -1;

    ggld_leftover_remove(t, NULL, NULL);
    for (int i = 0; i < TEMP_TRIES && fd < 0; i++) {
        make_temp_name(t, temp_name);
        fd = make_locked(t, temp_name);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return ggld_target_fail(t, errno,
                                "can't make a temporary file beside it", err);
    memcpy(t->temp_name, temp_name, sizeof temp_name);
    if (t->replaces)
        keep_owner(t, fd);
    if (t->replaces && fchmod(fd, t->mode) != 0) {
        ggld_status status = ggld_target_fail(
            t, errno, "can't take over the old file's mode", err);
        close(fd);
        return status;
    }
    *out = fd;
    return GGLD_OK;
}

ggld_status ggld_target_reopen(const ggld_target *t, int *out, ggld_error *err)
{
    int fd;
    do
        fd = openat(t->folder_fd, t->temp_name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return ggld_target_fail(t, errno, "can't reopen its temporary file",
                                err);
    *out = fd;
    return GGLD_OK;
}

ggld_status ggld_target_commit(ggld_target *t, ggld_error *err)
{
    if (renameat(t->folder_fd, t->temp_name, t->folder_fd, t->name) != 0)
        return ggld_target_fail(t, errno, "can't give the new file its name",
                                err);
    t->temp_name[0] = '\0';
    ggld_folder_keep(t);
    if (!ggld_folder_sync(t->folder_fd))
        return ggld_target_fail(t, errno,
                                "it is there, but its folder can't "
                                "be synced",
                                err);
    return GGLD_OK;
}

void ggld_target_close(ggld_target *t)
{
    if (t->temp_name[0] != '\0')
        unlinkat(t->folder_fd, t->temp_name, 0);
    t->temp_name[0] = '\0';
    if (t->lock_fd >= 0)
        close(t->lock_fd);
    t->lock_fd = -1;
    if (t->folder_fd >= 0)
        close(t->folder_fd);
    t->folder_fd = -1;
    ggld_folder_remove_made(t);
    ggld_free(t->allocator, t->path);
    t->path = NULL;
}
