/* SPDX-License-Identifier: MIT */
/* One ring for one thread. Every request is waited for before the call
 * returns: the buffer is the caller's again. */
#include "uring.h"

#include <errno.h>

#ifdef GGLD_HAVE_URING

#include <liburing.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../base/checked.h"

struct ggld_uring {
    struct io_uring ring;
};

int ggld_uring_open(ggld_uring **out)
{
    ggld_uring *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ENOMEM;
    int status = io_uring_queue_init(GGLD_URING_DEPTH, &made->ring, 0);
    if (status < 0) {
        free(made);
        return -status;
    }
    *out = made;
    return 0;
}

void ggld_uring_close(ggld_uring *ring)
{
    if (ring == NULL)
        return;
    io_uring_queue_exit(&ring->ring);
    free(ring);
}

/* One read as the caller sees it. */
typedef struct ring_read {
    uint8_t *dst;
    uint64_t size;
    uint64_t offset;
    uint64_t queued; /* bytes that requests were made for */
    uint64_t whole;  /* no request below has come back short */
    int error;
    uint32_t in_flight;
} ring_read;

static void queue_one(ggld_uring *ring, int fd, ring_read *r)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->ring);
    if (sqe == NULL)
        return;
    uint64_t n = ggld_min_u64(r->size - r->queued, GGLD_URING_READ_BYTES);
    io_uring_prep_read(sqe, fd, r->dst + r->queued, (unsigned)n,
                       r->offset + r->queued);
    sqe->user_data = r->queued;
    r->queued += n;
    r->in_flight++;
}

static void take_one(ring_read *r, const struct io_uring_cqe *cqe)
{
    uint64_t at = cqe->user_data;
    uint64_t n = ggld_min_u64(r->size - at, GGLD_URING_READ_BYTES);
    r->in_flight--;
    if (cqe->res < 0) {
        /* The caller's own reads go on from there, and meet it again. */
        if (cqe->res != -EINTR && cqe->res != -EAGAIN)
            r->error = -cqe->res;
        r->whole = ggld_min_u64(r->whole, at);
    } else if ((uint64_t)cqe->res < n) {
        r->whole = ggld_min_u64(r->whole, at + (uint64_t)cqe->res);
    }
}

/* false: the ring itself is broken. */
static bool wait_one(ggld_uring *ring, ring_read *r)
{
    struct io_uring_cqe *cqe;
    int status;
    do
        status = io_uring_submit_and_wait(&ring->ring, 1);
    while (status == -EINTR);
    if (status < 0) {
        r->error = -status;
        return false;
    }
    while (io_uring_peek_cqe(&ring->ring, &cqe) == 0) {
        take_one(r, cqe);
        io_uring_cqe_seen(&ring->ring, cqe);
    }
    return true;
}

int64_t ggld_uring_read(ggld_uring *ring, int fd, uint8_t *dst, uint64_t size,
                        uint64_t offset)
{
    ring_read r = { .dst = dst, .size = size, .offset = offset, .whole = size };
    do {
        while (r.error == 0 && r.whole == size && r.queued < size &&
               r.in_flight < GGLD_URING_DEPTH)
            queue_one(ring, fd, &r);
    } while (r.in_flight > 0 && wait_one(ring, &r));
    return r.error != 0 ? -r.error : (int64_t)r.whole;
}

#else

int ggld_uring_open(ggld_uring **out)
{
    (void)out;
    return ENOSYS;
}

void ggld_uring_close(ggld_uring *ring)
{
    (void)ring;
}

int64_t ggld_uring_read(ggld_uring *ring, int fd, uint8_t *dst, uint64_t size,
                        uint64_t offset)
{
    (void)ring, (void)fd, (void)dst, (void)size, (void)offset;
    return -ENOSYS;
}

#endif
