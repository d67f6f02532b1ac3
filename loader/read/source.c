/* SPDX-License-Identifier: MIT */
/* Files as sources, and the loop that reads from any source. The size is taken
 * once, from fstat; a map starts at a page, so that a range's first byte may
 * lie behind its start. Must never wait: a FIFO is told from its kind. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/cut.h"
#include "../base/open.h"
#include "../base/quote.h"
#include "maps.h"

/* Linux reads at most 0x7ffff000 bytes at once; others refuse more than
 * INT_MAX. */
#define READ_MAX_BYTES (1u << 30)

/* Of metadata, before the rest of it is left to the kernel's readahead. */
#define FIRST_READ_BYTES (64u << 10)

typedef struct fd_source {
    ggld_allocator allocator;
    uint64_t offset;  /* of the range in the file */
    ggld_map map;     /* and the descriptor */
    ggld_stamp stamp; /* when it was opened */
} fd_source;

_Static_assert(sizeof(fd_source) <= GGLD_FD_SOURCE_BYTES, "for the account");

static int64_t fd_pread(void *ctx, void *dst, size_t n, uint64_t offset_bytes)
{
    const fd_source *s = ctx;
    ssize_t got = pread(s->map.fd, dst, n, (off_t)(s->offset + offset_bytes));
    return got < 0 ? -(int64_t)errno : (int64_t)got;
}

static void fd_release(void *ctx)
{
    fd_source *s = ctx;
    ggld_allocator allocator = s->allocator;
    if (s->map.start != 0) {
        ggld_maps_remove(&s->map);
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): it was one. */
        munmap((void *)s->map.start, s->map.bytes);
    }
    close(s->map.fd);
    ggld_free(&allocator, s);
}

int ggld_source_fd(const ggld_source *source, uint64_t *offset)
{
    if (source->release != fd_release)
        return -1;
    const fd_source *s = source->ctx;
    *offset = s->offset;
    return s->map.fd;
}

bool ggld_source_stamp(const ggld_source *source, ggld_stamp *out)
{
    if (source->release != fd_release)
        return false;
    const fd_source *s = source->ctx;
    *out = s->stamp;
    return true;
}

bool ggld_source_size_now(const ggld_source *source, uint64_t *out)
{
    struct stat st;
    uint64_t offset;
    int fd = ggld_source_fd(source, &offset);
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    uint64_t file_bytes = (uint64_t)st.st_size;
    *out = file_bytes > offset
               ? ggld_min_u64(file_bytes - offset, source->size_bytes)
               : 0;
    return true;
}

/* SEEK_DATA and SEEK_HOLE move the position, which is the caller's where the
 * descriptor was: this one has its own. */
static int open_again(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The first byte from `from` on that is in no hole; UINT64_MAX: there is none.
 * false: the file system does not tell. */
static bool next_data(int fd, uint64_t from, uint64_t *first)
{
    off_t data = lseek(fd, (off_t)from, SEEK_DATA);
    *first = data < 0 ? UINT64_MAX : (uint64_t)data;
    return data >= 0 || errno == ENXIO;
}

/* Positions are the descriptor's file's; from is less than to. */
static uint64_t find_data_end(int fd, uint64_t from, uint64_t to)
{
    uint64_t first, hole = to - 1;

    /* Most end with data. How far that goes is not asked: it may take long. */
    if (!next_data(fd, hole, &first) || first == hole)
        return to;
    /* From hole on there is nothing else; there may be data up to from. */
    while (from < hole) {
        uint64_t look = from + (hole - from) / 2;
        if (!next_data(fd, look, &first))
            return to;
        if (first >= hole) {
            hole = look;
            continue;
        }
        off_t end = lseek(fd, (off_t)first, SEEK_HOLE);
        if (end < 0 || (uint64_t)end <= first)
            return to;
        from = ggld_min_u64((uint64_t)end, to);
    }
    return from;
}

uint64_t ggld_source_data_end(const ggld_source *source, uint64_t from,
                              uint64_t to)
{
    uint64_t offset = 0;
    int fd = ggld_source_fd(source, &offset);
    int own = fd < 0 || from >= to ? -1 : open_again(fd);

    if (own < 0)
        return to;
    uint64_t end = find_data_end(own, offset + from, offset + to) - offset;
    close(own);
    return end;
}

void ggld_source_drop(const ggld_source *source, uint64_t start, uint64_t size)
{
    uint64_t offset = 0;
    int fd = ggld_source_fd(source, &offset);
    /* A size of 0 would be all that follows. */
    if (fd >= 0 && size != 0)
        (void)posix_fadvise(fd, (off_t)(offset + start), (off_t)size,
                            POSIX_FADV_DONTNEED);
}

bool ggld_source_lost(const ggld_source *source, uint64_t offset, uint64_t size)
{
    if (source->release != fd_release || source->map == NULL)
        return false;
    const fd_source *s = source->ctx;
    return ggld_map_lost(&s->map, (uintptr_t)source->map + (uintptr_t)offset,
                         size);
}

static const char *kind_name(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

ggld_status ggld_fd_of_path(int *out, const char *path, ggld_error *err)
{
    if (path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the path is NULL");
    /* Opening a FIFO does not wait for someone to write to it. */
    int fd = ggld_open_patiently(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return ggld_fail_errno(err, errno, in_file(), "file: opening %s%s",
                               ggld_quote(path, strlen(path)).text,
                               ggld_open_hint(errno));
    *out = fd;
    return GGLD_OK;
}

/* The range with its size, once it is known to lie in a regular file. */
static ggld_status range_settle(int fd, ggld_range *range, ggld_stamp *stamp,
                                ggld_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, in_file(), "file: fstat");
    if (!S_ISREG(st.st_mode))
        return ggld_fail(err, GGLD_E_MAGIC, in_file(),
                         "file: %s, not a GGUF file; give the name of a "
                         "regular file",
                         kind_name(st.st_mode));
    uint64_t file_bytes = (uint64_t)st.st_size;
    *stamp = ggld_stamp_of(&st);
    if (range->whole)
        range->size = file_bytes;
    if (!ggld_fits(range->offset, range->size, file_bytes))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "range: %" PRIu64 " + %" PRIu64
                         " bytes is not inside the file (%" PRIu64 " bytes)",
                         range->offset, range->size, file_bytes);
    return GGLD_OK;
}

/* No map is no failure: some file systems have none, and 32-bit processors no
 * room; pread is there. */
static const void *fd_map(fd_source *s, ggld_range range)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t before = range.offset % page;
    uint64_t bytes;

    if (range.size == 0 || !ggld_add_u64(range.size, before, &bytes) ||
        bytes > PTRDIFF_MAX)
        return NULL;
    void *start = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, s->map.fd,
                       (off_t)(range.offset - before));
    if (start == MAP_FAILED)
        return NULL;
    /* At a page that is not in memory the kernel would read megabytes around
     * it, on some disks, before parsing could begin. */
    (void)posix_fadvise(s->map.fd, (off_t)range.offset, FIRST_READ_BYTES,
                        POSIX_FADV_WILLNEED);
    s->map.start = (uintptr_t)start;
    s->map.bytes = (size_t)bytes;
    s->map.offset = range.offset - before;
    ggld_maps_add(&s->map);
    return (const uint8_t *)start + before;
}

ggld_status ggld_source_of_fd(ggld_source *out, const ggld_allocator *a, int fd,
                              ggld_range range, bool map, ggld_error *err)
{
    ggld_stamp stamp;
    ggld_status status = range_settle(fd, &range, &stamp, err);
    if (status != GGLD_OK)
        return status;
    fd_source *s = ggld_alloc(a, 1, GGLD_FD_SOURCE_BYTES);
    if (s == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a file's source");
    s->allocator = *a;
    s->offset = range.offset;
    s->stamp = stamp;
    s->map.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (s->map.fd < 0) {
        status = ggld_fail_errno(err, errno, in_file(),
                                 "file: duplicating the descriptor%s",
                                 ggld_open_hint(errno));
        ggld_free(a, s);
        return status;
    }
    ggld_source source = { sizeof source, range.size, fd_pread,
                           NULL,          fd_release, s };
    source.map = map ? fd_map(s, range) : NULL;
    *out = source;
    return GGLD_OK;
}

/* One step: bytes read, 0 at the end, negative errno. */
static int64_t read_some(const ggld_source *source, uint64_t offset, void *dst,
                         uint64_t size)
{
    size_t n = (size_t)ggld_min_u64(size, READ_MAX_BYTES);
    int64_t got;
    do
        got = source->pread(source->ctx, dst, n, offset);
    while (got == -EINTR);
    /* More than was asked for: the source is broken, and what it wrote where
     * is anyone's guess. */
    if (got > (int64_t)n || got < -INT32_MAX)
        return -EIO;
    return got;
}

static ggld_status fail_cut(const ggld_source *source, uint64_t end,
                            ggld_place place, ggld_error *err)
{
    uint64_t now;
    if (!ggld_source_size_now(source, &now) || now > end)
        now = end;
    return ggld_fail_cut(err, GGLD_E_TRUNCATED, place, "", now,
                         source->size_bytes);
}

ggld_status ggld_source_read(const ggld_source *source, uint64_t offset,
                             void *dst, uint64_t size, ggld_place place,
                             ggld_error *err)
{
    uint8_t *to = dst;
    uint64_t done = 0;

    while (done < size) {
        int64_t got = read_some(source, offset + done, to + done, size - done);
        if (got < 0)
            return ggld_fail_errno(err, (int)-got, place,
                                   "reading %" PRIu64 " bytes at %" PRIu64,
                                   size - done, offset + done);
        if (got == 0)
            return fail_cut(source, offset + done, place, err);
        done += (uint64_t)got;
    }
    return GGLD_OK;
}
