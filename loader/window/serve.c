/* SPDX-License-Identifier: MIT */
/* The threads that serve touches. One of them, the first, waits for touches; the
 * others are woken where there is more to do: chunks to fill ahead, or another
 * touch that waits. To wake all for each touch would cost more than it brings
 * while one thread touches at random. A touch that waits goes before what nobody
 * waits for. */
#include "window.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "uffd.h"

static bool next_ahead(ggld_window *w, uint32_t *out_chunk)
{
    bool found;
    pthread_mutex_lock(&w->lock);
    do
        found = ggld_ahead_take(&w->ahead, out_chunk);
    while (found && w->chunks[*out_chunk].state != GGLD_CHUNK_EMPTY);
    pthread_mutex_unlock(&w->lock);
    return found;
}

static bool others_wait(const ggld_window *w)
{
    struct pollfd fd = { .fd = w->fd, .events = POLLIN };
    return poll(&fd, 1, 0) > 0;
}

static void serve_touch(ggld_window *w, void *addr)
{
    ggld_error err;
    size_t offset = (size_t)((uint8_t *)addr - w->data);
    uint32_t chunk = (uint32_t)(offset / w->chunk_bytes);
    bool more = others_wait(w);
    pthread_mutex_lock(&w->lock);
    w->counts.n_faults++;
    if (ggld_ahead_touched(&w->ahead, chunk) || more) {
        w->needs_help = true;
        pthread_cond_signal(&w->help);
    }
    pthread_mutex_unlock(&w->lock);
    (void)ggld_window_make(w, chunk, GGLD_WHY_TOUCHED, &err);
}

/* One thing of what there is to do; false: there is nothing. */
static bool serve_one(ggld_window *w)
{
    ggld_error err;
    uint32_t chunk;
    void *addr;
    if (ggld_uffd_next(w->fd, &addr)) {
        serve_touch(w, addr);
        return true;
    }
    if (!next_ahead(w, &chunk))
        return false;
    (void)ggld_window_make(w, chunk, GGLD_WHY_AHEAD, &err);
    return true;
}

static bool stopped(const ggld_window *w)
{
    return atomic_load_explicit(&w->stop, memory_order_acquire);
}

static void *serve_first(void *arg)
{
    ggld_window *w = arg;
    struct pollfd fds[2] = { { .fd = w->fd, .events = POLLIN },
                             { .fd = w->stop_fd, .events = POLLIN } };
    while (!stopped(w))
        if (!serve_one(w))
            (void)poll(fds, 2, -1);
    return NULL;
}

static void *serve_more(void *arg)
{
    ggld_window *w = arg;
    while (!stopped(w)) {
        pthread_mutex_lock(&w->lock);
        while (!w->needs_help && !stopped(w))
            pthread_cond_wait(&w->help, &w->lock);
        w->needs_help = false;
        pthread_mutex_unlock(&w->lock);
        while (!stopped(w) && serve_one(w))
            continue;
    }
    return NULL;
}

/* The app's signals are for its own threads; but those that a fault raises in
 * the thread itself must reach their handler (guard.h). */
static void block_signals(sigset_t *before)
{
    static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE,
                                  SIGILL, SIGTRAP, SIGSYS };
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

ggld_status ggld_window_serve(ggld_window *w, uint32_t n_threads,
                              ggld_error *err)
{
    sigset_t before;
    int code = 0;
    w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->stop_fd < 0)
        return ggld_fail_errno(err, errno, ggld_nowhere(),
                               "window: no descriptor for its threads");
    block_signals(&before);
    while (w->n_threads < n_threads && code == 0) {
        code = pthread_create(&w->threads[w->n_threads], NULL,
                              w->n_threads == 0 ? serve_first : serve_more, w);
        if (code == 0)
            w->n_threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 ? GGLD_OK
                     : ggld_fail_errno(err, code, ggld_nowhere(),
                                       "window: thread %u of %u can't be had",
                                       w->n_threads + 1, n_threads);
}

void ggld_window_serve_end(ggld_window *w)
{
    uint64_t one = 1;
    pthread_mutex_lock(&w->lock);
    atomic_store_explicit(&w->stop, true, memory_order_release);
    pthread_cond_broadcast(&w->help);
    pthread_mutex_unlock(&w->lock);
    if (w->stop_fd >= 0 && write(w->stop_fd, &one, sizeof one) < 0)
        return; /* it can't be full */
    for (uint32_t i = 0; i < w->n_threads; i++)
        pthread_join(w->threads[i], NULL);
    w->n_threads = 0;
}
