/* SPDX-License-Identifier: MIT */
/* See outfile.h. */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leftovers.h"
#include "report.h"

/* ".tmp." and 16 hexadecimal digits. */
#define SUFFIX_BYTES    21
#define TEMPORARY_TRIES 64

static int begin_direct(outfile *f)
{
    int fd = open(f->path, O_WRONLY | O_CLOEXEC);

    f->temporary[0] = '\0';
    if (fd < 0)
        return report_errno(f->path, errno, "cannot open for writing");
    out_init(&f->out, fd);
    return STATUS_GOOD;
}

/* The mode that a plain creat() would give. */
static mode_t default_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Makes what is missing of the folder of f->target, and notes how much. errno,
 * or 0. */
static int make_folders(outfile *f)
{
    for (char *p = f->target + 1; *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        int sys_errno = mkdir(f->target, 0777) == 0 ? 0 : errno;
        if (sys_errno == 0 && f->first_made == 0)
            f->first_made = (size_t)(p - f->target);
        *p = '/';
        /* What else may be in the way, making the file tells. */
        if (sys_errno != 0 && sys_errno != EEXIST)
            return sys_errno;
    }
    return 0;
}

/* Those that were made, from the innermost on. */
static void remove_folders(outfile *f)
{
    size_t n = strlen(f->target);

    while (f->first_made != 0 && n > f->first_made) {
        while (f->target[n - 1] != '/')
            n--;
        f->target[--n] = '\0';
        (void)rmdir(f->target);
    }
}

/* Such a name as the library's writer gives, by which it knows what is left of
 * a command that was killed: at most NAME_MAX bytes of it. false: the path is
 * too long. */
static bool name_temporary(outfile *f)
{
    const char *slash = strrchr(f->target, '/');
    size_t folder = slash != NULL ? (size_t)(slash - f->target) + 1 : 0;
    size_t len = strnlen(f->target + folder, NAME_MAX - SUFFIX_BYTES);
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)getpid();
    int n = snprintf(f->temporary, sizeof f->temporary, "%.*s.tmp.%016" PRIx64,
                     (int)(folder + len), f->target, number);
    return n > 0 && (size_t)n < sizeof f->temporary;
}

/* Its lock says that it is somebody's. false: before it was taken another
 * command took the file for one that was left, and removed it. */
static bool is_held(const outfile *f, int fd)
{
    struct stat open_one, named;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK; /* else there are no locks */
    return fstat(fd, &open_one) == 0 && lstat(f->temporary, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* -1, with errno. */
static int make_temporary(outfile *f)
{
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        if (!name_temporary(f)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                      S_IRUSR | S_IWUSR);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && is_held(f, fd))
            return fd;
        if (fd >= 0) {
            close(fd);
            unlink(f->temporary);
        }
    }
    errno = EEXIST;
    return -1;
}

static int begin_temporary(outfile *f, mode_t mode)
{
    leftovers_remove(f->target);
    int fd = make_temporary(f);
    if (fd < 0)
        return report_errno(f->path, errno, "cannot create");
    if (fchmod(fd, mode) != 0) {
        int sys_errno = errno;
        close(fd);
        unlink(f->temporary);
        return report_errno(f->path, sys_errno, "cannot set the mode");
    }
    out_init(&f->out, fd);
    return STATUS_GOOD;
}

static int begin_new(outfile *f)
{
    int sys_errno = make_folders(f);
    int status = sys_errno == 0
                     ? begin_temporary(f, default_mode())
                     : report_errno(f->path, sys_errno, "cannot create");

    if (status != STATUS_GOOD)
        remove_folders(f);
    return status;
}

int outfile_begin(outfile *f, const char *path)
{
    struct stat st;

    f->path = path;
    f->first_made = 0;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        if (S_ISDIR(st.st_mode))
            return report_errno(path, EISDIR, "cannot write");
        return begin_direct(f);
    }
    if (realpath(path, f->target) == NULL) {
        if (errno != ENOENT || strlen(path) >= sizeof f->target)
            return report_errno(path, errno, "cannot create");
        memcpy(f->target, path, strlen(path) + 1);
        return begin_new(f);
    }
    return begin_temporary(f, st.st_mode & 0777);
}

static int sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int sys_errno = 0;

    if (fd < 0)
        return errno;
    if (fsync(fd) != 0 && errno != EINVAL)
        sys_errno = errno;
    close(fd);
    return sys_errno;
}

/* Makes the rename last, and the folders that were made: errno, or 0. */
static int sync_folders(const outfile *f)
{
    char folder[PATH_MAX + 1];
    size_t n = strlen(f->target);
    int sys_errno;

    do {
        while (n > 0 && f->target[n - 1] != '/')
            n--;
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): below. */
        memcpy(folder, f->target, n);
        memcpy(folder + n, ".", sizeof ".");
        sys_errno = sync_folder(folder);
        n -= n > 0;
    } while (sys_errno == 0 && f->first_made != 0 && n >= f->first_made);
    return sys_errno;
}

static int rename_into_place(const outfile *f)
{
    if (fsync(f->out.fd) != 0 || rename(f->temporary, f->target) != 0)
        return errno;
    return sync_folders(f);
}

int outfile_finish(outfile *f, int status)
{
    int sys_errno = out_flush(&f->out);

    if (status == STATUS_GOOD && sys_errno == 0 && f->temporary[0] != '\0')
        sys_errno = rename_into_place(f);
    if (close(f->out.fd) != 0 && sys_errno == 0)
        sys_errno = errno;
    if (f->temporary[0] != '\0' && (status != STATUS_GOOD || sys_errno != 0)) {
        unlink(f->temporary);
        remove_folders(f);
    }
    if (status == STATUS_GOOD && sys_errno != 0)
        return report_errno(f->path, sys_errno, "cannot write");
    return status;
}
