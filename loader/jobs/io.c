/* SPDX-License-Identifier: MIT */
/* Opening and closing engines and lanes, and giving memory back. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
                     "io %s: %s; use another, or leave the choice to ggld "
                     "(auto)",
                     names[kind], why);
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_direct(ggld_io *io)
{
    for (uint32_t i = 0; i < io->n_shards; i++) {
        close_if_open(io->shards[i].direct_fd);
        io->shards[i].direct_fd = -1;
    }
}

/* Direct reads were not asked for by name, so that pread will do; for all
 * shards, where one can't be read so. */
static ggld_status open_direct(ggld_io *io, bool chosen, ggld_error *err)
{
    for (uint32_t i = 0; i < io->n_shards; i++) {
        ggld_io_shard *s = &io->shards[i];
        s->direct_fd = reopen(s->backing.fd, O_DIRECT);
        if (s->direct_fd >= 0)
            continue;
        if (!chosen)
            return ggld_fail_errno(err, errno, ggld_nowhere(),
                                   "io direct: opening the file anew");
        close_direct(io);
        io->kind = GGLD_IO_PREAD;
        return GGLD_OK;
    }
    io->cache_first = chosen;
    return GGLD_OK;
}

static bool all_mapped(const ggld_io *io)
{
    for (uint32_t i = 0; i < io->n_shards; i++)
        if (io->shards[i].backing.map == NULL)
            return false;
    return true;
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
    if (io->kind == GGLD_IO_MAP && !all_mapped(io))
        return refuse(err, io->kind,
                      "the file was not mapped when it was opened");
    return GGLD_OK;
}

/* A verifier looks at the map, or where there is none, reads through the page
 * cache: bytes that come in another way are not those that it has seen. */
static ggld_status check_verified(const ggld_io *io, ggld_error *err)
{
    bool mapped = all_mapped(io);
    if (!io->verifies || io->kind == (mapped ? GGLD_IO_MAP : GGLD_IO_PREAD))
        return GGLD_OK;
    return refuse(err, io->kind,
                  mapped ? "the file's verifier looks at the map, and not at "
                           "what is read past it"
                         : "the file's verifier reads through the page cache, "
                           "and sees nothing of what is read past it");
}

static ggld_status find_shards(ggld_io *io, const ggld_file *file,
                               ggld_error *err)
{
    ggld_file_info info = { sizeof info };
    ggld_file_get_info(file, &info);
    io->shards = calloc(info.n_shards, sizeof *io->shards);
    if (io->shards == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for %" PRIu32 " shards", info.n_shards);
    io->n_shards = info.n_shards;
    io->first_shard = info.shard;
    io->verifies = info.verifies_data;
    for (uint32_t i = 0; i < io->n_shards; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        ggld_io_shard *s = &io->shards[i];
        s->direct_fd = -1;
        s->backing.struct_size = sizeof s->backing;
        ggld_file_get_backing(shard, &s->backing);
        ggld_file_get_info(shard, &info);
        s->file_bytes = info.file_bytes;
        if (s->backing.fd < 0)
            io->by_source = true;
    }
    return GGLD_OK;
}

/* What suits each shard; direct reads only if they suit all. */
static uint32_t choose(const ggld_io *io, ggld_purpose purpose)
{
    uint32_t kind = GGLD_IO_PREAD;
    if (io->verifies)
        return all_mapped(io) ? GGLD_IO_MAP : GGLD_IO_PREAD;
    for (uint32_t i = 0; i < io->n_shards; i++) {
        kind = ggld_io_choose(io->shards[i].backing.fd, purpose);
        if (kind == GGLD_IO_PREAD)
            break;
    }
    return kind;
}

ggld_status ggld_io_open(ggld_io *io, const ggld_file *file, uint32_t kind,
                         ggld_purpose purpose, uint64_t budget_bytes,
                         ggld_error *err)
{
    memset(io, 0, sizeof *io);
    io->null_fd = -1;
    io->kind = kind;

    bool chosen = kind == GGLD_IO_AUTO;
    ggld_status status = find_shards(io, file, err);
    /* To warm, nothing is handed out that somebody would have to have seen. */
    io->verifies = io->verifies && purpose != GGLD_TO_WARM;
    io->exact = budget_bytes != 0 && budget_bytes < GGLD_IO_EXACT_BELOW;
    if (status == GGLD_OK)
        status = check_kind(io, purpose, err);
    if (status == GGLD_OK && !io->by_source && !chosen)
        status = check_verified(io, err);
    if (status != GGLD_OK)
        return status;
    if (io->by_source)
        return chosen ? GGLD_OK
                      : refuse(err, kind,
                               "the file has no descriptor (memory, a private "
                               "copy or the app's own source)");
    if (chosen)
        io->kind = choose(io, purpose);
    if (purpose == GGLD_TO_WARM)
        io->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    else if (io->kind == GGLD_IO_DIRECT || io->kind == GGLD_IO_URING)
        return open_direct(io, chosen, err);
    return GGLD_OK;
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
    if (io->shards != NULL) {
        close_direct(io);
        close_if_open(io->null_fd);
    }
    free(io->shards);
    memset(io, 0, sizeof *io);
}

void ggld_io_turn_to(ggld_io *io, uint32_t n, uint32_t shard)
{
    ggld_lane *lane = &io->lanes[n];
    const ggld_io_shard *s = ggld_io_shard_of(io, shard);
    if (lane->at == s)
        return;
    if (lane->fd_is_own)
        close(lane->fd);
    lane->at = s;
    lane->fd = reopen(s->backing.fd, 0);
    lane->fd_is_own = lane->fd >= 0;
    if (lane->fd_is_own && io->exact)
        (void)posix_fadvise(lane->fd, 0, 0, POSIX_FADV_RANDOM);
    if (!lane->fd_is_own)
        lane->fd = s->backing.fd;
}

bool ggld_io_needs_buffer(const ggld_io *io)
{
    return io->kind != GGLD_IO_MAP;
}

static ggld_status lane_open(ggld_io *io, ggld_lane *lane,
                             uint64_t buffer_bytes, ggld_error *err)
{
    if (io->kind == GGLD_IO_URING) {
        int code = ggld_uring_open(&lane->ring);
        if (code != 0)
            return refuse(err, io->kind, strerror(code));
    }
    if (buffer_bytes == 0)
        return GGLD_OK;
    /* Direct reads begin and end at a boundary before and behind. */
    int code = ggld_buffer_make(
        &lane->buffer, (size_t)buffer_bytes + (size_t)2 * GGLD_DIRECT_ALIGN);
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

/* [from, to) without what is too far from the extent to share a folio. */
static void clip(const ggld_io_shard *s, const ggld_extent *extent,
                 uint64_t *from, uint64_t *to)
{
    uint64_t end = extent->offset + extent->size;
    uint64_t least =
        extent->offset - ggld_min_u64(extent->offset, FOLIO_MAX_BYTES);
    uint64_t most = end + ggld_min_u64(s->file_bytes - end, FOLIO_MAX_BYTES);
    if (*from < least)
        *from = least;
    *from = ggld_min_u64(*from, extent->offset);
    *to = ggld_min_u64(*to, most);
    if (*to < end)
        *to = end;
}

void ggld_io_drop(ggld_io *io, const ggld_extent *extent, uint64_t from,
                  uint64_t to)
{
    const ggld_io_shard *s = ggld_io_shard_of(io, extent->shard);
    if (io->by_source)
        return;
    clip(s, extent, &from, &to);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = s->backing.fd_offset_bytes + from;
    uint64_t end = s->backing.fd_offset_bytes + to;
    /* A page that is shared goes with whoever is last. */
    start += (page - start % page) % page;
    if (to != s->file_bytes)
        end -= end % page;
    if (end <= start)
        return;
    if (io->kind == GGLD_IO_MAP) {
        /* As long as a page is mapped, the page cache keeps it. */
        uintptr_t at = (uintptr_t)s->backing.map + (uintptr_t)extent->offset;
        uintptr_t over = at % page;
        (void)madvise((void *)(at - over), (size_t)(extent->size + over),
                      MADV_DONTNEED);
    }
    (void)posix_fadvise(s->backing.fd, (off_t)start, (off_t)(end - start),
                        POSIX_FADV_DONTNEED);
}
