/* SPDX-License-Identifier: MIT */
/* A hash as a job: the workers of integrity/hash_work.h are the job's slots.
 * Hash and verify differ in what is asked for, and in what becomes of it. */
#ifndef GGLD_JOBS_HASH_JOB_H
#define GGLD_JOBS_HASH_JOB_H

#include "../integrity/hash_work.h"
#include "job.h"

typedef struct ggld_hash_job ggld_hash_job;

/* What a kind of hash job does; all but done may be NULL. */
typedef struct ggld_hash_kind {
    /* Pool: settles what is asked for, in self->request. */
    ggld_status (*plan)(ggld_hash_job *self, ggld_error *err);
    /* Pool: all has been hashed, into self->manifest. */
    ggld_status (*finish)(ggld_hash_job *self, ggld_error *err);
    /* Pool: gives up what done does not need. */
    void (*end)(ggld_hash_job *self);
    /* Loop: the app's completion call. */
    void (*done)(ggld_hash_job *self, const ggld_error *result);
    /* Loop: gives up what the kind holds. */
    void (*destroy)(ggld_hash_job *self);
} ggld_hash_kind;

/* First member of each kind's own struct, which is calloc's. */
struct ggld_hash_job {
    ggld_job job;
    const ggld_hash_kind *kind;
    ggld_hash_request request;
    bool keep_cache;
    char *name; /* malloc's; freed with the job */
    void *user;

    ggld_manifest *manifest; /* freed with the job unless done takes it */
    ggld_hash_work *work;
    bool finishing; /* the last chunk, which makes the manifest, is out */
    uint64_t read_bytes[GGLD_JOB_MAX_SLOTS];
};

/* Counts a holder of file. On failure self is still the caller's. */
GGLD_MUST_CHECK
ggld_status ggld_hash_job_launch(ggld_hash_job *self, struct uv_loop_s *loop,
                                 ggld_file *file, ggld_job_progress progress,
                                 ggld_error *err);

#endif /* GGLD_JOBS_HASH_JOB_H */
