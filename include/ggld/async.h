/* SPDX-License-Identifier: MIT */
/* Jobs on the app's own libuv loop (libggld-uv): opening, warming and going
 * through a model without blocking, and without a thread of one's own.
 *
 * A job is started on a loop, works in chunks on libuv's thread pool, reports
 * progress on the loop's thread and makes exactly one completion call there,
 * whatever happens. Starting only checks the arguments and queues: it never
 * blocks and calls nothing. Any number of jobs may run at once, on one file or
 * many; more than the pool has room for wait their turn.
 *
 * Two kinds of failure. A start that returns a status other than GGLD_OK has
 * started nothing, holds nothing and will call nothing: an argument is NULL, an
 * options struct is not of this version (GGLD_E_ABI), or there is no memory.
 * All else, such as a view that is not inside its tensor, a budget that is too
 * small, a file that ends too early, is the completion call's result.
 *
 * Lifetime
 *  - A ggld_job is valid from its start until its completion call returns, and
 *    is used on the loop's thread only (but see ggld_chunk_call).
 *  - A job counts as a holder of its file (ggld_file_ref) and gives that up
 *    just before the completion call. The app may ggld_close() its own at any
 *    time after start; unmapping then happens on the pool, not on the loop.
 *  - Arrays, strings and options given to start are copied.
 *
 * Closing the loop. A job has no handles, only uv_work_t requests:
 *  - uv_run(UV_RUN_DEFAULT) returns when all jobs are done, if nothing else
 *    keeps it; after the completion call nothing of the job is on the loop.
 *  - uv_stop() suspends jobs: at most the chunks that are under way are
 *    finished by the pool and wait. Running the loop again resumes them.
 *  - uv_loop_close() fails with UV_EBUSY while a job is not done. To be rid of
 *    a loop early: ggld_job_cancel() each job, then uv_run(UV_RUN_DEFAULT)
 *    until it returns 0, which takes no longer than a chunk, then close.
 *  - A loop that is never run again keeps its jobs' memory and files; that is
 *    a leak, and no call is made. Freeing a loop's memory with jobs on it is an
 *    error, as with any uv request. */
#ifndef GGLD_ASYNC_H
#define GGLD_ASYNC_H

#include "error.h"
#include "file.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */
typedef struct ggld_job ggld_job;

/* The completion call. result is never NULL and holds only during the call;
 * result->code is GGLD_OK, GGLD_E_CANCELLED, or says what failed. */
typedef void (*ggld_job_done)(ggld_job *job, const ggld_error *result,
                              void *user);
/* At most 20 times a second, and once more at the end of a job that succeeds,
 * unless the last call said the same. total_bytes does not change. */
typedef void (*ggld_job_progress)(ggld_job *job, uint64_t done_bytes,
                                  uint64_t total_bytes, void *user);

/* The job's result becomes GGLD_E_CANCELLED, unless it has failed before or
 * its last chunk is done. What waits for the pool is withdrawn, what runs there
 * ends with its chunk; no more chunks are handed out or progress reported. The
 * completion call comes later, from the loop. Loop's thread only; may be called
 * from progress and chunk calls, and more than once. */
GGLD_API void ggld_job_cancel(ggld_job *job);

/* ---- open ---- */

/* file is NULL unless result->code is GGLD_OK; then it is the app's, counted
 * once, to be given to ggld_close(). */
typedef void (*ggld_open_done)(ggld_job *job, ggld_file *file,
                               const ggld_error *result, void *user);

/* ggld_open_path() on the pool, as one chunk. What options->allocator and
 * ->verifier point to is copied; the verifier is the job's like the file's: on
 * failure its release is not called, as with ggld_open_path. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_start(ggld_job **out, struct uv_loop_s *loop,
                            const char *path, const ggld_open_options *options,
                            ggld_open_done done, void *user, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_ASYNC_H */
