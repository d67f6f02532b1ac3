/* SPDX-License-Identifier: MIT */
/* Reading for digests, and leaving the page cache as it was. */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/cut.h"
#include "../base/error.h"

/* Pages asked for in one mincore call; one byte each. */
#define WINDOW_PAGES 65536u

/* ---- the picture ---- */

static void picture_window(ggld_cache_picture *p, uint64_t first,
                           const uint8_t *resident, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if ((resident[i] & 1) != 0)
            p->bits[(first + i) / 8] |= (uint8_t)(1u << (first + i) % 8);
}

/* map: of the file from its first page on. */
static bool picture_take(ggld_cache_picture *p, uint8_t *map)
{
    uint8_t *resident = malloc(WINDOW_PAGES);
    bool told = resident != NULL;
    for (uint64_t page = 0; page < p->n_pages && told; page += WINDOW_PAGES) {
        uint64_t n = ggld_min_u64(WINDOW_PAGES, p->n_pages - page);
        told = mincore(map + page * p->page_bytes, (size_t)(n * p->page_bytes),
                       resident) == 0;
        if (told)
            picture_window(p, page, resident, n);
    }
    free(resident);
    return told;
}

/* A map of its own: the file's may begin in the middle of a page. */
static void picture_init(ggld_reader *r)
{
    ggld_cache_picture p = { NULL, 0, (uint64_t)sysconf(_SC_PAGESIZE) };
    uint64_t bytes = r->fd_offset_bytes + r->size_bytes;
    if (r->fd < 0 || bytes == 0 || bytes > PTRDIFF_MAX)
        return;
    p.n_pages = (bytes + p.page_bytes - 1) / p.page_bytes;
    uint8_t *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, r->fd, 0);
    if (map == MAP_FAILED)
        return;
    p.bits = calloc((size_t)(p.n_pages / 8 + 1), 1);
    if (p.bits != NULL && !picture_take(&p, map)) {
        free(p.bits);
        p.bits = NULL;
    }
    munmap(map, (size_t)bytes);
    r->picture = p;
}

static bool was_resident(const ggld_cache_picture *p, uint64_t page)
{
    return (p->bits[page / 8] >> page % 8 & 1) != 0;
}

void ggld_reader_drop(const ggld_reader *r, uint64_t offset, uint64_t size)
{
    const ggld_cache_picture *p = &r->picture;
    if (p->bits == NULL || size == 0)
        return;
    uint64_t page = (r->fd_offset_bytes + offset) / p->page_bytes;
    uint64_t end = (r->fd_offset_bytes + offset + size - 1) / p->page_bytes + 1;
    while (page < end) {
        uint64_t first = page;
        while (page < end && !was_resident(p, page))
            page++;
        if (page > first)
            (void)posix_fadvise(r->fd, (off_t)(first * p->page_bytes),
                                (off_t)((page - first) * p->page_bytes),
                                POSIX_FADV_DONTNEED);
        while (page < end && was_resident(p, page))
            page++;
    }
}

/* ---- reading ---- */

ggld_status ggld_reader_init(ggld_reader *r, const ggld_file *file,
                             bool keep_cache, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_backing backing = { .struct_size = sizeof backing };
    (void)err;
    ggld_file_get_info(file, &info);
    ggld_file_get_backing(file, &backing);
    memset(r, 0, sizeof *r);
    r->file = file;
    r->fd = backing.fd;
    r->fd_offset_bytes = backing.fd_offset_bytes;
    r->size_bytes = info.file_bytes;
    if (keep_cache)
        picture_init(r);
    return GGLD_OK;
}

void ggld_reader_free(ggld_reader *r)
{
    free(r->picture.bits);
    memset(r, 0, sizeof *r);
}

static ggld_status read_fd(const ggld_reader *r, uint64_t offset, uint8_t *dst,
                           size_t size, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset);
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(r->fd, dst + done, size - done,
                          (off_t)(r->fd_offset_bytes + offset + done));
        if (n < 0 && errno != EINTR)
            return ggld_fail_errno(err, errno, place,
                                   "reading %zu bytes at %" PRIu64, size,
                                   offset);
        if (n == 0)
            return ggld_fail_cut(
                err, GGLD_E_TRUNCATED, place, "",
                ggld_cut_size(r->fd, r->fd_offset_bytes, offset + done),
                r->size_bytes);
        done += n > 0 ? (size_t)n : 0;
    }
    return GGLD_OK;
}

ggld_status ggld_reader_read(const ggld_reader *r, uint64_t offset, void *dst,
                             size_t size, ggld_error *err)
{
    if (r->fd < 0)
        return ggld_file_read_bytes(r->file, offset, dst, size, err);
    return read_fd(r, offset, dst, size, err);
}
