/* SPDX-License-Identifier: MIT */
/* Chunks become floats: by touch, ahead of one, or because the app asks. Reading
 * is the public ggld_view_read_*, so that types, byte orders, sources, the
 * verifier and the guard are what they are there. Nothing here allocates: who
 * touches a window may hold malloc's lock. */
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "clock.h"
#include "uffd.h"

#define NAN_F32 0x7FC00000u
#define NAN_F16 0x7E00u

static void fill_nan(const ggld_window *w, void *dst, size_t size_bytes)
{
    if (w->format == GGLD_WINDOW_F16) {
        uint16_t *halves = dst;
        for (size_t i = 0; i < size_bytes / 2; i++)
            halves[i] = NAN_F16;
    } else {
        uint32_t *bits = dst;
        for (size_t i = 0; i < size_bytes / 4; i++)
            bits[i] = NAN_F32;
    }
}

ggld_status ggld_window_read(const ggld_window *w, uint64_t first_elem,
                             void *dst, size_t size_bytes, ggld_error *err)
{
    uint64_t room = size_bytes / w->elem_bytes;
    uint64_t n = ggld_min_u64(w->view.n_elems - first_elem, room);
    ggld_view part;
    ggld_status status = ggld_view_elems(&part, &w->view, first_elem, n, err);
    if (status != GGLD_OK)
        return status;
    status = w->format == GGLD_WINDOW_F16
                 ? ggld_view_read_f16(&part, dst, n, err)
                 : ggld_view_read_f32(&part, dst, n, err);
    if (n < room)
        fill_nan(w, (uint8_t *)dst + (size_t)n * w->elem_bytes,
                 size_bytes - (size_t)n * w->elem_bytes);
    return status;
}

/* The first error is kept, and told before anybody can see its chunk. */
static void note_failure(ggld_window *w, const ggld_error *err)
{
    pthread_mutex_lock(&w->lock);
    bool is_first = w->first.code == GGLD_OK;
    if (is_first)
        w->first = *err;
    w->counts.n_failed++;
    pthread_mutex_unlock(&w->lock);
    if (is_first && w->failed != NULL)
        w->failed(w, err, w->user);
}

/* Nothing can be put there: touching ends the process, and reads nothing. */
static void seal(const ggld_window *w, uint32_t chunk, size_t size)
{
    uint8_t *at = ggld_window_at(w, chunk);
    (void)ggld_uffd_give_back(at, size);
    if (!w->can_poison || ggld_uffd_poison(w->fd, at, size) != 0)
        (void)mprotect(at, size, PROT_NONE);
    ggld_uffd_wake(w->fd, at, size);
}

/* Short of memory, everything else of the window goes first. */
static int place(ggld_window *w, uint32_t chunk, const void *src, size_t size)
{
    uint8_t *at = ggld_window_at(w, chunk);
    int sys_errno = ggld_uffd_copy(w->fd, at, src, size);
    if (sys_errno != ENOMEM)
        return sys_errno;
    pthread_mutex_lock(&w->lock);
    while (ggld_window_drop_oldest(w))
        continue;
    pthread_mutex_unlock(&w->lock);
    (void)ggld_uffd_give_back(at, size);
    return ggld_uffd_copy(w->fd, at, src, size);
}

/* What becomes of the chunk when it could not be read. */
static ggld_status spoil(ggld_window *w, uint32_t chunk, uint8_t *buffer,
                         size_t size, const ggld_error *err)
{
    note_failure(w, err);
    if ((w->flags & GGLD_WINDOW_POISON) != 0) {
        seal(w, chunk, size);
        return GGLD_OK;
    }
    fill_nan(w, buffer, size);
    return place(w, chunk, buffer, size) == 0 ? GGLD_OK : GGLD_E_IO;
}

typedef struct spent {
    uint64_t read_ns, place_ns;
} spent;

/* Without the lock: the chunk is being filled by this thread alone. */
static ggld_status fill(ggld_window *w, uint32_t chunk, uint8_t *buffer,
                        spent *out, ggld_error *err)
{
    size_t size = ggld_window_chunk_size(w, chunk);
    uint64_t first = (uint64_t)chunk * (w->chunk_bytes / w->elem_bytes);
    uint64_t began = ggld_clock_ns();
    ggld_status status = ggld_window_read(w, first, buffer, size, err);
    uint64_t was_read = ggld_clock_ns();
    int sys_errno = 0;
    bool sealed = false;
    if (status == GGLD_OK)
        sys_errno = place(w, chunk, buffer, size);
    else
        sealed = spoil(w, chunk, buffer, size, err) != GGLD_OK;
    if (sys_errno != 0) {
        status = ggld_fail_errno(
            err, sys_errno, ggld_nowhere(),
            "window: no memory for elements %" PRIu64 " and on", first);
        note_failure(w, err);
        sealed = true;
    }
    if (sealed)
        seal(w, chunk, size);
    out->read_ns = was_read - began;
    out->place_ns = ggld_clock_ns() - was_read;
    return status;
}

/* With the lock: the chunk is empty, and there is a buffer and room. */
static ggld_status fill_now(ggld_window *w, uint32_t chunk, ggld_window_why why,
                            ggld_error *err)
{
    uint8_t *buffer = w->free[--w->n_free];
    spent t;
    ggld_window_claim(w, chunk, why == GGLD_WHY_TOUCHED);
    pthread_mutex_unlock(&w->lock);

    ggld_status status = fill(w, chunk, buffer, &t, err);

    pthread_mutex_lock(&w->lock);
    w->chunks[chunk].state =
        status == GGLD_OK ? GGLD_CHUNK_HELD : GGLD_CHUNK_FAILED;
    w->free[w->n_free++] = buffer;
    w->counts.read_ns += t.read_ns;
    w->counts.place_ns += t.place_ns;
    pthread_cond_broadcast(&w->changed);
    return status;
}

ggld_status ggld_window_make(ggld_window *w, uint32_t chunk,
                             ggld_window_why why, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        uint32_t state = w->chunks[chunk].state;
        if (state == GGLD_CHUNK_FAILED && why == GGLD_WHY_ASKED) {
            ggld_window_release(w, chunk);
            continue;
        }
        if (state == GGLD_CHUNK_HELD && why == GGLD_WHY_ASKED)
            ggld_window_age(w, chunk);
        /* Whoever fills it wakes its touchers. */
        if (state != GGLD_CHUNK_EMPTY &&
            !(state == GGLD_CHUNK_FILLING && why == GGLD_WHY_ASKED))
            break;
        if (state == GGLD_CHUNK_EMPTY && w->n_free > 0 &&
            ggld_window_make_room(w)) {
            status = fill_now(w, chunk, why, err);
            break;
        }
        pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* ---- what the app asks for ---- */

/* The window is this process's, and n_elems from first_elem on are in it. */
static ggld_status check(const ggld_window *w, const char *what,
                         uint64_t first_elem, uint64_t n_elems, ggld_error *err)
{
    if (w == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: %s needs one", what);
    if (w->pid != getpid())
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: %s in process %ld of the window of process "
                         "%ld: the child of a fork has none, open it there",
                         what, (long)getpid(), (long)w->pid);
    if (!ggld_fits(first_elem, n_elems, w->view.n_elems))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: %s %" PRIu64 " elements from %" PRIu64
                         " on, the window has %" PRIu64,
                         what, n_elems, first_elem, w->view.n_elems);
    return GGLD_OK;
}

typedef struct range {
    uint32_t begin, end;
} range;

static range chunks_of(const ggld_window *w, uint64_t first, uint64_t n)
{
    uint64_t in_one = w->chunk_bytes / w->elem_bytes;
    range r = { 0, 0 };
    if (n != 0) {
        r.begin = (uint32_t)(first / in_one);
        r.end = (uint32_t)((first + n - 1) / in_one + 1);
    }
    return r;
}

ggld_status ggld_window_fill(ggld_window *w, uint64_t first_elem,
                             uint64_t n_elems, ggld_error *err)
{
    ggld_error ours;
    ggld_status status = check(w, "fill", first_elem, n_elems, err);
    if (status != GGLD_OK || !w->lazy)
        return status;
    range r = chunks_of(w, first_elem, n_elems);
    if (r.end - r.begin > w->max_held)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "window: %" PRIu64 " elements are in %u chunks, the "
                         "budget has room for %u of %zu bytes: fill less at a "
                         "time, or raise max_resident_bytes",
                         n_elems, r.end - r.begin, w->max_held, w->chunk_bytes);
    for (uint32_t i = r.begin; i < r.end && status == GGLD_OK; i++)
        status = ggld_window_make(w, i, GGLD_WHY_ASKED, &ours);
    if (status != GGLD_OK && err != NULL)
        *err = ours;
    return status;
}

ggld_status ggld_window_drop(ggld_window *w, uint64_t first_elem,
                             uint64_t n_elems, ggld_error *err)
{
    ggld_status status = check(w, "drop", first_elem, n_elems, err);
    if (status != GGLD_OK || !w->lazy)
        return status;
    range r = chunks_of(w, first_elem, n_elems);
    for (uint32_t i = r.begin; i < r.end; i++) {
        pthread_mutex_lock(&w->lock);
        /* Its toucher may have gone on before its filler is done. */
        while (w->chunks[i].state == GGLD_CHUNK_FILLING)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->chunks[i].state == GGLD_CHUNK_HELD ||
            w->chunks[i].state == GGLD_CHUNK_FAILED)
            ggld_window_release(w, i);
        pthread_mutex_unlock(&w->lock);
    }
    return GGLD_OK;
}

ggld_status ggld_window_status(ggld_window *w, ggld_error *err)
{
    ggld_status status = check(w, "status", 0, 0, err);
    if (status != GGLD_OK)
        return status;
    pthread_mutex_lock(&w->lock);
    status = w->first.code;
    if (status != GGLD_OK && err != NULL)
        *err = w->first;
    pthread_mutex_unlock(&w->lock);
    return status;
}
