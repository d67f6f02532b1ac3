/* SPDX-License-Identifier: MIT */
/* SIGBUS as an error. A signal's handler is the process's, so this is, with the
 * list of maps, the one place with state outside of objects: how often it was installed, what was
 * there before, and in each thread what it is just reading. The handler may do
 * what is async-signal-safe only. */
#include "guard.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>
#include <unistd.h>

#include <ggld/guard.h>

#include "../base/cut.h"
#include "maps.h"
#include "set.h"
#include "source.h"

typedef struct frame {
    sigjmp_buf back;
    sigset_t mask;        /* of the thread when the fault came */
    uintptr_t start, end; /* whole pages: some processors tell no more */
} frame;

/* What this thread reads now. Space for it is there when a thread begins, so
 * that the handler's look at it never allocates. */
static _Thread_local frame *volatile reading
    __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint n_installed;
static struct sigaction before;
/* Where ours was once left beneath a handler that was put over it and calls it:
 * what ours had been put over then. Ours, installed again, is met twice on the
 * way of a signal, and goes on to this the second time. */
static struct sigaction beneath;
static bool is_beneath;
static _Thread_local volatile sig_atomic_t passing
    __attribute__((tls_model("initial-exec")));

/* As if this handler had never been. A fault comes again when the handler
 * returns; a signal that was sent does not. */
static void die(int signal, bool sent)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    (void)sigaction(signal, &plain, NULL);
    if (sent)
        raise(signal);
}

static void call_handler(const struct sigaction *action, int signal,
                         siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;
    if ((action->sa_flags & SA_SIGINFO) != 0)
        action->sa_sigaction(signal, info, context);
    else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        action->sa_handler(signal);
    else if (action->sa_handler == SIG_DFL || !sent)
        die(signal, sent);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (!is_beneath) {
        call_handler(&before, signal, info, context);
    } else if (passing) {
        call_handler(&beneath, signal, info, context);
    } else {
        passing = 1;
        call_handler(&before, signal, info, context);
        passing = 0;
    }
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
    frame *f = reading;
    uintptr_t at = (uintptr_t)info->si_addr;
    if (f != NULL && info->si_code > 0 && at >= f->start && at < f->end) {
        f->mask = ((const ucontext_t *)context)->uc_sigmask;
        siglongjmp(f->back, 1);
    }
    /* A pointer into the map that somebody has: it must read something. */
    if (info->si_code == BUS_ADRERR && atomic_load(&n_installed) != 0 &&
        ggld_maps_cover(at))
        return;
    pass_on(signal, info, context);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 &&
           action->sa_sigaction == on_sigbus;
}

/* What was there before is known before ours can be called. */
static int handler_set(void)
{
    struct sigaction now, ours = { .sa_sigaction = on_sigbus };
    if (sigaction(SIGBUS, NULL, &now) != 0)
        return errno;
    if (is_ours(&now))
        return 0;
    before = now;
    ours.sa_mask = now.sa_mask;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & SA_RESTART);
    return sigaction(SIGBUS, &ours, NULL) == 0 ? 0 : errno;
}

ggld_status ggld_guard_install(ggld_error *err)
{
    pthread_mutex_lock(&lock);
    int fault = atomic_load(&n_installed) == 0 ? handler_set() : 0;
    if (fault == 0)
        atomic_fetch_add(&n_installed, 1);
    pthread_mutex_unlock(&lock);
    return fault == 0 ? GGLD_OK
                      : ggld_fail_errno(err, fault, ggld_nowhere(),
                                        "guard: setting SIGBUS's handler");
}

void ggld_guard_remove(void)
{
    struct sigaction now;
    pthread_mutex_lock(&lock);
    if (atomic_load(&n_installed) != 0 &&
        atomic_fetch_sub(&n_installed, 1) == 1 &&
        sigaction(SIGBUS, NULL, &now) == 0) {
        if (is_ours(&now)) {
            (void)sigaction(SIGBUS, &before, NULL);
        } else if (!is_beneath) {
            beneath = before;
            is_beneath = true;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* ---- reading ---- */

/* To save the mask each time would be a system call each time. */
static bool run_framed(frame *f, ggld_map_work *work, void *ctx)
{
    if (sigsetjmp(f->back, 0) != 0) {
        reading = NULL;
        pthread_sigmask(SIG_SETMASK, &f->mask, NULL);
        return false;
    }
    reading = f;
    atomic_signal_fence(memory_order_seq_cst);
    work(ctx);
    atomic_signal_fence(memory_order_seq_cst);
    reading = NULL;
    return true;
}

static bool is_in_map(const ggld_file *file, ggld_span bytes)
{
    const uint8_t *map = file->source.map;
    return map != NULL && bytes.data >= map &&
           bytes.data - map <= (int64_t)file->source.size_bytes;
}

/* Where the file has become so short that the bytes are not all its own. */
static bool is_cut(const ggld_file *file, uint64_t end, uint64_t *size_now)
{
    return ggld_source_size_now(&file->source, size_now) && *size_now < end;
}

static ggld_status fail_lost(ggld_error *err, ggld_place place, uint64_t at)
{
    return ggld_fail_errno(err, EIO, place,
                           "file: the system could not read a mapped page "
                           "from byte %" PRIu64 " on",
                           at);
}

ggld_status ggld_guard_run(const ggld_file *file, ggld_span bytes,
                           ggld_map_work *work, void *ctx, ggld_place place,
                           ggld_error *err)
{
    frame f;
    uint64_t size_now = 0;

    if (atomic_load_explicit(&n_installed, memory_order_relaxed) == 0 ||
        !is_in_map(file, bytes)) {
        work(ctx);
        return GGLD_OK;
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    f.start = (uintptr_t)bytes.data / page * page;
    f.end = (uintptr_t)bytes.data + (uintptr_t)bytes.size + page;
    bool whole = run_framed(&f, work, ctx);
    uint64_t end =
        (uint64_t)(bytes.data - (const uint8_t *)file->source.map) + bytes.size;
    if (is_cut(file, end, &size_now))
        return ggld_fail_cut(err, GGLD_E_IO, place, "", size_now,
                             file->source.size_bytes);
    if (whole && !ggld_source_lost(&file->source, end - bytes.size, bytes.size))
        return GGLD_OK;
    return fail_lost(err, place, end - bytes.size);
}

ggld_status ggld_guard_intact(const ggld_source *source, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
    uint64_t size = source->size_bytes, size_now;

    if (ggld_source_size_now(source, &size_now) && size_now < size)
        return ggld_fail_cut(err, GGLD_E_IO, place, "", size_now, size);
    if (ggld_source_lost(source, 0, size))
        return fail_lost(err, place, 0);
    return GGLD_OK;
}

ggld_status ggld_file_intact(const ggld_file *file, ggld_error *err)
{
    for (uint32_t i = 0; i < file->n_shards; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        ggld_status status = ggld_guard_intact(&shard->source, err);
        if (status != GGLD_OK) {
            ggld_set_blame(shard, err);
            return status;
        }
    }
    return GGLD_OK;
}
