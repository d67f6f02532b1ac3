/* SPDX-License-Identifier: MIT */
/* The engines' reads. What the file no longer has, or the system can't read,
 * is an error here and never a signal: the map is populated before it is
 * looked at. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/cut.h"
#include "io.h"
#include "uring.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451 /* Linux 6.5; C libraries' headers follow later */
#endif

/* As much as the kernel takes in one call on the disks tried; what it leaves
 * out is read when it is wanted. */
#define ASK_BYTES (512u << 10)

/* ---- errors ---- */

static ggld_status fail_read(const ggld_piece *piece, uint64_t offset,
                             uint64_t n, int code, ggld_error *err)
{
    return ggld_piece_fail(piece, GGLD_E_IO, code, offset, err,
                           "reading %" PRIu64 " bytes at %" PRIu64, n, offset);
}

/* end: where reading ended. */
static ggld_status fail_short(const ggld_io *io, const ggld_piece *piece,
                              uint64_t end, ggld_error *err)
{
    const ggld_io_shard *s = ggld_io_shard_of(io, piece->shard);
    end = ggld_cut_size(s->backing.fd, s->backing.fd_offset_bytes, end);
    return ggld_piece_fail(piece, GGLD_E_TRUNCATED, 0, end, err,
                           "the file " GGLD_CUT_FORMAT, end, s->file_bytes);
}

/* The piece whose bytes are at offset, for errors. */
static const ggld_piece *piece_at(const ggld_job_plan *plan,
                                  const ggld_extent *extent, uint64_t offset)
{
    ggld_part part;
    const ggld_piece *found = &plan->pieces[extent->piece];
    size_t i = 0;
    while (ggld_extent_part(plan, extent, &i, &part) && part.offset <= offset)
        found = part.piece;
    return found;
}

/* ---- through the page cache ---- */

/* Bytes read, fewer than n only at the end of the file, or -errno. */
static int64_t read_all(int fd, uint8_t *dst, uint64_t n, uint64_t offset)
{
    uint64_t done = 0;
    while (done < n) {
        ssize_t got =
            pread(fd, dst + done, (size_t)(n - done), (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -(int64_t)errno;
        if (got == 0)
            break;
        done += (uint64_t)got;
    }
    return (int64_t)done;
}

/* By the descriptor, for the map too: its pages are the file's. */
static void ask_for(const ggld_io *io, const ggld_lane *lane,
                    const ggld_extent *extent)
{
    uint64_t start = lane->at->backing.fd_offset_bytes + extent->offset;
    uint64_t n;
    if (!io->exact)
        return;
    for (uint64_t done = 0; done < extent->size; done += n) {
        n = ggld_min_u64(ASK_BYTES, extent->size - done);
        (void)posix_fadvise(lane->fd, (off_t)(start + done), (off_t)n,
                            POSIX_FADV_WILLNEED);
    }
}

void ggld_io_ask(ggld_io *io, uint32_t lane, const ggld_extent *extent)
{
    if (io->by_source)
        return;
    ggld_io_turn_to(io, lane, extent->shard);
    ask_for(io, &io->lanes[lane], extent);
}

ggld_status ggld_io_read(ggld_io *io, uint32_t lane, const ggld_part *part,
                         uint64_t skip, void *dst, uint64_t n, ggld_error *err)
{
    if (io->by_source)
        return ggld_tensor_read_bytes(
            part->piece->tensor, part->first_byte + skip, dst, (size_t)n, err);
    ggld_io_turn_to(io, lane, part->piece->shard);
    const ggld_lane *l = &io->lanes[lane];
    uint64_t offset = part->offset + skip;
    int64_t got =
        read_all(l->fd, dst, n, l->at->backing.fd_offset_bytes + offset);
    if (got < 0)
        return fail_read(part->piece, offset, n, (int)-got, err);
    if ((uint64_t)got < n)
        return fail_short(io, part->piece, offset + (uint64_t)got, err);
    return GGLD_OK;
}

/* ---- the engines: bytes of the extent that are there, or -errno ---- */

static int64_t fetch_buffered(ggld_lane *lane, const ggld_extent *extent)
{
    lane->data = lane->buffer.data;
    return read_all(lane->fd, lane->buffer.data, extent->size,
                    lane->at->backing.fd_offset_bytes + extent->offset);
}

/* Reads [from, size) of the buffer from a boundary on. A direct read that is
 * cut short by the file's end can't go on from where it ended. */
static int64_t read_direct(int fd, uint8_t *dst, uint64_t from, uint64_t size,
                           uint64_t offset)
{
    uint64_t done = from - from % GGLD_DIRECT_ALIGN;
    uint64_t got_to = from;
    while (got_to < size) {
        ssize_t got = pread(fd, dst + done, (size_t)(size - done),
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -(int64_t)errno;
        got_to = done + (uint64_t)got;
        uint64_t next = got_to - got_to % GGLD_DIRECT_ALIGN;
        if (next == done)
            break;
        done = next;
    }
    return (int64_t)got_to;
}

static int64_t fetch_direct(ggld_lane *lane, const ggld_extent *extent)
{
    uint64_t start = lane->at->backing.fd_offset_bytes + extent->offset;
    uint64_t before = start % GGLD_DIRECT_ALIGN;
    uint64_t need = before + extent->size;
    uint64_t want = need + GGLD_DIRECT_ALIGN - 1;
    int64_t got = 0;

    want -= want % GGLD_DIRECT_ALIGN;
    if (lane->ring != NULL)
        got = ggld_uring_read(lane->ring, lane->at->direct_fd,
                              lane->buffer.data, want, start - before);
    if (got >= 0 && (uint64_t)got < need)
        got = read_direct(lane->at->direct_fd, lane->buffer.data, (uint64_t)got,
                          want, start - before);
    /* A file system that takes the flag and not the read. */
    if (got == -EINVAL)
        return fetch_buffered(lane, extent);
    lane->data = lane->buffer.data + before;
    if (got < 0)
        return got;
    return (uint64_t)got < before ? 0 : got - (int64_t)before;
}

static int64_t fetch_mapped(const ggld_io *io, ggld_lane *lane,
                            const ggld_extent *extent)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uint8_t *data =
        (const uint8_t *)lane->at->backing.map + extent->offset;
    uintptr_t from = (uintptr_t)data;
    size_t size = (size_t)(extent->size + from % page);
    from -= from % page;

    int status;
    if (io->exact)
        ask_for(io, lane, extent);
    else
        (void)madvise((void *)from, size, MADV_WILLNEED);
    do
        status = madvise((void *)from, size, MADV_POPULATE_READ);
    while (status != 0 && errno == EINTR);
    lane->data = data;
    if (status == 0)
        return (int64_t)extent->size;
    return -(int64_t)errno;
}

/* Reads for the sake of reading: what populating the map has failed at gets an
 * error that tells the file's end from a bad disk, and an old kernel, which
 * can't populate, gets the pages into memory. */
static int64_t probe(ggld_lane *lane, const ggld_extent *extent)
{
    uint8_t scratch[4096];
    for (uint64_t done = 0; done < extent->size; done += sizeof scratch) {
        uint64_t n = ggld_min_u64(sizeof scratch, extent->size - done);
        uint64_t at = lane->at->backing.fd_offset_bytes + extent->offset + done;
        int64_t got = read_all(lane->fd, scratch, n, at);
        if (got < 0)
            return got;
        if ((uint64_t)got < n)
            return (int64_t)done + got;
    }
    return (int64_t)extent->size;
}

/* ---- fetch ---- */

/* Is all of it in the page cache? Who may not know is told no. */
static bool is_cached(const ggld_lane *lane, const ggld_extent *extent)
{
    struct {
        uint64_t offset, size;
    } range = { lane->at->backing.fd_offset_bytes + extent->offset,
                extent->size };
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } stat = { 0 };
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (syscall(SYS_cachestat, lane->at->backing.fd, &range, &stat, 0) != 0)
        return false;
    uint64_t first = range.offset / page;
    uint64_t last = (range.offset + range.size - 1) / page;
    return stat.cached >= last - first + 1;
}

static int64_t fetch(ggld_io *io, ggld_lane *lane, const ggld_extent *extent)
{
    switch (io->kind) {
    case GGLD_IO_MAP: {
        int64_t got = fetch_mapped(io, lane, extent);
        return got < 0 ? probe(lane, extent) : got;
    }
    case GGLD_IO_DIRECT:
    case GGLD_IO_URING:
        if (io->cache_first && is_cached(lane, extent))
            return fetch_buffered(lane, extent);
        return fetch_direct(lane, extent);
    default:
        ask_for(io, lane, extent);
        return fetch_buffered(lane, extent);
    }
}

static ggld_status fetch_by_source(ggld_io *io, uint32_t lane,
                                   const ggld_job_plan *plan,
                                   const ggld_extent *extent, ggld_error *err)
{
    ggld_part part;
    ggld_status status = GGLD_OK;
    uint8_t *to = io->lanes[lane].buffer.data;
    size_t i = 0;
    io->lanes[lane].data = to;
    while (status == GGLD_OK && ggld_extent_part(plan, extent, &i, &part))
        status = ggld_io_read(io, lane, &part, 0,
                              to + (part.offset - extent->offset), part.n_bytes,
                              err);
    return status;
}

ggld_status ggld_io_recheck(const ggld_io *io, const ggld_job_plan *plan,
                            const ggld_extent *extent, ggld_error *err)
{
    if (io->kind != GGLD_IO_MAP)
        return GGLD_OK;
    const ggld_io_shard *s = ggld_io_shard_of(io, extent->shard);
    uint64_t end = extent->offset + extent->size;
    uint64_t now =
        ggld_cut_size(s->backing.fd, s->backing.fd_offset_bytes, end);
    if (now == end)
        return GGLD_OK;
    return fail_short(io, piece_at(plan, extent, now), now, err);
}

/* Populating ends well in the page that the file ends in. */
static ggld_status settle(const ggld_io *io, const ggld_job_plan *plan,
                          const ggld_extent *extent, int64_t got,
                          ggld_error *err)
{
    if (got < 0)
        return fail_read(&plan->pieces[extent->piece], extent->offset,
                         extent->size, (int)-got, err);
    if ((uint64_t)got < extent->size) {
        uint64_t end = extent->offset + (uint64_t)got;
        return fail_short(io, piece_at(plan, extent, end), end, err);
    }
    return ggld_io_recheck(io, plan, extent, err);
}

ggld_status ggld_io_fetch(ggld_io *io, uint32_t lane, const ggld_job_plan *plan,
                          const ggld_extent *extent, ggld_error *err)
{
    if (io->by_source)
        return fetch_by_source(io, lane, plan, extent, err);
    ggld_io_turn_to(io, lane, extent->shard);
    return settle(io, plan, extent, fetch(io, &io->lanes[lane], extent), err);
}

/* ---- warm ---- */

/* Into the page cache and no further: the null device takes the pages without
 * a look at them. */
static int64_t warm_spliced(const ggld_io *io, const ggld_lane *lane,
                            const ggld_extent *extent)
{
    uint64_t start = lane->at->backing.fd_offset_bytes + extent->offset;
    uint64_t end = start + extent->size;
    off_t at = (off_t)start;
    while ((uint64_t)at < end) {
        ssize_t got =
            sendfile(io->null_fd, lane->fd, &at, (size_t)(end - (uint64_t)at));
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return -(int64_t)errno;
        if (got == 0)
            break;
    }
    return (int64_t)((uint64_t)at - start);
}

static int64_t warm_buffered(const ggld_lane *lane, const ggld_extent *extent)
{
    uint64_t start = lane->at->backing.fd_offset_bytes + extent->offset;
    uint64_t done = 0;
    while (done < extent->size) {
        uint64_t n = ggld_min_u64(extent->size - done, lane->buffer.size);
        int64_t got =
            lane->ring != NULL
                ? ggld_uring_read(lane->ring, lane->fd, lane->buffer.data, n,
                                  start + done)
                : read_all(lane->fd, lane->buffer.data, n, start + done);
        if (got <= 0)
            return got < 0 ? got : (int64_t)done;
        done += (uint64_t)got;
    }
    return (int64_t)done;
}

static int64_t warm(ggld_io *io, ggld_lane *lane, const ggld_extent *extent)
{
    if (io->kind == GGLD_IO_MAP)
        return fetch(io, lane, extent);
    ask_for(io, lane, extent);
    int64_t got = -EINVAL;
    if (io->kind == GGLD_IO_PREAD && io->null_fd >= 0)
        got = warm_spliced(io, lane, extent);
    /* Not every file system splices. */
    return got == -EINVAL ? warm_buffered(lane, extent) : got;
}

/* Of a source that is the app's, reading is all that can be done. */
static ggld_status warm_by_source(ggld_io *io, uint32_t lane,
                                  const ggld_job_plan *plan,
                                  const ggld_extent *extent, ggld_error *err)
{
    ggld_part part;
    ggld_buffer *buffer = &io->lanes[lane].buffer;
    ggld_status status = GGLD_OK;
    size_t i = 0;
    while (ggld_extent_part(plan, extent, &i, &part)) {
        uint64_t n;
        for (uint64_t done = 0; status == GGLD_OK && done < part.n_bytes;
             done += n) {
            n = ggld_min_u64(part.n_bytes - done, buffer->size);
            status = ggld_io_read(io, lane, &part, done, buffer->data, n, err);
        }
    }
    return status;
}

ggld_status ggld_io_warm(ggld_io *io, uint32_t lane, const ggld_job_plan *plan,
                         const ggld_extent *extent, ggld_error *err)
{
    if (io->by_source)
        return warm_by_source(io, lane, plan, extent, err);
    ggld_io_turn_to(io, lane, extent->shard);
    return settle(io, plan, extent, warm(io, &io->lanes[lane], extent), err);
}
