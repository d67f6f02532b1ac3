/* SPDX-License-Identifier: MIT */
/* Calls of the static library that go through the test (ld --wrap), by the
 * names that glibc gives them where offsets have 64 bits. For a file that has an
 * intercept(what), which is true, with errno set, where the call is to fail. */
#ifndef TESTS_WRITE_WRAPS_H
#define TESTS_WRITE_WRAPS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

/* A call that is the same but for its failure. */
#define WRAP(name, what, result, parameters, arguments)                \
    result __real_##name parameters;                                   \
    result __wrap_##name parameters;                                   \
    result __wrap_##name parameters                                    \
    {                                                                  \
        return intercept(what) ? (result)-1 : __real_##name arguments; \
    }

#define WRAP_FCHMOD(what) \
    WRAP(fchmod, what, int, (int fd, mode_t mode), (fd, mode))
#define WRAP_FTRUNCATE(what) \
    WRAP(ftruncate64, what, int, (int fd, off_t size), (fd, size))
#define WRAP_MKDIRAT(what)                                            \
    WRAP(mkdirat, what, int, (int at, const char *path, mode_t mode), \
         (at, path, mode))
#define WRAP_RENAMEAT(what)   \
    WRAP(renameat, what, int, \
         (int a, const char *from, int b, const char *to), (a, from, b, to))
#define WRAP_UNLINKAT(what)                                          \
    WRAP(unlinkat, what, int, (int at, const char *path, int flags), \
         (at, path, flags))

/* Calls that make no file are told too, or not. */
#define WRAP_OPENAT(what, only_making)                             \
    int __real_openat64(int at, const char *path, int flags, ...); \
    int __wrap_openat64(int at, const char *path, int flags, ...); \
    int __wrap_openat64(int at, const char *path, int flags, ...)  \
    {                                                              \
        va_list list;                                              \
        va_start(list, flags);                                     \
        bool makes = (flags & O_CREAT) != 0;                       \
        mode_t mode = makes ? va_arg(list, mode_t) : 0;            \
        va_end(list);                                              \
        if ((makes || !(only_making)) && intercept(what))          \
            return -1;                                             \
        return __real_openat64(at, path, flags, mode);             \
    }

/* As Linux does it: closed in any case. */
#define WRAP_CLOSE(what)               \
    int __real_close(int fd);          \
    int __wrap_close(int fd);          \
    int __wrap_close(int fd)           \
    {                                  \
        bool fault = intercept(what);  \
        int injected = errno;          \
        int closed = __real_close(fd); \
        if (!fault)                    \
            return closed;             \
        errno = injected;              \
        return -1;                     \
    }

#endif /* TESTS_WRITE_WRAPS_H */
