/* SPDX-License-Identifier: MIT */
/* A window inside. Its chunks are empty, being filled, or held; one lock is over
 * the table of them, and is not held while a chunk is read or put in place. A
 * chunk is filled by one thread at a time, of a buffer that no other has, and
 * dropped with the lock held, so that "held" means "in place" for whoever has
 * the lock. What touchers wait for is the kernel's business: to put a chunk in
 * place wakes them, however many there are. */
#ifndef GGLD_WINDOW_WINDOW_H
#define GGLD_WINDOW_WINDOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ggld/window.h>

#include "../base/error.h"
#include "ahead.h"

#define GGLD_WINDOW_MAX_THREADS 16u
#define GGLD_WINDOW_NO_CHUNK    UINT32_MAX

typedef enum ggld_window_state {
    GGLD_CHUNK_EMPTY = 0,
    GGLD_CHUNK_FILLING,
    GGLD_CHUNK_HELD,
    GGLD_CHUNK_FAILED /* held, but NaNs or poison */
} ggld_window_state;

typedef struct ggld_window_chunk {
    uint32_t older, newer; /* of those not empty, by when they were filled */
    uint32_t state;        /* ggld_window_state */
} ggld_window_chunk;

struct ggld_window {
    /* Set once at open. */
    ggld_view view;
    ggld_file *file; /* NULL: not taken yet */
    uint32_t flags, format;
    size_t elem_bytes;
    uint8_t *data;
    size_t size_bytes; /* whole pages; of an empty view one */
    size_t chunk_bytes;
    uint32_t n_chunks;
    uint32_t max_held; /* chunks: the budget */
    bool lazy;
    bool can_poison;
    int fd, stop_fd; /* -1: none */
    pid_t pid;       /* whose it is: not its children's */
    ggld_window_failed failed;
    void *user;
    uint32_t n_threads; /* that run */
    pthread_t threads[GGLD_WINDOW_MAX_THREADS];
    uint8_t *buffers; /* one of a chunk for each thread */
    size_t buffers_bytes;

    _Atomic uint32_t n_holders;
    _Atomic bool stop;

    /* Of the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a chunk was filled, a buffer is free */
    pthread_cond_t help;    /* there is more to do than one thread can */
    bool needs_help;
    ggld_window_chunk *chunks;
    uint32_t oldest, newest;
    uint32_t n_held; /* and being filled */
    uint32_t n_free; /* buffers */
    uint8_t *free[GGLD_WINDOW_MAX_THREADS];
    ggld_ahead ahead;
    ggld_window_counts counts;
    ggld_error first;
};

/* ---- chunks.c: with the lock held, but for place ---- */

static inline uint8_t *ggld_window_at(const ggld_window *w, uint32_t chunk)
{
    return w->data + (size_t)chunk * w->chunk_bytes;
}
size_t ggld_window_chunk_size(const ggld_window *w, uint32_t chunk);

/* Puts a chunk that is held behind all others in the order of dropping. */
void ggld_window_age(ggld_window *w, uint32_t chunk);
/* From empty to being filled: the newest. Counted from here on, for a toucher may
 * go on and look before its filler has the lock again. */
void ggld_window_claim(ggld_window *w, uint32_t chunk, bool touched);
/* Of a chunk that is held. */
void ggld_window_release(ggld_window *w, uint32_t chunk);
/* false: what is held is being filled. */
bool ggld_window_drop_oldest(ggld_window *w);
/* Drops until one more may be held; false likewise. */
bool ggld_window_make_room(ggld_window *w);

/* ---- fill.c ---- */

typedef enum ggld_window_why {
    GGLD_WHY_TOUCHED,
    GGLD_WHY_AHEAD,
    GGLD_WHY_ASKED /* waits for others who fill it, and makes it the newest */
} ggld_window_why;

/* Sees to it that the chunk is in place. Only ASKED fails. */
ggld_status ggld_window_make(ggld_window *w, uint32_t chunk,
                             ggld_window_why why, ggld_error *err);
/* n elements of the view, and NaNs up to size bytes. */
ggld_status ggld_window_read(const ggld_window *w, uint64_t first_elem,
                             void *dst, size_t size_bytes, ggld_error *err);

/* ---- serve.c ---- */

/* Starts n_threads threads that serve touches. */
ggld_status ggld_window_serve(ggld_window *w, uint32_t n_threads,
                              ggld_error *err);
/* Ends them, where there are any. */
void ggld_window_serve_end(ggld_window *w);

#endif /* GGLD_WINDOW_WINDOW_H */
