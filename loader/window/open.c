/* SPDX-License-Identifier: MIT */
/* Windows from open to close: what was asked for, where the memory is, and what
 * is done where the system does not offer faults.
 *
 * The memory is reserved without access, and readable only once it waits for
 * whoever touches it: a process that locks all it maps would else have zeros put
 * there. At close access goes first, for then nobody can see the zeros that are
 * behind the end of waiting. */
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/structs.h"
#include "clock.h"
#include "room.h"
#include "uffd.h"

/* Measured (tests/window/README.md): a touch at random costs little more than
 * its fault up to here, and in order, with chunks filled ahead, larger ones gain
 * little. */
#define CHUNK_BYTES (32u << 10)
#define N_THREADS   2u
#define AHEAD_BYTES (4u << 20)
#define KNOWN_FLAGS \
    (GGLD_WINDOW_POISON | GGLD_WINDOW_AT_ONCE | GGLD_WINDOW_NO_AHEAD)

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- what was asked for ---- */

static ggld_status take_options(ggld_window_options *o,
                                const ggld_window_options *theirs,
                                ggld_error *err)
{
    const ggld_window_options standard = ggld_window_options_init();
    if (theirs == NULL)
        theirs = &standard;
    ggld_status status = ggld_struct_take("window options", theirs, sizeof *o,
                                          o, sizeof *o, err);
    if (status != GGLD_OK)
        return status;
    if ((o->flags & ~KNOWN_FLAGS) != 0 || o->reserved32 != 0 ||
        !ggld_all_zero(o->reserved, sizeof o->reserved))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "window options: flags %#x, of which %#x are known, "
                         "or a reserved field is not zero",
                         o->flags, KNOWN_FLAGS);
    if (o->format > GGLD_WINDOW_F16)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: format %u is none; f32 is 0, f16 is 1",
                         o->format);
    if (o->n_threads > GGLD_WINDOW_MAX_THREADS)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: %u threads, the most are %u", o->n_threads,
                         GGLD_WINDOW_MAX_THREADS);
    o->n_threads = o->n_threads != 0 ? o->n_threads : N_THREADS;
    return GGLD_OK;
}

static ggld_status too_large(const ggld_window *w, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                     "window: %" PRIu64 " elements of %zu bytes are more than "
                     "addresses, or numbers of chunks, reach here: open it "
                     "over a part of the view, or with larger chunks",
                     w->view.n_elems, w->elem_bytes);
}

/* Sizes of the window and of its chunks, whole pages. */
static ggld_status measure(ggld_window *w, const ggld_window_options *o,
                           ggld_error *err)
{
    uint64_t page = page_size(), size, chunk = o->chunk_bytes;
    if (!ggld_mul_u64(w->view.n_elems, w->elem_bytes, &size) ||
        !ggld_align_up(size, page, &size) || size > SIZE_MAX / 2)
        return too_large(w, err);
    size = size != 0 ? size : page;
    if (chunk == 0) {
        uint64_t quarter = o->max_resident_bytes / 4;
        chunk = CHUNK_BYTES;
        if (o->max_resident_bytes != 0 && quarter < chunk)
            chunk = quarter < page ? page : quarter / page * page;
    }
    if (chunk >= size || !ggld_align_up(chunk, page, &chunk))
        chunk = size;
    if (size / chunk >= GGLD_WINDOW_NO_CHUNK - 1)
        return too_large(w, err);
    w->size_bytes = (size_t)size;
    w->chunk_bytes = (size_t)chunk;
    w->n_chunks =
        w->view.n_elems != 0 ? (uint32_t)((size + chunk - 1) / chunk) : 0;
    return GGLD_OK;
}

/* Buffers of more threads than two are within the budget. */
static ggld_status settle_budget(ggld_window *w, const ggld_window_options *o,
                                 ggld_error *err)
{
    uint64_t budget = o->max_resident_bytes;
    uint32_t extra = o->n_threads > 2 ? o->n_threads - 2 : 0;
    w->max_held = w->n_chunks;
    if (budget == 0)
        return GGLD_OK;
    uint64_t room = budget / w->chunk_bytes;
    uint64_t least = w->n_chunks < 2 ? w->n_chunks : 2;
    if (room < least + extra)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: a budget of %" PRIu64 " bytes has room for "
                         "%" PRIu64 " chunks of %zu bytes, %" PRIu64
                         " are needed with %u threads",
                         budget, room, w->chunk_bytes, least + extra,
                         o->n_threads);
    w->max_held = (uint32_t)ggld_min_u64(room - extra, w->n_chunks);
    return GGLD_OK;
}

/* ---- memory ---- */

static ggld_status no_memory(const char *what, uint64_t size, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "window: no memory for %s (%" PRIu64 " bytes): %s", what,
                     size, strerror(errno));
}

static void *map_private(size_t size, int protection)
{
    void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* cppcheck-suppress memleak; it is the caller's */
    return p != MAP_FAILED ? p : NULL;
}

static ggld_status map_window(ggld_window *w, ggld_error *err)
{
    w->data = map_private(w->size_bytes, PROT_NONE);
    if (w->data == NULL)
        return no_memory("the window's addresses", w->size_bytes, err);
    (void)munlock(w->data, w->size_bytes);
    if (madvise(w->data, w->size_bytes, MADV_DONTFORK) != 0)
        return ggld_fail_errno(err, errno, ggld_nowhere(),
                               "window: its memory can't be kept from "
                               "children");
    return GGLD_OK;
}

/* 0, or why touches can't be waited for. */
static int wait_for_touches(ggld_window *w)
{
    int sys_errno = ggld_uffd_open(&w->fd);
    if (sys_errno == 0)
        sys_errno =
            ggld_uffd_register(w->fd, w->data, w->size_bytes, &w->can_poison);
    if (sys_errno == 0 && mprotect(w->data, w->size_bytes, PROT_READ) != 0)
        sys_errno = errno;
    return sys_errno;
}

/* ---- without faults ---- */

/* The process, or the system, has no more of something just now: no reason to
 * have all of the window instead. */
static ggld_status short_of(int sys_errno, ggld_error *err)
{
    if (sys_errno == ENOMEM) {
        errno = sys_errno;
        return no_memory("waiting for touches (userfaultfd)", 0, err);
    }
    return ggld_fail_errno(err, sys_errno, ggld_nowhere(),
                           "window: no descriptor to wait for touches by "
                           "(userfaultfd)");
}

static bool is_short(int sys_errno)
{
    return sys_errno == EMFILE || sys_errno == ENFILE || sys_errno == ENOMEM ||
           sys_errno == EAGAIN;
}

static ggld_status unsupported(const ggld_window *w, const char *limit,
                               uint64_t bytes, const char *todo,
                               ggld_error *err)
{
    int sys_errno = (int)w->counts.sys_errno;
    const char *why =
        sys_errno != 0 ? strerror(sys_errno) : "the app asked for all at once";
    ggld_status status = ggld_fail(
        err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
        "window: no faults to fill it by (userfaultfd: %s), and %zu bytes do "
        "not fit %s of %" PRIu64 ": %s, or use ggld_view_read_f32 on parts",
        why, w->size_bytes, limit, bytes, todo);
    if (err != NULL)
        err->sys_errno = sys_errno;
    return status;
}

/* Who gives a budget knows what there is; without one the whole must fit what
 * the system has left. */
static ggld_status check_room(const ggld_window *w, uint64_t budget,
                              ggld_error *err)
{
    uint64_t room = budget == 0 ? ggld_room_bytes() : budget;
    if (w->size_bytes <= room)
        return GGLD_OK;
    if (budget != 0)
        return unsupported(w, "the budget", budget, "raise max_resident_bytes",
                           err);
    return unsupported(w, "the available memory", room,
                       "give max_resident_bytes to have it all the same", err);
}

static ggld_status fill_at_once(ggld_window *w, ggld_error *err)
{
    uint64_t n = w->n_chunks;
    if (mprotect(w->data, w->size_bytes, PROT_READ | PROT_WRITE) != 0)
        return no_memory("all of the window", w->size_bytes, err);
    uint64_t began = ggld_clock_ns();
    ggld_status status = ggld_window_read(w, 0, w->data, w->size_bytes, err);
    w->counts.read_ns = ggld_clock_ns() - began;
    if (status != GGLD_OK)
        return status;
    w->counts.resident_bytes = w->counts.peak_bytes = w->size_bytes;
    w->counts.n_filled = w->counts.n_ahead = n;
    w->max_held = w->n_chunks;
    if (mprotect(w->data, w->size_bytes, PROT_READ) != 0)
        return no_memory("all of the window", w->size_bytes, err);
    return GGLD_OK;
}

/* ---- open and close ---- */

static ggld_status make_buffers(ggld_window *w, uint32_t n_threads,
                                ggld_error *err)
{
    uint64_t size;
    w->chunks = calloc((size_t)w->n_chunks + 1, sizeof *w->chunks);
    if (w->chunks == NULL)
        return no_memory("a table of chunks",
                         (uint64_t)w->n_chunks * sizeof *w->chunks, err);
    if (!ggld_mul_u64(w->chunk_bytes, n_threads, &size) || size > SIZE_MAX / 2)
        return too_large(w, err);
    w->buffers = map_private((size_t)size, PROT_READ | PROT_WRITE);
    if (w->buffers == NULL)
        return no_memory("buffers of its threads", size, err);
    w->buffers_bytes = (size_t)size;
    for (uint32_t i = 0; i < n_threads; i++)
        w->free[w->n_free++] = w->buffers + i * w->chunk_bytes;
    return GGLD_OK;
}

static ggld_status begin(ggld_window *w, const ggld_window_options *o,
                         ggld_error *err)
{
    ggld_status status = map_window(w, err);
    if (status != GGLD_OK)
        return status;
    bool at_once = (o->flags & GGLD_WINDOW_AT_ONCE) != 0;
    int sys_errno = at_once ? 0 : wait_for_touches(w);
    if (is_short(sys_errno))
        return short_of(sys_errno, err);
    if (at_once || sys_errno != 0) {
        w->counts.sys_errno = (uint32_t)sys_errno;
        status = check_room(w, o->max_resident_bytes, err);
        return status == GGLD_OK ? fill_at_once(w, err) : status;
    }
    w->lazy = true;
    if ((o->flags & GGLD_WINDOW_POISON) != 0 && !w->can_poison)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "window: this kernel can't poison pages (6.6 and "
                         "later can): open it without GGLD_WINDOW_POISON, for "
                         "NaNs");
    status = settle_budget(w, o, err);
    if (status == GGLD_OK)
        status = make_buffers(w, o->n_threads, err);
    if (status != GGLD_OK)
        return status;
    uint64_t ahead =
        (o->flags & GGLD_WINDOW_NO_AHEAD) != 0
            ? 0
            : ggld_min_u64(AHEAD_BYTES / w->chunk_bytes, w->max_held / 4);
    ggld_ahead_init(&w->ahead, w->n_chunks, (uint32_t)ahead);
    return ggld_window_serve(w, o->n_threads, err);
}

static void take_apart(ggld_window *w)
{
    bool ours = w->pid == getpid();
    if (ours && w->data != NULL)
        (void)mprotect(w->data, w->size_bytes, PROT_NONE);
    if (ours)
        ggld_window_serve_end(w);
    if (ours && w->lazy)
        ggld_uffd_unregister(w->fd, w->data, w->size_bytes);
    if (w->fd >= 0)
        close(w->fd);
    if (w->stop_fd >= 0)
        close(w->stop_fd);
    /* In a child other memory may be there by now. */
    if (ours && w->data != NULL)
        munmap(w->data, w->size_bytes);
    if (w->buffers != NULL)
        munmap(w->buffers, w->buffers_bytes);
    ggld_close(w->file);
    if (ours) {
        pthread_cond_destroy(&w->help);
        pthread_cond_destroy(&w->changed);
        pthread_mutex_destroy(&w->lock);
    }
    free(w->chunks);
    free(w);
}

/* A view of no elements is refused for what any of its tensor would be. */
static ggld_status check_view(const ggld_view *view, ggld_error *err)
{
    ggld_view none;
    ggld_status status = ggld_view_elems(&none, view, 0, 0, err);
    return status == GGLD_OK ? ggld_view_read_f32(&none, NULL, 0, err) : status;
}

static ggld_window *make(const ggld_view *view, const ggld_window_options *o)
{
    ggld_window *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->view = *view;
    /* So that a file that has been cut is an error. */
    w->view.flags |= GGLD_VIEW_PREAD;
    w->file = ggld_file_ref((ggld_file *)ggld_tensor_file(view->tensor));
    w->flags = o->flags;
    w->format = o->format;
    w->elem_bytes = o->format == GGLD_WINDOW_F16 ? 2 : 4;
    w->failed = o->failed;
    w->user = o->user;
    w->fd = w->stop_fd = -1;
    w->pid = getpid();
    w->oldest = w->newest = GGLD_WINDOW_NO_CHUNK;
    atomic_init(&w->n_holders, 1);
    (void)pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    pthread_cond_init(&w->help, NULL);
    return w;
}

ggld_status ggld_window_open(ggld_window **out, const ggld_view *view,
                             const ggld_window_options *options,
                             ggld_error *err)
{
    ggld_window_options o;
    if (out == NULL || view == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "window: out and view are needed");
    ggld_status status = take_options(&o, options, err);
    if (status == GGLD_OK)
        status = check_view(view, err);
    if (status != GGLD_OK)
        return status;
    ggld_window *w = make(view, &o);
    if (w == NULL)
        return no_memory("itself", sizeof *w, err);
    status = measure(w, &o, err);
    if (status == GGLD_OK)
        status = begin(w, &o, err);
    if (status != GGLD_OK) {
        take_apart(w);
        return status;
    }
    *out = w;
    return GGLD_OK;
}

ggld_window *ggld_window_ref(ggld_window *w)
{
    atomic_fetch_add_explicit(&w->n_holders, 1, memory_order_relaxed);
    return w;
}

void ggld_window_close(ggld_window *w)
{
    if (w != NULL &&
        atomic_fetch_sub_explicit(&w->n_holders, 1, memory_order_acq_rel) == 1)
        take_apart(w);
}

/* ---- what it is ---- */

const float *ggld_window_data(const ggld_window *w)
{
    return w->format == GGLD_WINDOW_F32 ? (const float *)(const void *)w->data
                                        : NULL;
}

const uint16_t *ggld_window_data_f16(const ggld_window *w)
{
    return w->format == GGLD_WINDOW_F16
               ? (const uint16_t *)(const void *)w->data
               : NULL;
}

void ggld_window_stats(ggld_window *w, ggld_window_counts *out)
{
    bool ours = w->pid == getpid();
    /* In a child the lock may be one that nobody will ever let go. */
    if (ours)
        pthread_mutex_lock(&w->lock);
    ggld_window_counts c = w->counts;
    if (ours)
        pthread_mutex_unlock(&w->lock);
    c.struct_size = sizeof c;
    c.n_elems = w->view.n_elems;
    c.size_bytes = w->size_bytes;
    c.chunk_bytes = w->chunk_bytes;
    c.max_resident_bytes =
        w->lazy ? (uint64_t)w->max_held * w->chunk_bytes : w->size_bytes;
    c.lazy = w->lazy;
    ggld_struct_give(out, &c, sizeof c);
}
