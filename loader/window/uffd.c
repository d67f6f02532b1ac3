/* SPDX-License-Identifier: MIT */
/* See uffd.h. Pages are put in place by UFFDIO_COPY. Minor faults on shared
 * memory (UFFDIO_CONTINUE) and moved pages (UFFDIO_MOVE) do without the copy,
 * but not without a fault for each page that is written, which costs more than
 * the copy of a page whose source is in the cache: tests/window/README.md has
 * the figures. */
#include "uffd.h"

#include <errno.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/userfaultfd.h>)
#include <linux/userfaultfd.h>
#define HAVE_UFFD
#endif
#endif

#ifdef HAVE_UFFD

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of the systems that this is built on. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* 5.11 */
#endif
#ifndef _UFFDIO_POISON
#define _UFFDIO_POISON 0x08 /* 6.6 */
struct uffdio_poison {
    struct uffdio_range range;
    __u64 mode;
    __s64 updated;
};
#define UFFDIO_POISON _IOWR(UFFDIO, _UFFDIO_POISON, struct uffdio_poison)
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* 5.18 */
#endif

int ggld_uffd_open(int *out_fd)
{
    struct uffdio_api api = { .api = UFFD_API };
    long fd =
        syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return errno;
    if (ioctl((int)fd, UFFDIO_API, &api) != 0) {
        int sys_errno = errno;
        close((int)fd);
        return sys_errno;
    }
    *out_fd = (int)fd;
    return 0;
}

static struct uffdio_range range_of(const void *addr, size_t size)
{
    struct uffdio_range range = { .start = (uintptr_t)addr, .len = size };
    return range;
}

int ggld_uffd_register(int fd, void *addr, size_t size, bool *can_poison)
{
    struct uffdio_register r = { .range = range_of(addr, size),
                                 .mode = UFFDIO_REGISTER_MODE_MISSING };
    if (ioctl(fd, UFFDIO_REGISTER, &r) != 0)
        return errno;
    *can_poison = (r.ioctls >> _UFFDIO_POISON & 1) != 0;
    return (r.ioctls >> _UFFDIO_COPY & 1) != 0 ? 0 : ENOSYS;
}

void ggld_uffd_unregister(int fd, void *addr, size_t size)
{
    struct uffdio_range range = range_of(addr, size);
    (void)ioctl(fd, UFFDIO_UNREGISTER, &range);
}

bool ggld_uffd_next(int fd, void **out_addr)
{
    struct uffd_msg message;
    while (read(fd, &message, sizeof message) == (ssize_t)sizeof message)
        if (message.event == UFFD_EVENT_PAGEFAULT) {
            *out_addr = (void *)(uintptr_t)message.arg.pagefault.address;
            return true;
        }
    return false;
}

int ggld_uffd_copy(int fd, void *dst, const void *src, size_t size)
{
    size_t at = 0;
    while (at < size) {
        struct uffdio_copy copy = { .dst = (uintptr_t)dst + at,
                                    .src = (uintptr_t)src + at,
                                    .len = size - at };
        if (ioctl(fd, UFFDIO_COPY, &copy) == 0)
            return 0;
        int sys_errno = errno;
        if (copy.copy > 0)
            at += (size_t)copy.copy;
        else if (sys_errno == EEXIST) {
            /* What nobody of ours has put there may be anything. */
            sys_errno = ggld_uffd_give_back((char *)dst + at, size - at);
            if (sys_errno != 0)
                return sys_errno;
        } else if (sys_errno != EAGAIN && sys_errno != EINTR)
            return sys_errno;
    }
    return 0;
}

int ggld_uffd_poison(int fd, void *dst, size_t size)
{
    struct uffdio_poison poison = { .range = range_of(dst, size) };
    return ioctl(fd, UFFDIO_POISON, &poison) == 0 ? 0 : errno;
}

void ggld_uffd_wake(int fd, void *addr, size_t size)
{
    struct uffdio_range range = range_of(addr, size);
    (void)ioctl(fd, UFFDIO_WAKE, &range);
}

int ggld_uffd_give_back(void *addr, size_t size)
{
    if (madvise(addr, size, MADV_DONTNEED) == 0)
        return 0;
    /* The app may have locked all of its memory. */
    return madvise(addr, size, MADV_DONTNEED_LOCKED) == 0 ? 0 : errno;
}

#else

int ggld_uffd_open(int *out_fd)
{
    (void)out_fd;
    return ENOSYS;
}

int ggld_uffd_register(int fd, void *addr, size_t size, bool *can_poison)
{
    (void)fd, (void)addr, (void)size, (void)can_poison;
    return ENOSYS;
}

void ggld_uffd_unregister(int fd, void *addr, size_t size)
{
    (void)fd, (void)addr, (void)size;
}

bool ggld_uffd_next(int fd, void **out_addr)
{
    (void)fd, (void)out_addr;
    return false;
}

int ggld_uffd_copy(int fd, void *dst, const void *src, size_t size)
{
    (void)fd, (void)dst, (void)src, (void)size;
    return ENOSYS;
}

int ggld_uffd_poison(int fd, void *dst, size_t size)
{
    (void)fd, (void)dst, (void)size;
    return ENOSYS;
}

void ggld_uffd_wake(int fd, void *addr, size_t size)
{
    (void)fd, (void)addr, (void)size;
}

int ggld_uffd_give_back(void *addr, size_t size)
{
    (void)addr, (void)size;
    return ENOSYS;
}

#endif
