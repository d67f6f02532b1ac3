/* SPDX-License-Identifier: MIT */
/* Preloaded: cuts the file $CUT_FILE to $CUT_BYTES as soon as the program has
 * opened it and, of a descriptor of it, made the $CUT_NTH call (1, 2, ...) of
 * $CUT_CALL: "mmap", in front of opening's reads, or "close", behind them. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static bool is_it(int fd)
{
    const char *path = getenv("CUT_FILE");
    struct stat a, b;
    return path != NULL && fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void cut(const char *call)
{
    static int n;
    const char *wanted = getenv("CUT_CALL"), *nth = getenv("CUT_NTH");
    const char *bytes = getenv("CUT_BYTES");

    if (wanted == NULL || bytes == NULL || strcmp(wanted, call) != 0)
        return;
    if (++n == (nth != NULL ? atoi(nth) : 1) &&
        truncate(getenv("CUT_FILE"), (off_t)atoll(bytes)) != 0)
        abort();
}

/* By the name that glibc gives the call where offsets have 64 bits. */
void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t);
    *(void **)&next = dlsym(RTLD_NEXT, "mmap64");
    void *map = next(at, size, prot, flags, fd, offset);
    if (fd >= 0 && map != MAP_FAILED && is_it(fd))
        cut("mmap");
    return map;
}

int close(int fd)
{
    int (*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "close");
    bool it = is_it(fd);
    int result = next(fd);
    if (it)
        cut("close");
    return result;
}
