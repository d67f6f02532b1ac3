/* SPDX-License-Identifier: MIT */
/* See harness.h. */
#include "harness.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/falloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../write/wraps.h"

const char *const call_names[] = { "openat",   "pwrite",   "fsync",
                                   "renameat", "unlinkat", "insert",
                                   "collapse", "allocate", "close" };

harness_state harness;

static bool intercept(call what)
{
    if (!harness.armed)
        return false;
    if (harness.n_calls == harness.kill_at)
        raise(SIGKILL);
    cr_assert_lt(harness.n_calls, MAX_CALLS);
    bool fault = harness.n_calls == harness.fault_at;
    harness.calls[harness.n_calls++] = what;
    if (fault)
        errno = harness.fault_errno;
    return fault;
}

WRAP_OPENAT(OPENAT, false)

int __real_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len)
{
    call what = mode == FALLOC_FL_INSERT_RANGE     ? INSERT
                : mode == FALLOC_FL_COLLAPSE_RANGE ? COLLAPSE
                                                   : ALLOCATE;
    return intercept(what) ? -1 : __real_fallocate64(fd, mode, offset, len);
}

ssize_t __real_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset)
{
    if (intercept(PWRITE))
        return -1;
    if (harness.armed && harness.max_write != 0 && n > harness.max_write)
        n = harness.max_write;
    return __real_pwrite64(fd, data, n, offset);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return intercept(FSYNC) ? -1 : __real_fsync(fd);
}

WRAP_CLOSE(CLOSE)

WRAP_RENAMEAT(RENAMEAT)

WRAP_UNLINKAT(UNLINKAT)

void harness_reset(void)
{
    memset(&harness, 0, sizeof harness);
    harness.fault_at = MAX_CALLS;
    harness.kill_at = MAX_CALLS;
}

bool was_called(call what)
{
    for (unsigned i = 0; i < harness.n_calls; i++)
        if (harness.calls[i] == what)
            return true;
    return false;
}
