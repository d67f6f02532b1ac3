/* SPDX-License-Identifier: MIT */
/* A write lease is granted where the file is open this once. Who opens it then
 * waits, and the kernel tells the lease's holder by a signal: one that does
 * nothing by default, blocked on this thread, and taken away at the end. */
#include "alone.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "edit.h"

#define LEASE_SIGNAL SIGURG

static ggld_status check_names(int fd, ggld_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, ggld_in_file(), "file: fstat");
    if (st.st_nlink <= 1)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_in_file(),
                     "file: it has %" PRIu64
                     " names (hard links), which would all change; write a new "
                     "file, or force it",
                     (uint64_t)st.st_nlink);
}

/* Other edits, forced ones too. */
static ggld_status lock(int fd, ggld_error *err)
{
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS ||
        errno == ENOLCK)
        return GGLD_OK;
    if (errno != EWOULDBLOCK)
        return ggld_fail_errno(err, errno, ggld_in_file(), "file: locking it");
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_in_file(),
                     "file: it is locked, by another edit in place maybe; try "
                     "again later");
}

static void block_signal(ggld_alone *alone)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, LEASE_SIGNAL);
    if (pthread_sigmask(SIG_BLOCK, &set, &alone->mask) == 0)
        alone->blocked = sigismember(&alone->mask, LEASE_SIGNAL) == 0;
}

static void unblock_signal(ggld_alone *alone)
{
    const struct timespec now = { 0, 0 };
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, LEASE_SIGNAL);
    while (alone->blocked && sigtimedwait(&set, NULL, &now) == LEASE_SIGNAL)
        ;
    if (alone->blocked)
        pthread_sigmask(SIG_SETMASK, &alone->mask, NULL);
    alone->blocked = false;
}

/* The signal comes to this thread, where it is blocked. */
static int lease(int fd)
{
    struct f_owner_ex owner = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };

    if (fcntl(fd, F_SETSIG, LEASE_SIGNAL) != 0 ||
        fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
        return errno;
    (void)fcntl(fd, F_SETOWN_EX, &owner);
    return 0;
}

static ggld_status fail_lease(int sys_errno, ggld_error *err)
{
    if (sys_errno == EAGAIN)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_in_file(),
                         "file: it is open or mapped elsewhere, by who would "
                         "read old and new bytes mixed; close it, write a new "
                         "file, or force it");
    ggld_status status = ggld_fail_errno(
        err, sys_errno, ggld_in_file(),
        "file: a lease, which tells whether it is open elsewhere, is not to be "
        "had%s; write a new file, or force it",
        sys_errno == EACCES ? " but by the file's owner" : "");
    if (err != NULL)
        err->code = GGLD_E_UNSUPPORTED;
    (void)status;
    return GGLD_E_UNSUPPORTED;
}

ggld_status ggld_alone_take(ggld_alone *alone, int fd, bool force,
                            ggld_error *err)
{
    alone->fd = fd;
    alone->leased = false;
    alone->blocked = false;
    ggld_status status = force ? GGLD_OK : check_names(fd, err);
    if (status == GGLD_OK)
        status = lock(fd, err);
    if (status != GGLD_OK || force)
        return status;
    block_signal(alone);
    int result = lease(fd);
    if (result == 0) {
        alone->leased = true;
        return GGLD_OK;
    }
    ggld_alone_give(alone);
    return fail_lease(result, err);
}

void ggld_alone_give(ggld_alone *alone)
{
    if (alone->leased)
        (void)fcntl(alone->fd, F_SETLEASE, F_UNLCK);
    alone->leased = false;
    unblock_signal(alone);
    (void)flock(alone->fd, LOCK_UN);
}
