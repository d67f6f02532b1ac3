/* SPDX-License-Identifier: MIT */
/* A hash as a job: the workers of integrity/hash_work.h are the job's slots.
 * Hash and verify differ in what is asked for, and in what becomes of it. */
#ifndef GGLD_JOBS_HASH_JOB_H
#define GGLD_JOBS_HASH_JOB_H

#include "../integrity/hash_work.h"
#include "job.h"

typedef struct ggld_hash_job ggld_hash_job;

/* What a kind of hash job does; all but done may be NULL. Of a set plan and
 * finish are called for each shard, self->file. */
typedef struct ggld_hash_kind {
    /* Pool: settles what is asked for, in self->request. More than once. */
    ggld_status (*plan)(ggld_hash_job *self, ggld_error *err);
    /* Pool: all of the file has been hashed, into self->manifest. */
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
    const ggld_file *file; /* in hand: the job's, or a shard of it */
    uint32_t shard, n_shards;

    ggld_manifest *manifest; /* freed with the job unless done takes it */
    ggld_manifest *before;   /* of the shards before; NULL: none */
    ggld_hash_work *work;
    bool finishing; /* a file's last chunk, which makes the manifest, is out */
    bool goes_on;   /* ... and has begun with another shard */
    uint64_t read_bytes[GGLD_JOB_MAX_SLOTS];
};

/* Counts a holder of file. On failure self is still the caller's. */
GGLD_MUST_CHECK
ggld_status ggld_hash_job_launch(ggld_hash_job *self, struct uv_loop_s *loop,
                                 ggld_file *file, ggld_job_progress progress,
                                 ggld_error *err);

#endif /* GGLD_JOBS_HASH_JOB_H */
