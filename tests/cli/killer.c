/* SPDX-License-Identifier: MIT */
/* Preloaded: the program is killed where it is about to sync a regular file,
 * as by a system that runs out of memory: all is written, and has no name. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

int fsync(int fd)
{
    int (*next)(int);
    struct stat st;

    *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        raise(SIGKILL);
    return next(fd);
}
