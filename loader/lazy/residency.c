/* SPDX-License-Identifier: MIT */
/* Counting pages in memory. mincore(2) is believed only where the kernel tells
 * the truth; its vector is asked for in windows, so that memory is bounded. */
#include <ggld/residency.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../read/file.h"
#include "pages.h"
#include "refuse.h"

#define WINDOW_PAGES 4096u

/* The kernel's own conditions. Its first, owner or CAP_FOWNER, is also what it
 * asks of O_NOATIME, and so can be put to it instead of being guessed. */
static bool kernel_tells(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_NOATIME | O_CLOEXEC | O_NONBLOCK);
    if (again >= 0) {
        close(again);
        return true;
    }
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Bytes of [first, first + size) from map on, a page's start, that are
 * resident. 0 or an errno. */
static int count_resident(uint8_t *map, size_t first, uint64_t size,
                          uint64_t *out)
{
    unsigned char window[WINDOW_PAGES];
    size_t page = ggld_page_size();
    uint64_t end = first + size;
    uint64_t resident = 0;
    for (uint64_t at = 0; at < end; at += (uint64_t)WINDOW_PAGES * page) {
        uint64_t n = ggld_min_u64(end - at, (uint64_t)WINDOW_PAGES * page);
        if (mincore(map + at, (size_t)n, window) != 0)
            return errno;
        for (uint64_t i = 0; i * page < n; i++) {
            uint64_t from = at + i * page;
            uint64_t to = ggld_min_u64(from + page, end);
            if ((window[i] & 1) != 0)
                resident += to - (from > first ? from : first);
        }
    }
    *out = resident;
    return 0;
}

/* Of a file that is not mapped, through a map for the occasion. */
static int count_in_file(const ggld_pages *pages, uint64_t *out)
{
    size_t page = ggld_page_size();
    uint64_t from = pages->fd_offset + pages->offset;
    size_t over = (size_t)(from % page);
    size_t bytes = (size_t)pages->size + over;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, pages->fd,
                     (off_t)(from - over));
    if (map == MAP_FAILED)
        return errno;
    int code = count_resident(map, over, pages->size, out);
    munmap(map, bytes);
    return code;
}

/* Private memory, which may be swapped out. */
static int count_in_memory(const ggld_file *file, const ggld_pages *pages,
                           uint64_t *out)
{
    const uint8_t *data = ggld_span_at(file->map, pages->offset, pages->size);
    size_t over = (size_t)((uintptr_t)data % ggld_page_size());
    return count_resident((uint8_t *)((uintptr_t)data - over), over,
                          pages->size, out);
}

/* 0 or an errno. */
static int count(const ggld_file *file, const ggld_pages *pages, uint64_t *out)
{
    *out = 0;
    if (pages->size == 0)
        return 0;
    if ((file->flags & GGLD_OPEN_COPY) != 0 && file->map.data != NULL)
        return count_in_memory(file, pages, out);
    if (pages->fd < 0 || !kernel_tells(pages->fd)) {
        *out = GGLD_RESIDENT_UNKNOWN;
        return 0;
    }
    if (pages->map == NULL)
        return count_in_file(pages, out);
    return count_resident(pages->map, pages->map_bytes - (size_t)pages->size,
                          pages->size, out);
}

ggld_status ggld_residency(const ggld_view *view, uint64_t *out_bytes,
                           ggld_error *err)
{
    ggld_pages pages;
    uint64_t bytes;
    ggld_status status = ggld_pages_of(&pages, view, err);
    if (status != GGLD_OK)
        return status;
    int code = count(view->tensor->file, &pages, &bytes);
    if (code != 0)
        return ggld_refuse_errno(view->tensor, code, pages.offset, err,
                                 "counting resident pages of %" PRIu64
                                 " bytes at %" PRIu64,
                                 pages.size, pages.offset);
    *out_bytes = bytes;
    return GGLD_OK;
}
