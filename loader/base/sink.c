/* SPDX-License-Identifier: MIT */
/* Writes at positions that it counts itself. Knows nothing of what the bytes
 * mean; whoever gives them has planned where they go. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checked.h"

#define START_BYTES (8u << 20)

/* what, and the numbers: how far it came, and how far it was to go. */
static ggld_status fail_system(const ggld_sink *s, int sys_errno,
                               const char *what, ggld_error *err)
{
    char text[96];
    snprintf(text, sizeof text, "%s %" PRIu64 " of %" PRIu64 " bytes", what,
             s->flushed, s->file_bytes);
    ggld_status status = ggld_target_fail(&s->target, sys_errno, text, err);
    if (err != NULL)
        err->offset = s->flushed;
    return status;
}

void ggld_sink_init(ggld_sink *s)
{
    memset(s, 0, sizeof *s);
    s->fd = -1;
    ggld_target_init(&s->target, NULL);
}

/* File systems that can't take room in advance say so; then a full disk shows
 * when it is full. */
static ggld_status take_room(ggld_sink *s, ggld_error *err)
{
    int result;

    if (s->file_bytes == 0)
        return GGLD_OK;
    do
        result = fallocate(s->fd, 0, 0, (off_t)s->file_bytes);
    while (result != 0 && errno == EINTR);
    if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
        return GGLD_OK;
    char text[64];
    int saved = errno;
    snprintf(text, sizeof text, "no room; it takes %" PRIu64 " bytes",
             s->file_bytes);
    return ggld_target_fail(&s->target, saved, text, err);
}

static size_t buffer_bytes_for(uint64_t file_bytes)
{
    if (file_bytes <= GGLD_SINK_LEAST_BYTES)
        return GGLD_SINK_LEAST_BYTES;
    return (size_t)ggld_min_u64(file_bytes, GGLD_SINK_BUFFER_BYTES);
}

static ggld_status open_parts(ggld_sink *s, const char *path, bool with_room,
                              const ggld_allocator *allocator, ggld_error *err)
{
    ggld_status status = ggld_target_open(&s->target, path, allocator, err);
    if (status != GGLD_OK)
        return status;
    s->buffer_bytes = buffer_bytes_for(s->file_bytes);
    s->buffer = ggld_alloc_bytes(allocator, s->buffer_bytes);
    if (s->buffer == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the output's buffer (%zu bytes)",
                         s->buffer_bytes);
    status = ggld_target_make_temp(&s->target, &s->fd, err);
    if (status == GGLD_OK && with_room)
        status = take_room(s, err);
    return status;
}

ggld_status ggld_sink_open(ggld_sink *s, const char *path, uint64_t file_bytes,
                           bool with_room, const ggld_allocator *allocator,
                           ggld_error *err)
{
    ggld_sink_init(s);
    s->file_bytes = file_bytes;
    ggld_status status = open_parts(s, path, with_room, allocator, err);
    if (status != GGLD_OK)
        ggld_sink_close(s);
    return status;
}

uint64_t ggld_sink_pos(const ggld_sink *s)
{
    return s->flushed + s->used;
}

/* Has the disk begin with what was written since it was told the last time, so
 * that there is little left to do when all is to be synced. Only advice. */
static void start_writing(ggld_sink *s)
{
    if (s->flushed - s->started < START_BYTES)
        return;
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(s->fd, (off_t)s->started,
                          (off_t)(s->flushed - s->started),
                          SYNC_FILE_RANGE_WRITE);
#endif
    s->started = s->flushed;
}

/* At the place behind what was flushed, past interruptions and short writes. */
static ggld_status write_through(ggld_sink *s, const uint8_t *data,
                                 uint64_t size, ggld_error *err)
{
    while (size > 0) {
        size_t n = (size_t)ggld_min_u64(size, 1u << 30);
        ssize_t done = pwrite(s->fd, data, n, (off_t)s->flushed);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_system(s, done < 0 ? errno : EIO, "can't write past",
                               err);
        data += done;
        size -= (uint64_t)done;
        s->flushed += (uint64_t)done;
    }
    start_writing(s);
    return GGLD_OK;
}

static ggld_status flush(ggld_sink *s, ggld_error *err)
{
    ggld_status status = write_through(s, s->buffer, s->used, err);
    s->used = 0;
    return status;
}

ggld_status ggld_sink_room(ggld_sink *s, size_t min_bytes, uint8_t **room,
                           size_t *room_bytes, ggld_error *err)
{
    if (s->buffer_bytes - s->used < min_bytes) {
        ggld_status status = flush(s, err);
        if (status != GGLD_OK)
            return status;
    }
    *room = s->buffer + s->used;
    *room_bytes = s->buffer_bytes - s->used;
    return GGLD_OK;
}

void ggld_sink_take(ggld_sink *s, size_t size)
{
    s->used += size;
}

ggld_status ggld_sink_write(ggld_sink *s, const void *data, uint64_t size,
                            ggld_error *err)
{
    uint8_t *room;
    size_t room_bytes;

    if (size >= s->buffer_bytes) {
        ggld_status status = flush(s, err);
        return status == GGLD_OK ? write_through(s, data, size, err) : status;
    }
    ggld_status status =
        ggld_sink_room(s, (size_t)size, &room, &room_bytes, err);
    if (status != GGLD_OK || size == 0)
        return status;
    memcpy(room, data, (size_t)size);
    ggld_sink_take(s, (size_t)size);
    return GGLD_OK;
}

ggld_status ggld_sink_zeros(ggld_sink *s, uint64_t size, ggld_error *err)
{
    uint8_t *room;
    size_t room_bytes;

    if (size >= s->buffer_bytes || s->hollow) {
        ggld_status status = flush(s, err);
        s->flushed += size;
        return status;
    }
    ggld_status status =
        ggld_sink_room(s, (size_t)size, &room, &room_bytes, err);
    if (status != GGLD_OK)
        return status;
    memset(room, 0, (size_t)size);
    ggld_sink_take(s, (size_t)size);
    return GGLD_OK;
}

static int sync_file(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result;
}

/* Sets the size too, for a file that ends in a hole; close may report what a
 * network's server refuses. */
static ggld_status finish_file(ggld_sink *s, ggld_error *err)
{
    int fd = s->fd;
    int result;

    do
        result = ftruncate(fd, (off_t)s->flushed);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return fail_system(s, errno, "can't end the file after", err);
    if (sync_file(fd) != 0)
        return fail_system(s, errno, "can't sync", err);
    s->fd = -1;
    if (close(fd) != 0 && errno != EINTR)
        return fail_system(s, errno, "can't close the file after", err);
    return GGLD_OK;
}

ggld_status ggld_sink_seal(ggld_sink *s, ggld_error *err)
{
    ggld_status status = flush(s, err);
    if (status == GGLD_OK)
        status = finish_file(s, err);
    if (status != GGLD_OK)
        return status;
    /* Who writes many files keeps them sealed until the last is. */
    ggld_free(s->target.allocator, s->buffer);
    s->buffer = NULL;
    return GGLD_OK;
}

ggld_status ggld_sink_copy(ggld_sink *s, int fd, uint64_t offset, uint64_t size,
                           uint64_t *copied, ggld_error *err)
{
    ggld_status status = flush(s, err);
    if (status != GGLD_OK)
        return status;
    off_t from = (off_t)offset, to = (off_t)s->flushed;
    ssize_t n;
    do
        n = copy_file_range(fd, &from, s->fd, &to, (size_t)size, 0);
    while (n < 0 && errno == EINTR);
    *copied = n > 0 ? (uint64_t)n : 0;
    /* The disk begins while the next piece is copied, and has less left to do
     * when the file is synced. Only a hint. */
    if (n > 0)
        (void)sync_file_range(s->fd, (off_t)s->flushed, n,
                              SYNC_FILE_RANGE_WRITE);
    s->flushed += *copied;
    return GGLD_OK;
}

void ggld_sink_close(ggld_sink *s)
{
    if (s->target.path == NULL)
        return;
    const ggld_allocator *a = s->target.allocator;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    ggld_free(a, s->buffer);
    s->buffer = NULL;
    ggld_target_close(&s->target);
}
