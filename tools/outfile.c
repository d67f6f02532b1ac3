/* SPDX-License-Identifier: MIT */
/* See outfile.h. */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

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

static int begin_temporary(outfile *f, mode_t mode)
{
    int n =
        snprintf(f->temporary, sizeof f->temporary, "%s.tmp.XXXXXX", f->target);

    if (n < 0 || (size_t)n >= sizeof f->temporary)
        return report_errno(f->path, ENAMETOOLONG, "cannot create");
    int fd = mkostemp(f->temporary, O_CLOEXEC);
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
