/* SPDX-License-Identifier: MIT */
/* See syscalls.h. The names are those that glibc gives the calls where offsets
 * have 64 bits. */
#include "syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A call that is the same but for the name. */
#define WRAP(name, result, parameters, arguments)                       \
    result __real_##name parameters;                                    \
    result __wrap_##name parameters;                                    \
    result __wrap_##name parameters                                     \
    {                                                                   \
        return intercept(#name) ? (result)-1 : __real_##name arguments; \
    }

WRAP(mkdirat, int, (int at, const char *path, mode_t mode), (at, path, mode))
WRAP(fchmod, int, (int fd, mode_t mode), (fd, mode))
WRAP(fallocate64, int, (int fd, int mode, off_t at, off_t size),
     (fd, mode, at, size))
WRAP(pwrite64, ssize_t, (int fd, const void *data, size_t n, off_t at),
     (fd, data, n, at))
WRAP(copy_file_range, ssize_t,
     (int in, off_t *from, int out, off_t *to, size_t n, unsigned flags),
     (in, from, out, to, n, flags))
WRAP(ftruncate64, int, (int fd, off_t size), (fd, size))
WRAP(renameat, int, (int a, const char *from, int b, const char *to),
     (a, from, b, to))
WRAP(renameat2, int,
     (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags))
WRAP(unlinkat, int, (int at, const char *path, int flags), (at, path, flags))

/* The disk is not waited for: who dies here is a process, not the system. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat st;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    return intercept(folder ? "fsync of a folder" : "fsync") ? -1 : 0;
}

/* Only those that make files: reading is tried elsewhere. */
int __real_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    if ((flags & O_CREAT) != 0 && intercept("openat"))
        return -1;
    return __real_openat64(at, path, flags, mode);
}
