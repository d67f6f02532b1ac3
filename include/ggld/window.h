/* SPDX-License-Identifier: MIT */
/* Float windows (libggld-uv): a tensor, quantised or not, as a plain array of
 * floats that fills itself where it is touched. For code that wants a const
 * float * and can't be changed (a numeric library, a plot, an algorithm that
 * reads in an order of its own) and for tensors larger than memory: it pays for
 * what it touches. Hot loops are better off with ggld_view_read_f32, which
 * knows what comes next and waits for nobody.
 *
 * A window is read-only memory, in chunks. The first touch of a chunk stops the
 * thread that touches; a thread of the window dequantises all of the chunk, puts
 * it in place, and the toucher goes on. What is in place costs nothing: it is
 * memory like any other. Beyond a budget the chunks that were filled longest ago
 * are dropped, and come back with the same bits when they are touched again, so
 * that to drop is safe at any time, under readers too. Where touches run through
 * chunks in order, those that follow are filled before they are touched.
 *
 * On Linux this is userfaultfd, for user mode only, which needs no privilege
 * (5.11 and later). Where the system does not offer it (other systems, older
 * kernels, containers that forbid it) the window is filled as a whole when it
 * is opened: if it fits the budget, or, where none is given, the memory that is
 * available then (MemAvailable, and what the process's memory cgroups have
 * left). Otherwise it is refused. Where descriptors or memory have run out, that
 * is the error, and no reason to fill anything.
 *
 * System calls. The kernel itself does not wait for a window: a call that is to
 * read from memory that is not filled, such as write(2) or send(2), fails with
 * EFAULT or stops short, and a debugger can't look there. Fill the range first:
 *
 *     if (ggld_window_fill(window, first, n, &err) == GGLD_OK)
 *         n_written = write(fd, ggld_window_data(window) + first, n_bytes);
 *
 * What other threads touch between the two may push the range out again, but
 * only when it is more than the budget has room for beside the range.
 *
 * Errors. A touch has no way to return one. A chunk that can't be read, or does
 * not verify, is filled with quiet NaNs (or, with GGLD_WINDOW_POISON, touching
 * it is SIGBUS); the first error is kept for ggld_window_status and given to a
 * callback before anybody can see the chunk. If there is no memory even for
 * that, touching is SIGBUS or SIGSEGV. Wrong numbers, or zeros where something
 * else is stored, are never seen: of a file that has a descriptor stored bytes
 * are read by pread (GGLD_VIEW_PREAD), so that one that is cut under the window
 * is such an error, with the guard (guard.h) or without, to the byte. Where
 * bytes are the app's own, in memory or by its source, they are what it gives.
 * Somebody who writes other numbers into an open file is not noticed; a verifier
 * notices them in what it has not seen yet.
 *
 * Threads. Any number may touch a window at once, and all functions may be
 * called from any thread. Whoever touches a window waits for the file's source
 * and its verifier: those, and the callback, run on the window's threads and
 * must not touch the window, nor wait for a lock that a toucher may hold.
 *
 * Closing. A window is counted, like a file: each thread that reads it may be a
 * holder (ggld_window_ref), and the last ggld_window_close takes the memory
 * away. Touching it then, or waiting inside a touch meanwhile, is SIGSEGV, as
 * with any memory that was unmapped. The window holds its file: that may be
 * closed before.
 *
 * fork(2). The child has no window: the memory is not there, and touching it is
 * SIGSEGV. There ggld_window_fill, _fill_start, _drop and _status fail with
 * GGLD_E_INVALID. _data and _data_f16 give the address at which nothing is,
 * _stats what had been counted at the fork. The child has holders of its own, as
 * many as there were: _ref and _close count them, and its last close frees what
 * it has of the window. */
#ifndef GGLD_WINDOW_H
#define GGLD_WINDOW_H

#include "async.h"
#include "error.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggld_window ggld_window;

/* What a window's elements are. */
typedef enum ggld_window_format {
    GGLD_WINDOW_F32 = 0, /* float, as ggld_view_read_f32 gives them */
    GGLD_WINDOW_F16 = 1  /* uint16_t, as ggld_view_read_f16 does */
} ggld_window_format;

/* Touching a chunk that can't be read is SIGBUS, instead of reading NaNs. Asks
 * for Linux 6.6 and is refused without (GGLD_E_UNSUPPORTED). */
#define GGLD_WINDOW_POISON (1u << 0)
/* Fills it as a whole at open, as where the system offers nothing better. */
#define GGLD_WINDOW_AT_ONCE (1u << 1)
/* Fills what is touched and nothing ahead of it. */
#define GGLD_WINDOW_NO_AHEAD (1u << 2)

/* A chunk could not be read; it is the window's first such error. On a thread
 * of the window, or the one that calls ggld_window_fill. */
typedef void (*ggld_window_failed)(ggld_window *window, const ggld_error *error,
                                   void *user);

typedef struct ggld_window_options {
    size_t struct_size; /* sizeof(ggld_window_options) */
    uint32_t flags;     /* GGLD_WINDOW_... */
    uint32_t format;    /* GGLD_WINDOW_F32 or _F16 */
    /* Of floats in place; two chunks more are used on the way, and 12 bytes for
     * each chunk of the window. At least two chunks; better two for each thread
     * that touches. 0: no limit, but see above where the window is filled at
     * open. */
    uint64_t max_resident_bytes;
    /* Of floats, rounded up to whole pages, and so to whole blocks. 0: 32 KiB,
     * or a quarter of the budget where that is less. */
    uint64_t chunk_bytes;
    /* That fill chunks, 1 to 16; 0: 2. Each has a buffer of one chunk; those of
     * more than two are within the budget. */
    uint32_t n_threads;
    uint32_t reserved32;
    ggld_window_failed failed; /* may be NULL */
    void *user;                /* for failed */
    uint64_t reserved[4];
} ggld_window_options;

static inline ggld_window_options ggld_window_options_init(void)
{
    ggld_window_options options = { sizeof(ggld_window_options),
                                    0,
                                    GGLD_WINDOW_F32,
                                    0,
                                    0,
                                    0,
                                    0,
                                    NULL,
                                    NULL,
                                    { 0, 0, 0, 0 } };
    return options;
}

/* Makes a window of the view, of any type that can be dequantised, in any kind
 * of open file. Touches no data, unless it is filled as a whole here, because
 * the system offers nothing better (see above; ggld_window_stats then has why) or
 * by GGLD_WINDOW_AT_ONCE. The window becomes a holder of the file. options may
 * be NULL.
 *
 * GGLD_E_INVALID: the view is not inside its tensor; the budget has no room for
 * two chunks. GGLD_E_TENSOR_TYPE: it can't be dequantised. GGLD_E_LIMIT: more
 * than addresses reach. GGLD_E_NOMEM, GGLD_E_IO: the system has no memory, no
 * descriptors or no threads. GGLD_E_UNSUPPORTED: the system does not offer it,
 * for the reason in sys_errno and the message, and the whole fits neither the
 * budget nor, without one, the available memory; with GGLD_WINDOW_AT_ONCE the
 * same. When it is filled at open: all errors of ggld_view_read_f32. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_window_open(ggld_window **out, const ggld_view *view,
                             const ggld_window_options *options,
                             ggld_error *err);

/* The elements, of which as many as the view has are valid; what else is in the
 * last page are NaNs. Aligned to a page; the same until the last close. NULL
 * where the window is of the other format. */
GGLD_API const float *ggld_window_data(const ggld_window *window);
GGLD_API const uint16_t *ggld_window_data_f16(const ggld_window *window);

/* Fills n_elems from first_elem on, on the calling thread, and makes them the
 * last to be dropped: ahead of use, or of a system call. Chunks that failed are
 * tried again.
 *
 * GGLD_E_INVALID: outside the window. GGLD_E_LIMIT: more than the budget has
 * room for at a time. Otherwise what kept a chunk of the range from being read;
 * it is then NaNs, and what follows is not filled. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_window_fill(ggld_window *window, uint64_t first_elem,
                             uint64_t n_elems, ggld_error *err);

/* The same in the background, as a job on a loop (async.h), of which all rules
 * hold. Total and done bytes are those of floats. The job is a holder of the
 * window. progress may be NULL. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_window_fill_start(ggld_job **out, struct uv_loop_s *loop,
                                   ggld_window *window, uint64_t first_elem,
                                   uint64_t n_elems, ggld_job_progress progress,
                                   ggld_job_done done, void *user,
                                   ggld_error *err);

/* Gives back the memory of the chunks that n_elems from first_elem on touch.
 * They are filled again when they are touched, those that failed too. A window
 * that was filled at open keeps everything. GGLD_E_INVALID: outside the
 * window. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_window_drop(ggld_window *window, uint64_t first_elem,
                             uint64_t n_elems, ggld_error *err);

/* GGLD_OK, or the first error that filling a chunk has met. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_window_status(ggld_window *window, ggld_error *err);

typedef struct ggld_window_counts {
    size_t struct_size; /* set by the caller: sizeof(ggld_window_counts) */
    uint64_t n_elems;
    uint64_t size_bytes;         /* of the window: whole pages */
    uint64_t chunk_bytes;        /* the last chunk may be shorter */
    uint64_t max_resident_bytes; /* of floats in place; never 0 */
    uint64_t resident_bytes;     /* with chunks on their way */
    uint64_t peak_bytes;         /* the most that was resident at a time */
    uint64_t n_faults;           /* touches that had to wait, with retries */
    uint64_t n_filled;           /* chunks, each time */
    uint64_t n_ahead;            /* of them by nobody's touch */
    uint64_t n_dropped;          /* chunks */
    uint64_t n_failed;           /* chunks that could not be read, each time */
    /* Reading and dequantising, all threads together; filling at open too. */
    uint64_t read_ns;
    uint64_t place_ns; /* putting in place */
    uint64_t drop_ns;  /* dropping */
    uint32_t lazy;     /* 0: it was filled at open */
    /* Why: the errno of userfaultfd. 0 where it is lazy, or the app asked. */
    uint32_t sys_errno;
    uint64_t reserved[4];
} ggld_window_counts;

/* Fills the fields that the caller's struct_size covers. Times may lag behind by
 * the chunk that is being filled. */
GGLD_API void ggld_window_stats(ggld_window *window, ggld_window_counts *out);

/* Counts one more holder and returns window. */
GGLD_API ggld_window *ggld_window_ref(ggld_window *window);
/* Counts one holder less; the last one takes the memory away, when no thread
 * touches it any more. window may be NULL. Not from the callback. */
GGLD_API void ggld_window_close(ggld_window *window);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_WINDOW_H */
