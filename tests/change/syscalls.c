/* SPDX-License-Identifier: MIT */
/* See syscalls.h. */
#include "syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../write/wraps.h"

syscalls calls;

void calls_reset(void)
{
    memset(&calls, 0, sizeof calls);
    calls.fault_at = NEVER;
    calls.kill_at = NEVER;
}

static bool intercept(const char *name)
{
    if (!calls.armed)
        return false;
    if (calls.n_calls == calls.kill_at)
        raise(SIGKILL);
    if (calls.n_calls++ != calls.fault_at)
        return false;
    calls.faulted = name;
    errno = calls.fault_errno;
    return true;
}

static size_t at_most(size_t n)
{
    bool less = calls.armed && calls.most_bytes != 0 && n > calls.most_bytes;
    return less ? calls.most_bytes : n;
}

WRAP_MKDIRAT("mkdirat")
WRAP_FCHMOD("fchmod")
WRAP(fallocate64, "fallocate64", int, (int fd, int mode, off_t at, off_t size),
     (fd, mode, at, size))
WRAP(pwrite64, "pwrite64", ssize_t,
     (int fd, const void *data, size_t n, off_t at), (fd, data, at_most(n), at))
WRAP(copy_file_range, "copy_file_range", ssize_t,
     (int in, off_t *from, int out, off_t *to, size_t n, unsigned flags),
     (in, from, out, to, at_most(n), flags))

ssize_t __real_pread64(int fd, void *data, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t n, off_t at)
{
    if (calls.reads && intercept("pread64"))
        return -1;
    return __real_pread64(fd, data, at_most(n), at);
}

WRAP_FTRUNCATE("ftruncate64")
WRAP_RENAMEAT("renameat")
WRAP(renameat2, "renameat2", int,
     (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags))
WRAP_UNLINKAT("unlinkat")

/* The disk is not waited for: who dies here is a process, not the system. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat st;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    return intercept(folder ? "fsync of a folder" : "fsync") ? -1 : 0;
}

/* Only those that make files: reading is tried elsewhere. */
WRAP_OPENAT("openat", true)
