/* SPDX-License-Identifier: MIT */
/* Advice to the system about a view's pages, and holding them in memory. May
 * assume that the map is the file's and shared: what is dropped comes back. */
#include <ggld/residency.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pages.h"
#include "refuse.h"

#ifndef MADV_COLD
#define MADV_COLD 20 /* Linux 5.4 */
#endif

typedef struct advice_row {
    int map;  /* for madvise */
    int file; /* for posix_fadvise, or -1: it has no such advice */
    /* The file's is wanted where there is a map too. */
    bool both;
} advice_row;

/* A mapped page stays in the page cache whatever the file's advice is, and
 * MADV_DONTNEED alone leaves it there: to free it takes both, in this order. */
static const advice_row advices[] = {
    [GGLD_ADVISE_NORMAL] = { MADV_NORMAL, POSIX_FADV_NORMAL, false },
    [GGLD_ADVISE_SEQUENTIAL] = { MADV_SEQUENTIAL, POSIX_FADV_SEQUENTIAL,
                                 false },
    [GGLD_ADVISE_RANDOM] = { MADV_RANDOM, POSIX_FADV_RANDOM, false },
    [GGLD_ADVISE_WILL_NEED] = { MADV_WILLNEED, POSIX_FADV_WILLNEED, false },
    [GGLD_ADVISE_COLD] = { MADV_COLD, -1, false },
    [GGLD_ADVISE_DROP] = { MADV_DONTNEED, POSIX_FADV_DONTNEED, true },
};

static int advise_file(const ggld_pages *pages, int advice)
{
    uint64_t page = ggld_page_size();
    uint64_t from = pages->fd_offset + pages->offset;
    uint64_t over = from % page;
    uint64_t end = from + pages->size;
    /* The kernel drops whole pages only; what is behind the file's end counts
     * as one. */
    end += (page - end % page) % page;
    return posix_fadvise(pages->fd, (off_t)(from - over),
                         (off_t)(end - (from - over)), advice);
}

/* 0 or an errno. */
static int advise(const ggld_pages *pages, const advice_row *row)
{
    int code = 0;
    if (pages->map != NULL &&
        madvise(pages->map, pages->map_bytes, row->map) != 0)
        code = errno;
    if (row->map == MADV_COLD && code == EINVAL)
        return 0; /* a hint that this kernel does not know */
    if (code == 0 && row->file >= 0 && (pages->map == NULL || row->both))
        code = advise_file(pages, row->file);
    return code;
}

ggld_status ggld_view_advise(const ggld_view *view, ggld_advice advice,
                             ggld_error *err)
{
    ggld_pages pages;
    ggld_status status = ggld_pages_of(&pages, view, err);
    if (status != GGLD_OK)
        return status;
    if ((uint32_t)advice >= sizeof advices / sizeof advices[0])
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "advice %d is none; 0 to %d are known", advice,
                                GGLD_ADVISE_DROP);
    if (pages.fd < 0)
        return ggld_refuse_view(view, GGLD_E_UNSUPPORTED, err,
                                "its bytes are in memory of their own, not "
                                "pages of a file that advice is for");
    if (pages.size == 0)
        return GGLD_OK;
    int code = advise(&pages, &advices[advice]);
    if (code != 0)
        return ggld_refuse_errno(view->tensor, code, pages.offset, err,
                                 "advice %d for %" PRIu64 " bytes at %" PRIu64,
                                 advice, pages.size, pages.offset);
    return GGLD_OK;
}

/* ---- lock ---- */

static ggld_status mapped_pages_of(ggld_pages *out, const ggld_view *view,
                                   ggld_error *err)
{
    ggld_status status = ggld_pages_of(out, view, err);
    if (status != GGLD_OK || out->map != NULL)
        return status;
    return ggld_refuse_view(view, GGLD_E_UNSUPPORTED, err,
                            "the file is not mapped; there are no pages to "
                            "lock");
}

static bool file_is_shorter(const ggld_pages *pages)
{
    struct stat st;
    return pages->fd >= 0 && fstat(pages->fd, &st) == 0 &&
           (uint64_t)st.st_size <
               pages->fd_offset + pages->offset + pages->size;
}

/* The kernel says ENOMEM for the limit, and also where a page is past the end
 * of a file that has been cut; EPERM where nothing may be locked at all. */
static ggld_status refuse_lock(const ggld_view *view, const ggld_pages *pages,
                               int code, ggld_error *err)
{
    struct rlimit limit = { 0, 0 };
    ggld_status status;
    (void)getrlimit(RLIMIT_MEMLOCK, &limit);
    if (file_is_shorter(pages))
        status = ggld_refuse_view(view, GGLD_E_TRUNCATED, err,
                                  "locking %zu bytes: the file has become "
                                  "shorter than they are",
                                  pages->map_bytes);
    else if (code == ENOMEM || code == EPERM)
        status = ggld_refuse_view(
            view, GGLD_E_LIMIT, err,
            "locking %zu bytes: RLIMIT_MEMLOCK is %" PRIu64
            " bytes for all locks together; raise it (ulimit -l, systemd's "
            "LimitMEMLOCK=) or lock less",
            pages->map_bytes, (uint64_t)limit.rlim_cur);
    else
        return ggld_refuse_errno(view->tensor, code, pages->offset, err,
                                 "locking %zu bytes", pages->map_bytes);
    if (err != NULL)
        err->sys_errno = code;
    return status;
}

ggld_status ggld_view_lock(const ggld_view *view, ggld_error *err)
{
    ggld_pages pages;
    ggld_status status = mapped_pages_of(&pages, view, err);
    if (status != GGLD_OK)
        return status;
    if (pages.size == 0 || mlock(pages.map, pages.map_bytes) == 0)
        return GGLD_OK;
    int code = errno;
    /* What was locked before it failed stays locked otherwise. */
    (void)munlock(pages.map, pages.map_bytes);
    return refuse_lock(view, &pages, code, err);
}

ggld_status ggld_view_unlock(const ggld_view *view, ggld_error *err)
{
    ggld_pages pages;
    ggld_status status = mapped_pages_of(&pages, view, err);
    if (status != GGLD_OK)
        return status;
    if (pages.size == 0 || munlock(pages.map, pages.map_bytes) == 0)
        return GGLD_OK;
    return ggld_refuse_errno(view->tensor, errno, pages.offset, err,
                             "unlocking %zu bytes", pages.map_bytes);
}
