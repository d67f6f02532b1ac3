/* SPDX-License-Identifier: MIT */
/* What of a model is in memory: to know it, to advise the system about it, and
 * to hold parts there. Each acts on the pages of a view: of every block that it
 * touches, rounded out to whole pages, so that neighbours at either end may
 * share a page. All may be called from many threads. */
#ifndef GGLD_RESIDENCY_H
#define GGLD_RESIDENCY_H

#include "error.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ggld_advice {
    /* How the view will be read, for the kernel's readahead. In a file that is
     * not mapped (GGLD_OPEN_PREAD) these hold for the whole file. */
    GGLD_ADVISE_NORMAL = 0,
    GGLD_ADVISE_SEQUENTIAL = 1,
    GGLD_ADVISE_RANDOM = 2,
    /* Start reading it in, and don't wait. ggld_prefetch_start() says when it
     * is there, keeps an order, and finds errors. */
    GGLD_ADVISE_WILL_NEED = 3,
    /* First to go when memory is short. Frees nothing; a hint that older
     * kernels do not know. */
    GGLD_ADVISE_COLD = 4,
    /* Free its memory: out of this process's map, and of the page cache unless
     * another process has it mapped, or it was written and is not on disk yet.
     * It is read in again when it is used. */
    GGLD_ADVISE_DROP = 5
} ggld_advice;

/* Returns at once (DROP: in the time that freeing takes). GGLD_E_INVALID: the
 * view is not inside its tensor, or there is no such advice.
 * GGLD_E_UNSUPPORTED: the bytes are not a file's (memory, GGLD_OPEN_COPY, the
 * app's own source). GGLD_E_IO: the system refuses. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_advise(const ggld_view *view, ggld_advice advice,
                             ggld_error *err);

#define GGLD_RESIDENT_UNKNOWN UINT64_MAX

/* Bytes of the view's blocks that are in memory, or GGLD_RESIDENT_UNKNOWN.
 *
 * Unknown is what a user gets who neither owns the file, nor may write it, nor
 * has CAP_FOWNER: the kernel answers him that all of it is resident, so as not
 * to tell what others read. Unknown too where bytes are not a file's (but
 * GGLD_OPEN_COPY). What is resident may be gone when the call returns.
 *
 * GGLD_E_INVALID: the view is not inside its tensor. GGLD_E_IO: the system
 * refuses. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_residency(const ggld_view *view, uint64_t *out_bytes,
                           ggld_error *err);

/* Reads the view in and holds it in RAM until it is unlocked or the file's last
 * close. Waits for the disk. Locks do not nest, and unlocking a view lets go of
 * the pages that it shares with neighbours.
 *
 * GGLD_E_LIMIT: more than the process may lock; the message has RLIMIT_MEMLOCK
 * and what to do. GGLD_E_TRUNCATED: the file has become shorter.
 * GGLD_E_UNSUPPORTED: the file is not mapped. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_lock(const ggld_view *view, ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_unlock(const ggld_view *view, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_RESIDENCY_H */
