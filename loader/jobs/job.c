/* SPDX-License-Identifier: MIT */
/* The job core (job.h has the machine). Everything here but the two functions
 * that say so runs on the loop's thread, so that the state needs no lock: the
 * pool's threads see a slot or begin/end, handed over by libuv's queue. */
#include "job.h"

#include <string.h>

#define REPORT_EVERY_NS 50000000u /* 20 a second */

static void pump(ggld_job *job);

ggld_status ggld_job_cancelled(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "job: cancelled by the caller");
}

/* The first failure is the job's; those that come of it are not looked at. */
static void job_fail(ggld_job *job, const ggld_error *err)
{
    if (job->result.code == GGLD_OK)
        job->result = *err;
    atomic_store_explicit(&job->stop, true, memory_order_relaxed);
}

/* ---- progress ---- */

static void report(ggld_job *job, uint64_t now_ns)
{
    job->reported_ns = now_ns;
    job->reported_bytes = job->done_bytes;
    job->progress(job, job->done_bytes, job->total_bytes, job->user);
}

void ggld_job_advance(ggld_job *job, uint64_t n_bytes)
{
    job->done_bytes += n_bytes;
    if (job->progress == NULL)
        return;
    uint64_t now_ns = uv_hrtime();
    if (now_ns - job->reported_ns >= REPORT_EVERY_NS)
        report(job, now_ns);
}

static void report_last(ggld_job *job)
{
    bool said = job->reported_ns != 0 && job->reported_bytes == job->done_bytes;
    if (job->progress != NULL && job->result.code == GGLD_OK && !said)
        report(job, uv_hrtime());
}

/* ---- the end ---- */

static void complete(ggld_job *job)
{
    report_last(job);
    job->kind->done(job, &job->result);
    if (job->kind->destroy != NULL)
        job->kind->destroy(job);
}

/* Pool, or the loop where the pool was never in the job. */
static void end_run(uv_work_t *work)
{
    ggld_job *job = work->data;
    if (job->kind->end != NULL)
        job->kind->end(job);
    ggld_close(job->file);
}

static void end_ran(uv_work_t *work, int uv_status)
{
    (void)uv_status; /* nobody cancels it */
    complete(work->data);
}

static void end(ggld_job *job)
{
    job->ending = true;
    if (!job->ran) {
        /* Only when begin was cancelled while it waited: nothing was taken,
         * so that there is nothing to be long about, and a pool that is full
         * would keep the completion call waiting. */
        end_run(&job->work);
        complete(job);
        return;
    }
    uv_queue_work(job->loop, &job->work, end_run, end_ran);
}

/* ---- chunks ---- */

/* Pool. */
static void slot_run(uv_work_t *work)
{
    ggld_job_slot *slot = work->data;
    ggld_job *job = slot->job;
    slot->status =
        ggld_job_stopped(job)
            ? GGLD_E_CANCELLED
            : job->kind->run(job, (uint32_t)(slot - job->slots), &slot->err);
}

static void slot_take(ggld_job *job, ggld_job_slot *slot)
{
    ggld_taken taken = GGLD_TAKEN_FREE;
    if (job->kind->take != NULL)
        slot->status = job->kind->take(job, (uint32_t)(slot - job->slots),
                                       &taken, &slot->err);
    if (taken == GGLD_TAKEN_FREE)
        slot->busy = false;
}

static void slot_ran(uv_work_t *work, int uv_status)
{
    ggld_job_slot *slot = work->data;
    ggld_job *job = slot->job;
    job->n_running--;
    job->pumping = true;
    if (uv_status == 0 && slot->status == GGLD_OK && !ggld_job_stopped(job))
        slot_take(job, slot);
    if (uv_status == 0 && slot->status != GGLD_OK)
        job_fail(job, &slot->err);
    job->pumping = false;
    pump(job);
}

static bool slot_start(ggld_job *job, uint32_t i)
{
    ggld_job_slot *slot = &job->slots[i];
    if (slot->busy || !job->kind->next(job, i))
        return false;
    slot->busy = true;
    slot->job = job;
    slot->work.data = slot;
    uv_queue_work(job->loop, &slot->work, slot_run, slot_ran);
    job->n_running++;
    return true;
}

/* Fills the free slots; when nothing is left to run, ends the job. */
static void pump(ggld_job *job)
{
    if (job->pumping || job->ending)
        return;
    job->pumping = true;
    for (uint32_t i = 0; i < job->n_slots && job->kind->next != NULL; i++) {
        if (ggld_job_stopped(job))
            break;
        slot_start(job, i);
    }
    job->pumping = false;
    if (job->n_running == 0)
        end(job);
}

void ggld_job_free_slot(ggld_job *job, uint32_t slot)
{
    job->slots[slot].busy = false;
}

/* ---- the beginning ---- */

/* Pool. */
static void begin_run(uv_work_t *work)
{
    ggld_job *job = work->data;
    ggld_job_slot *slot = &job->slots[0];
    job->ran = true;
    if (job->kind->begin != NULL && !ggld_job_stopped(job))
        slot->status = job->kind->begin(job, &slot->err);
}

static void begin_ran(uv_work_t *work, int uv_status)
{
    ggld_job *job = work->data;
    job->n_running--;
    if (uv_status == 0 && job->slots[0].status != GGLD_OK)
        job_fail(job, &job->slots[0].err);
    pump(job);
}

ggld_status ggld_job_launch(ggld_job *job, ggld_error *err)
{
    job->work.data = job;
    int status = uv_queue_work(job->loop, &job->work, begin_run, begin_ran);
    if (status != 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "job: not taken by the loop: %s", uv_strerror(status));
    job->n_running = 1;
    return GGLD_OK;
}

void ggld_job_cancel(ggld_job *job)
{
    ggld_error err;
    if (job->result.code != GGLD_OK || job->ending)
        return;
    (void)ggld_job_cancelled(&err);
    job_fail(job, &err);
    /* What still waits for a thread need not wait: libuv calls back with
     * UV_ECANCELED. Requests that run or ran already refuse. */
    (void)uv_cancel((uv_req_t *)&job->work);
    /* n_slots may be begin's to change, just now. */
    for (uint32_t i = 0; i < GGLD_JOB_MAX_SLOTS; i++)
        if (job->slots[i].busy)
            (void)uv_cancel((uv_req_t *)&job->slots[i].work);
}
