/* SPDX-License-Identifier: MIT */
/* Opening and closing engines and lanes, and giving memory back. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "uring.h"

/* A page cache's folios are dropped only when the whole of them is in the
 * range; the kernel makes them up to this large (on x86; a larger one is
 * dropped with a later extent). */
#define FOLIO_MAX_BYTES (2u << 20)

/* The same file, opened anew: flags and readahead are then its own. */
static int reopen(int fd, int flags)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
}

static ggld_status refuse(ggld_error *err, uint32_t kind, const char *why)
{
    static const char *const names[] = { "auto", "map", "pread", "direct",
                                         "uring" };
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                     "io %s: %s; use another, or leave the choice to ggld",
                     names[kind], why);
}

/* Direct reads were not asked for by name, so that pread will do. */
static ggld_status open_direct(ggld_io *io, bool chosen, ggld_error *err)
{
    io->direct_fd = reopen(io->backing.fd, O_DIRECT);
    if (io->direct_fd >= 0) {
        io->cache_first = chosen;
        return GGLD_OK;
    }
    if (!chosen)
        return ggld_fail_errno(err, errno, ggld_nowhere(),
                               "io direct: opening the file anew");
    io->kind = GGLD_IO_PREAD;
    return GGLD_OK;
}

/* Of what the app has asked for. */
static ggld_status check_kind(const ggld_io *io, ggld_purpose purpose,
                              ggld_error *err)
{
    if (io->kind > GGLD_IO_URING)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "io %" PRIu32 ": is none; 0 to %d are known", io->kind,
                         GGLD_IO_URING);
    if (purpose == GGLD_TO_WARM && io->kind == GGLD_IO_DIRECT)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "io direct: passes the page cache by, and warms "
                         "nothing; use map, pread or uring");
    if (io->kind == GGLD_IO_MAP && io->backing.map == NULL)
        return refuse(err, io->kind,
                      "the file was not mapped when it was opened");
    return GGLD_OK;
}

ggld_status ggld_io_open(ggld_io *io, const ggld_file *file, uint32_t kind,
                         ggld_purpose purpose, ggld_error *err)
{
    ggld_file_info info = { sizeof info };
    memset(io, 0, sizeof *io);
    io->direct_fd = -1;
    io->null_fd = -1;
    io->file = file;
    io->kind = kind;
    io->backing.struct_size = sizeof io->backing;
    ggld_file_get_backing(file, &io->backing);
    ggld_file_get_info(file, &info);
    io->file_bytes = info.file_bytes;

    bool chosen = kind == GGLD_IO_AUTO;
    ggld_status status = check_kind(io, purpose, err);
    if (status != GGLD_OK)
        return status;
    if (io->backing.fd < 0) {
        io->by_source = true;
        return chosen ? GGLD_OK
                      : refuse(err, kind,
                               "the file has no descriptor (memory, a private "
                               "copy or the app's own source)");
    }
    if (chosen)
        io->kind = ggld_io_choose(io->backing.fd, purpose);
    if (purpose == GGLD_TO_WARM)
        io->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    else if (io->kind == GGLD_IO_DIRECT || io->kind == GGLD_IO_URING)
        return open_direct(io, chosen, err);
    return GGLD_OK;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void ggld_io_close(ggld_io *io)
{
    for (uint32_t i = 0; i < io->n_lanes; i++) {
        ggld_lane *lane = &io->lanes[i];
        ggld_uring_close(lane->ring);
        ggld_buffer_free(&lane->buffer);
        if (lane->fd_is_own)
            close(lane->fd);
    }
    /* A job that failed before it had an engine closes it all the same. */
    if (io->file != NULL) {
        close_if_open(io->direct_fd);
        close_if_open(io->null_fd);
    }
    memset(io, 0, sizeof *io);
}

bool ggld_io_needs_buffer(const ggld_io *io)
{
    return io->kind != GGLD_IO_MAP;
}

static ggld_status lane_open(ggld_io *io, ggld_lane *lane,
                             uint64_t buffer_bytes, ggld_error *err)
{
    lane->fd = reopen(io->backing.fd, 0);
    lane->fd_is_own = lane->fd >= 0;
    if (!lane->fd_is_own)
        lane->fd = io->backing.fd;
    if (io->kind == GGLD_IO_URING) {
        int code = ggld_uring_open(&lane->ring);
        if (code != 0)
            return refuse(err, io->kind, strerror(code));
    }
    if (buffer_bytes == 0)
        return GGLD_OK;
    /* Direct reads begin and end at a boundary before and behind. */
    int code = ggld_buffer_make(&lane->buffer,
                                (size_t)buffer_bytes + (size_t)2 * GGLD_DIRECT_ALIGN);
    if (code != 0)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a buffer of %" PRIu64 " bytes",
                         buffer_bytes);
    return GGLD_OK;
}

ggld_status ggld_io_add_lanes(ggld_io *io, uint32_t n_lanes,
                              uint64_t buffer_bytes, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < n_lanes && status == GGLD_OK; i++) {
        io->n_lanes = i + 1;
        status = lane_open(io, &io->lanes[i], buffer_bytes, err);
    }
    return status;
}

void ggld_io_drop(ggld_io *io, const ggld_extent *extent)
{
    if (io->backing.fd < 0)
        return;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = io->backing.fd_offset_bytes + extent->offset;
    uint64_t end = start + extent->size;
    start -= ggld_min_u64(start, FOLIO_MAX_BYTES);
    /* A page that the extent shares with the next goes with that. */
    start -= start % page;
    if (extent->offset + extent->size != io->file_bytes)
        end -= end % page;
    if (end <= start)
        return;
    if (io->kind == GGLD_IO_MAP) {
        /* As long as a page is mapped, the page cache keeps it. */
        uintptr_t from = (uintptr_t)io->backing.map + (uintptr_t)extent->offset;
        from -= from % page;
        (void)madvise((void *)from, (size_t)extent->size, MADV_DONTNEED);
    }
    (void)posix_fadvise(io->backing.fd, (off_t)start, (off_t)(end - start),
                        POSIX_FADV_DONTNEED);
}
