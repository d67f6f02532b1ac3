/* SPDX-License-Identifier: MIT */
/* Loops around system calls. Judges nothing; whoever calls knows what the
 * descriptor is of. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/lock.h"
#include "../base/open.h"

/* Linux does at most 0x7ffff000 bytes at once. */
#define MAX_STEP_BYTES (1u << 30)

int ggld_sys_read(int fd, void *dst, uint64_t size, uint64_t offset)
{
    uint8_t *to = dst;
    while (size > 0) {
        size_t n = (size_t)ggld_min_u64(size, MAX_STEP_BYTES);
        ssize_t done = pread(fd, to, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) /* the end has moved */
            return done < 0 ? errno : ENODATA;
        to += done;
        offset += (uint64_t)done;
        size -= (uint64_t)done;
    }
    return 0;
}

int ggld_sys_write(int fd, const void *data, uint64_t size, uint64_t offset)
{
    const uint8_t *from = data;
    while (size > 0) {
        size_t n = (size_t)ggld_min_u64(size, MAX_STEP_BYTES);
        ssize_t done = pwrite(fd, from, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        from += done;
        offset += (uint64_t)done;
        size -= (uint64_t)done;
    }
    return 0;
}

int ggld_sys_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

int ggld_sys_cut(int fd, uint64_t size)
{
    int result;
    do
        result = ftruncate(fd, (off_t)size);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

int ggld_sys_allocate(int fd, int mode, uint64_t offset, uint64_t size)
{
    int result;
    do
        result = fallocate(fd, mode, (off_t)offset, (off_t)size);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

uint64_t ggld_sys_block_bytes(int fd)
{
    struct statvfs st;
    if (fstatvfs(fd, &st) != 0 || st.f_bsize == 0)
        return 4096;
    return st.f_bsize;
}

static int open_nameless(int folder_fd)
{
    return ggld_sys_open(folder_fd, ".", O_TMPFILE | O_WRONLY, 0600);
}

bool ggld_sys_can_insert(int folder_fd, uint64_t block_bytes)
{
    int fd = open_nameless(folder_fd);
    if (fd < 0)
        return true;
    int result = ggld_sys_cut(fd, 2 * block_bytes);
    if (result == 0)
        result = ggld_sys_allocate(fd, FALLOC_FL_INSERT_RANGE, 0, block_bytes);
    close(fd);
    return result != EOPNOTSUPP && result != EINVAL;
}

int ggld_sys_try_room(int folder_fd, uint64_t size)
{
    int fd = open_nameless(folder_fd);
    if (fd < 0)
        return 0;
    int result = ggld_sys_allocate(fd, 0, 0, size);
    close(fd);
    return result == ENOSPC || result == EDQUOT ? result : 0;
}

void ggld_sys_use_large_pages(void *memory, uint64_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)memory, end = start + (uintptr_t)size;

    start = (start + page - 1) / page * page;
    end = end / page * page;
    if (start < end)
        (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size;
#endif
}

int ggld_sys_open(int folder_fd, const char *name, int flags, unsigned mode)
{
    return ggld_open_patiently(folder_fd, name, flags, mode);
}

int ggld_sys_rename_to_free(int folder_fd, const char *from, const char *to)
{
    struct stat st;

    if (renameat2(folder_fd, from, folder_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (fstatat(folder_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return EEXIST;
    return renameat(folder_fd, from, folder_fd, to) == 0 ? 0 : errno;
}

int ggld_sys_lock(int folder_fd, const char *name, int fd)
{
    int result = ggld_lock_named(folder_fd, name, fd);
    return result == EWOULDBLOCK ? result : 0;
}
