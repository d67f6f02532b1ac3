/* SPDX-License-Identifier: MIT */
/* Reads through io_uring: many requests of one thread under way at once. */
#ifndef GGLD_JOBS_URING_H
#define GGLD_JOBS_URING_H

#include <stddef.h>
#include <stdint.h>

typedef struct ggld_uring ggld_uring;

/* 0, or an errno: ENOSYS where the build or the kernel has none, EPERM where
 * the system forbids it. */
int ggld_uring_open(ggld_uring **out);
void ggld_uring_close(ggld_uring *ring); /* may be NULL */

/* Reads size bytes at offset in requests of up to GGLD_URING_READ_BYTES. The
 * number of bytes that are there from dst on without a hole (fewer than size:
 * the end of the file, or a request that was cut short), or -errno. */
int64_t ggld_uring_read(ggld_uring *ring, int fd, uint8_t *dst, uint64_t size,
                        uint64_t offset);

#define GGLD_URING_READ_BYTES (512u << 10)
#define GGLD_URING_DEPTH      8u

#endif /* GGLD_JOBS_URING_H */
