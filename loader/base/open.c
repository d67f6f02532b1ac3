/* SPDX-License-Identifier: MIT */
/* Who asks for a file that has a lease on it is told to come again, and the
 * kernel tells the lease's holder. An edit in place holds one for some
 * milliseconds. */
#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <time.h>

#define FIRST_WAIT_MS 1u
#define MOST_WAIT_MS  64u
#define PATIENCE_MS   2000u

/* false: it has been long enough. */
static bool wait_again(unsigned *waited_ms, unsigned *wait_ms)
{
    const struct timespec pause = { 0, (long)*wait_ms * 1000000 };

    if (*waited_ms >= PATIENCE_MS)
        return false;
    (void)nanosleep(&pause, NULL);
    *waited_ms += *wait_ms;
    if (*wait_ms < MOST_WAIT_MS)
        *wait_ms *= 2;
    return true;
}

int ggld_open_patiently(int folder_fd, const char *path, int flags,
                        unsigned mode)
{
    const int always = O_CLOEXEC | O_NOCTTY;
    unsigned waited_ms = 0, wait_ms = FIRST_WAIT_MS;
    bool again;
    int fd;

    do {
        fd = openat(folder_fd, path, flags | always, mode);
        again = fd < 0 &&
                (errno == EINTR ||
                 (errno == EWOULDBLOCK && wait_again(&waited_ms, &wait_ms)));
    } while (again);
    return fd;
}

const char *ggld_open_hint(int sys_errno)
{
    switch (sys_errno) {
    case EWOULDBLOCK:
        return " (there is a lease on it, as while it is edited in place: try "
               "again)";
    case EMFILE:
        return " (a set needs one descriptor a shard: raise the limit, as by "
               "ulimit -n)";
    default:
        return "";
    }
}
