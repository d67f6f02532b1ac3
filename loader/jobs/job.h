/* SPDX-License-Identifier: MIT */
/* The core that every kind of job stands on: a state machine on the loop's
 * thread that hands chunks of work to libuv's pool, at most n_slots of them at
 * a time. It owns progress, cancelling, the file's reference and the one
 * completion call; it knows nothing of files' contents.
 *
 *   start -> begin (pool) -> [ next (loop) -> run (pool) -> take (loop) ]*
 *         -> end (pool) -> file closed (pool) -> done (loop) -> freed
 *
 * begin .. take are skipped from the first failure or cancel on; end and done
 * always come, once. There is no uv handle: a job is uv_work_t requests. */
#ifndef GGLD_JOBS_JOB_H
#define GGLD_JOBS_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include <ggld/async.h>

#include "../base/error.h"

/* More chunks than this at a time gain nothing on any device tried. */
#define GGLD_JOB_MAX_SLOTS 16

/* What became of a chunk once take has seen it. */
typedef enum ggld_taken {
    GGLD_TAKEN_FREE, /* the slot may be used for the next chunk */
    GGLD_TAKEN_HELD  /* it is kept until ggld_job_free_slot() */
} ggld_taken;

/* A kind of job. A slot is a number below n_slots; whatever the kind keeps for
 * a slot (a buffer, a chunk) is touched by one thread at a time, and what one
 * call has written the next one sees. All but done may be NULL, where next
 * NULL means that there are no chunks: all the work is begin's. */
typedef struct ggld_job_kind {
    /* Pool: opens and plans; may set total_bytes and lower n_slots. */
    ggld_status (*begin)(ggld_job *job, ggld_error *err);
    /* Loop: assigns the next chunk to the slot; false: there is none, for now
     * (held slots may still free some). Called again after every take. */
    bool (*next)(ggld_job *job, uint32_t slot);
    /* Pool: works on the slot's chunk. */
    ggld_status (*run)(ggld_job *job, uint32_t slot, ggld_error *err);
    /* Loop: hands out what run has made; call ggld_job_advance for it. */
    ggld_status (*take)(ggld_job *job, uint32_t slot, ggld_taken *out,
                        ggld_error *err);
    /* Pool (or the loop, where nothing of the job ever ran): gives up what
     * begin and run have taken, so that the loop need not wait for it. */
    void (*end)(ggld_job *job);
    /* Loop: makes the app's completion call. result is never NULL. */
    void (*done)(ggld_job *job, const ggld_error *result);
    /* Loop, behind done: frees the job's memory. */
    void (*destroy)(ggld_job *job);
} ggld_job_kind;

typedef struct ggld_job_slot {
    uv_work_t work;
    ggld_job *job;
    ggld_status status;
    bool busy; /* between next and the end of take, or held */
    ggld_error err;
} ggld_job_slot;

/* First member of each kind's own struct. What stands first is set by the kind
 * before ggld_job_launch; the rest is the core's, zero at launch. */
struct ggld_job {
    const ggld_job_kind *kind;
    uv_loop_t *loop;
    ggld_file *file;  /* its reference is the job's; may be NULL */
    uint32_t n_slots; /* 1 to GGLD_JOB_MAX_SLOTS */
    uint64_t total_bytes;
    ggld_job_progress progress; /* may be NULL */
    void *user;                 /* for progress; done has its own way */

    uint64_t done_bytes;
    uint64_t reported_bytes;
    uint64_t reported_ns; /* uv_hrtime of the last report */
    uint32_t n_running;   /* requests on the pool */
    bool ran;             /* the pool has been in the job */
    bool pumping;         /* takes and nexts are under way: don't nest */
    bool ending;
    _Atomic bool stop; /* failed or cancelled; runs may look at it */
    ggld_error result;
    uv_work_t work; /* of begin, then of end */
    ggld_job_slot slots[GGLD_JOB_MAX_SLOTS];
};

/* Queues begin. On success the job is the core's until destroy; on failure
 * (GGLD_E_INVALID) it is still the caller's. Never blocks, calls nothing. */
ggld_status ggld_job_launch(ggld_job *job, ggld_error *err);

/* The kind's calls on the loop's thread: n bytes more are done. Progress is
 * reported from here, at most 20 times a second. */
void ggld_job_advance(ggld_job *job, uint64_t n_bytes);
/* A held slot may be used again. Only from within take. */
void ggld_job_free_slot(ggld_job *job, uint32_t slot);
/* For long runs, on any thread: has the job failed or been cancelled? */
static inline bool ggld_job_stopped(const ggld_job *job)
{
    return atomic_load_explicit(&job->stop, memory_order_relaxed);
}

/* "cancelled by the caller", as the result of a job. */
ggld_status ggld_job_cancelled(ggld_error *err);

#endif /* GGLD_JOBS_JOB_H */
