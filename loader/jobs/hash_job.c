/* SPDX-License-Identifier: MIT */
/* Hash jobs on the core's machine: begin plans, each run hashes a few megabytes
 * with the slot's worker, and one last run, when all workers are done, makes
 * the manifest. */
#include "hash_job.h"

#include <stdlib.h>
#include <string.h>

#include <ggld/integrity.h>

#include "start.h"

/* A run goes on for so long: the way over the loop, two wake-ups, costs nothing
 * beside it, others wait no longer for the pool, and progress is as often as it
 * may be. The clock is looked at, and a cancel seen, after so many bytes. */
#define RUN_NS    20000000u
#define RUN_BYTES (1u << 20)

/* Waiting for a disk wants some more threads than there are processors. */
#define MIN_SLOTS 4u

/* ---- the shards of a set, one after the other ---- */

static void take_in_hand(ggld_hash_job *self, uint32_t shard)
{
    self->shard = shard;
    self->file = ggld_file_shard(self->job.file, shard);
}

static ggld_status plan_one(ggld_hash_job *self, ggld_error *err)
{
    return self->kind->plan != NULL ? self->kind->plan(self, err) : GGLD_OK;
}

static ggld_status begin_one(ggld_hash_job *self, ggld_error *err)
{
    ggld_status status = plan_one(self, err);
    if (status == GGLD_OK)
        status = ggld_hash_work_new(&self->work, self->file, &self->request,
                                    self->job.n_slots, self->keep_cache, err);
    return status;
}

/* How much will be read is said before any of it is. */
static ggld_status count_all(ggld_hash_job *self, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < self->n_shards && status == GGLD_OK; i++) {
        ggld_hash_plan plan;
        take_in_hand(self, i);
        status = plan_one(self, err);
        if (status == GGLD_OK)
            status =
                ggld_hash_plan_init(&plan, self->file, &self->request, err);
        if (status == GGLD_OK) {
            self->job.total_bytes += plan.total_bytes;
            ggld_hash_plan_free(&plan);
        }
    }
    return status;
}

/* Errors of a shard's bytes tell which one it is. */
static ggld_status of_shard(const ggld_hash_job *self, ggld_status status,
                            ggld_error *err)
{
    if (status != GGLD_OK && err != NULL && self->n_shards > 1)
        err->shard = self->shard;
    return status;
}

static ggld_status hash_begin(ggld_job *job, ggld_error *err)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(job->file, &info);
    self->n_shards = info.n_shards;
    ggld_status status = count_all(self, err);
    if (status == GGLD_OK) {
        take_in_hand(self, 0);
        status = begin_one(self, err);
    }
    return of_shard(self, status, err);
}

/* The shard's own name, in the folder that the job's name has. */
static char *name_in_hand(const ggld_hash_job *self)
{
    const char *path = ggld_file_path(self->file);
    if (self->n_shards < 2 || path == NULL)
        return strdup(self->name);
    const char *slash = strrchr(self->name, '/');
    const char *base = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - self->name) + 1 : 0;
    base = base != NULL ? base + 1 : path;
    size_t base_bytes = strlen(base) + 1;
    char *name = malloc(folder + base_bytes);
    if (name != NULL) {
        memcpy(name, self->name, folder);
        memcpy(name + folder, base, base_bytes);
    }
    return name;
}

/* Those of all shards become one, in which each has its file. */
static ggld_status join(ggld_hash_job *self, ggld_error *err)
{
    if (self->before == NULL || self->manifest == NULL) {
        if (self->shard + 1 < self->n_shards) {
            self->before = self->manifest;
            self->manifest = NULL;
        }
        return GGLD_OK;
    }
    ggld_status status =
        ggld_manifest_append(self->before, self->manifest, err);
    ggld_manifest_free(self->manifest);
    self->manifest = NULL;
    if (status == GGLD_OK && self->shard + 1 == self->n_shards) {
        self->manifest = self->before;
        self->before = NULL;
    }
    return status;
}

/* Pool, and nobody else is there: the manifest of the file in hand, and the
 * next file. */
static ggld_status finish_one(ggld_hash_job *self, ggld_error *err)
{
    char *name = name_in_hand(self);
    if (name == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash job: no memory");
    ggld_status status =
        ggld_hash_work_manifest(self->work, name, &self->manifest, err);
    free(name);
    if (status == GGLD_OK && self->kind->finish != NULL)
        status = self->kind->finish(self, err);
    if (status == GGLD_OK && self->n_shards > 1)
        status = join(self, err);
    if (status != GGLD_OK || self->shard + 1 == self->n_shards)
        return status;
    ggld_hash_work_free(self->work);
    self->work = NULL;
    take_in_hand(self, self->shard + 1);
    return begin_one(self, err);
}

/* Other slots' workers may be looked at only while none of them runs. */
static bool all_done(const ggld_hash_job *self)
{
    if (self->job.n_running != 0)
        return false;
    for (uint32_t i = 0; i < self->job.n_slots; i++)
        if (ggld_hash_work_left(self->work, i))
            return false;
    return true;
}

static bool hash_next(ggld_job *job, uint32_t slot)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    if (self->finishing)
        return false;
    if (ggld_hash_work_left(self->work, slot))
        return true;
    if (!all_done(self))
        return false;
    self->finishing = true; /* nobody runs who would look at it */
    return true;
}

static ggld_status hash_some(ggld_hash_job *self, uint32_t slot,
                             ggld_error *err)
{
    uint64_t started_ns = uv_hrtime();
    uint64_t n_bytes;
    ggld_status status;
    do {
        status = ggld_hash_work_run(self->work, slot, RUN_BYTES,
                                    &self->job.stop, &n_bytes, err);
        self->read_bytes[slot] += n_bytes;
    } while (status == GGLD_OK && n_bytes != 0 &&
             uv_hrtime() - started_ns < RUN_NS);
    return status;
}

static ggld_status hash_run(ggld_job *job, uint32_t slot, ggld_error *err)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    self->read_bytes[slot] = 0;
    if (!self->finishing)
        return of_shard(self, hash_some(self, slot, err), err);
    uint32_t shard = self->shard;
    ggld_status status = finish_one(self, err);
    self->goes_on = shard != self->shard;
    return of_shard(self, status, err);
}

static ggld_status hash_take(ggld_job *job, uint32_t slot, ggld_taken *out,
                             ggld_error *err)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    (void)err;
    *out = GGLD_TAKEN_FREE;
    /* There is a next shard, for all slots. */
    if (self->finishing && self->goes_on)
        self->finishing = false;
    ggld_job_advance(job, self->read_bytes[slot]);
    return GGLD_OK;
}

static void hash_end(ggld_job *job)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    ggld_hash_work_free(self->work);
    self->work = NULL;
    if (self->kind->end != NULL)
        self->kind->end(self);
}

static void hash_done(ggld_job *job, const ggld_error *result)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    self->kind->done(self, result);
}

static void hash_destroy(ggld_job *job)
{
    ggld_hash_job *self = (ggld_hash_job *)job;
    if (self->kind->destroy != NULL)
        self->kind->destroy(self);
    ggld_manifest_free(self->manifest);
    ggld_manifest_free(self->before);
    free(self->name);
    free(self);
}

static const ggld_job_kind hash_kind = {
    .begin = hash_begin,
    .next = hash_next,
    .run = hash_run,
    .take = hash_take,
    .end = hash_end,
    .done = hash_done,
    .destroy = hash_destroy,
};

ggld_status ggld_hash_job_launch(ggld_hash_job *self, struct uv_loop_s *loop,
                                 ggld_file *file, ggld_job_progress progress,
                                 ggld_error *err)
{
    uint32_t n = uv_available_parallelism();
    n = n > MIN_SLOTS ? n : MIN_SLOTS;
    self->job.kind = &hash_kind;
    self->job.loop = loop;
    self->job.n_slots = n < GGLD_JOB_MAX_SLOTS ? n : GGLD_JOB_MAX_SLOTS;
    self->job.progress = progress;
    self->job.user = self->user;
    self->job.file = ggld_file_ref(file);
    ggld_status status = ggld_job_launch(&self->job, err);
    if (status != GGLD_OK)
        ggld_close(file);
    return status;
}

/* ---- ggld_hash_start ---- */

typedef struct plain_hash {
    ggld_hash_job base;
    ggld_hash_done done;
} plain_hash;

static void plain_done(ggld_hash_job *self, const ggld_error *result)
{
    plain_hash *plain = (plain_hash *)self;
    ggld_manifest *manifest = NULL;
    if (result->code == GGLD_OK) {
        manifest = self->manifest;
        self->manifest = NULL;
    }
    plain->done(&self->job, manifest, result, self->user);
}

static const ggld_hash_kind plain_kind = { NULL, NULL, NULL, plain_done, NULL };

static ggld_status check_options(const ggld_hash_options *o, ggld_error *err)
{
    if ((o->flags & ~GGLD_HASH_KEEP_CACHE) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "hash job: flags %#x are not known", o->flags);
    return ggld_check_options("hash", o->struct_size, sizeof *o, o->reserved, 4,
                              err);
}

ggld_status ggld_hash_start(ggld_job **out, struct uv_loop_s *loop,
                            ggld_file *file, const ggld_hash_options *options,
                            ggld_hash_done done, void *user, ggld_error *err)
{
    ggld_hash_options standard = ggld_hash_options_init();
    if (out == NULL || loop == NULL || file == NULL || done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "hash job: out, loop, file and done are needed");
    if (options == NULL)
        options = &standard;
    ggld_status status = check_options(options, err);
    if (status != GGLD_OK)
        return status;
    plain_hash *self = calloc(1, sizeof *self);
    char *name = strdup(options->name != NULL ? options->name : "");
    if (self == NULL || name == NULL) {
        free(self);
        free(name);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash job: no memory");
    }
    self->base.kind = &plain_kind;
    self->base.name = name;
    self->base.user = user;
    self->base.keep_cache = (options->flags & GGLD_HASH_KEEP_CACHE) != 0;
    self->base.request.algos = options->algos;
    self->base.request.scopes = options->scopes;
    self->base.request.chunk_algo = options->chunk_algo;
    self->base.request.chunk_bytes = options->chunk_bytes;
    self->done = done;
    status =
        ggld_hash_job_launch(&self->base, loop, file, options->progress, err);
    if (status != GGLD_OK) {
        free(name);
        free(self);
        return status;
    }
    *out = &self->base.job;
    return GGLD_OK;
}
