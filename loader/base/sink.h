/* SPDX-License-Identifier: MIT */
/* The file as it is written: from its start to its end, through a buffer, into
 * a temporary file that gets its name when everything is there. */
#ifndef GGLD_BASE_SINK_H
#define GGLD_BASE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

/* As large as the file, between these. */
#define GGLD_SINK_LEAST_BYTES  (64u << 10)
#define GGLD_SINK_BUFFER_BYTES (1u << 20)

typedef struct ggld_sink {
    ggld_target target;
    uint64_t file_bytes; /* that the file will have */
    int fd;              /* of the temporary file; -1: not open */
    uint8_t *buffer;
    size_t buffer_bytes;
    size_t used;      /* bytes of buffer that are not written yet */
    uint64_t flushed; /* bytes of the file that are, or are a hole */
    uint64_t started; /* of them, which the disk has been told of */
    bool hollow;      /* zeros are left out, however few */
} ggld_sink;

/* A sink that is not open; closing it does nothing. */
void ggld_sink_init(ggld_sink *s);
/* take_room: file_bytes are taken on the disk now, so that a full disk shows
 * at once, where the file system can do that. The allocator is kept. */
ggld_status ggld_sink_open(ggld_sink *s, const char *path, uint64_t file_bytes,
                           bool take_room, const ggld_allocator *allocator,
                           ggld_error *err);
/* Bytes that the file has by now. */
uint64_t ggld_sink_pos(const ggld_sink *s);
/* What is as large as the buffer is written without a copy. */
ggld_status ggld_sink_write(ggld_sink *s, const void *data, uint64_t size,
                            ggld_error *err);
/* Many zeros are left out, as a hole. */
ggld_status ggld_sink_zeros(ggld_sink *s, uint64_t size, ggld_error *err);
/* Room in the buffer for at least min_bytes (at most GGLD_SINK_LEAST_BYTES),
 * to be filled, wholly or not, and then taken. */
ggld_status ggld_sink_room(ggld_sink *s, size_t min_bytes, uint8_t **room,
                           size_t *room_bytes, ggld_error *err);
void ggld_sink_take(ggld_sink *s, size_t size);
/* Up to size bytes (at most 1 GiB) of another file, as many as the system
 * copies at once by itself: 0 where it does not, for whatever reason. Whoever
 * then reads and writes hears what is wrong, and with which file. */
ggld_status ggld_sink_copy(ggld_sink *s, int fd, uint64_t offset, uint64_t size,
                           uint64_t *copied, ggld_error *err);
/* Everything to disk; nothing can be written any more. What is left is
 * ggld_target_commit(). */
ggld_status ggld_sink_seal(ggld_sink *s, ggld_error *err);
/* Frees; before commit, removes what was written. */
void ggld_sink_close(ggld_sink *s);

#endif /* GGLD_BASE_SINK_H */
