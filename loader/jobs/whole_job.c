/* SPDX-License-Identifier: MIT */
/* Hashing any file, and verifying one that does not open as a model: size, and
 * the digests of all of it and of its first bytes, which need no look inside. One
 * chain of reads from start to end, a slot's run at a time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/integrity.h>

#include "../base/checked.h"
#include "../base/cut.h"
#include "../integrity/digest.h"
#include "../integrity/manifest.h"
#include "../integrity/verify.h"
#include "job.h"
#include "start.h"

/* Cancel and progress come between runs. */
#define RUN_BYTES   (8u << 20)
#define PIECE_BYTES (256u << 10)

typedef struct whole_job {
    ggld_job job;
    int fd;                        /* the app's */
    const ggld_manifest *manifest; /* to verify with; NULL: to be made */
    char *path;                    /* or NULL */
    ggld_verify_done done;
    ggld_hash_done hash_done;
    void *user;
    uint32_t hash_algos;
    ggld_manifest *made;

    ggld_manifest *expected; /* what of it is about the file */
    ggld_verify_report *report;
    ggld_hasher all, metadata;
    uint8_t *buffer;
    uint64_t file_bytes;
    uint64_t metadata_bytes; /* as the manifest has it; 0: not said */
    uint64_t at, end;        /* of reading */
    uint64_t read_bytes;     /* by the last run */
    bool ended;
} whole_job;

/* ---- what is there, as a manifest ---- */

static ggld_status add_digests(ggld_manifest *m, uint32_t scope,
                               ggld_hasher *hasher, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++) {
        ggld_entry entry = { .scope = scope,
                             .shape = GGLD_NO_SHAPE,
                             .name = { "", 0 } };
        if ((hasher->algos & GGLD_ALGO_BIT(i)) == 0)
            continue;
        status = ggld_hasher_finish(hasher, i, &entry.digest, err);
        if (status == GGLD_OK)
            status = ggld_manifest_add(m, &entry, err);
    }
    return status;
}

static ggld_status describe(whole_job *self, ggld_manifest *m, ggld_error *err)
{
    uint32_t subject;
    ggld_string name = { "", 0 };
    if (self->manifest == NULL && self->path != NULL) {
        name.len = strlen(self->path);
        char *copy = ggld_manifest_block(m, name.len);
        if (copy == NULL)
            return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                             "hash: no memory for the file's name");
        name.data = memcpy(copy, self->path, (size_t)name.len);
    }
    ggld_status status = ggld_manifest_add_subject(m, name, &subject, err);
    if (status != GGLD_OK)
        return status;
    m->subjects[0].has_size = true;
    m->subjects[0].size_bytes = self->file_bytes;
    m->subjects[0].metadata_bytes = self->metadata_bytes;
    status = add_digests(m, GGLD_SCOPE_FILE, &self->all, err);
    /* Of a file that ends before its metadata does there is no such digest. */
    if (status == GGLD_OK && self->metadata_bytes <= self->file_bytes)
        status = add_digests(m, GGLD_SCOPE_METADATA, &self->metadata, err);
    return status == GGLD_OK ? ggld_manifest_seal(m, "file", err) : status;
}

static ggld_status finish(whole_job *self, ggld_error *err)
{
    ggld_manifest *actual = ggld_manifest_new();
    if (actual == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for what was found");
    ggld_status status = describe(self, actual, err);
    if (status == GGLD_OK && self->manifest != NULL)
        status = ggld_verify_compare_whole(&self->report, self->expected,
                                           actual, err);
    self->ended = status == GGLD_OK;
    if (status == GGLD_OK && self->manifest == NULL) {
        self->made = actual;
        return GGLD_OK;
    }
    ggld_manifest_free(actual);
    return status;
}

/* ---- reading ---- */

static ggld_status look_at_file(whole_job *self, ggld_error *err)
{
    struct stat st;
    if (fstat(self->fd, &st) != 0)
        return ggld_fail_errno(err, errno, ggld_nowhere(), "file: fstat");
    if (!S_ISREG(st.st_mode))
        return ggld_fail(err, GGLD_E_MAGIC, ggld_nowhere(),
                         "file: not a regular file");
    self->file_bytes = (uint64_t)st.st_size;
    return GGLD_OK;
}

static uint32_t algos_of(const ggld_manifest *m, uint32_t scope)
{
    uint32_t algos = 0;
    for (uint64_t i = 0; i < m->n_entries; i++)
        if (m->entries[i].scope == scope)
            algos |= GGLD_ALGO_BIT(m->entries[i].digest.algo);
    return algos & ~GGLD_ALGO_BIT(GGLD_ALGO_UUID);
}

/* What is to be hashed to say what the manifest says. */
static ggld_status ask_manifest(whole_job *self, uint32_t *all,
                                uint32_t *metadata, ggld_error *err)
{
    ggld_status status =
        ggld_manifest_select(&self->expected, self->manifest, self->path, err);
    if (status != GGLD_OK)
        return status;
    const ggld_subject *said = &self->expected->subjects[0];
    *all = algos_of(self->expected, GGLD_SCOPE_FILE);
    if (said->has_metadata_size) {
        self->metadata_bytes = said->metadata_bytes;
        *metadata = algos_of(self->expected, GGLD_SCOPE_METADATA);
    }
    return GGLD_OK;
}

static ggld_status whole_begin(ggld_job *job, ggld_error *err)
{
    whole_job *self = (whole_job *)job;
    uint32_t all = self->hash_algos, metadata = 0;
    ggld_status status = look_at_file(self, err);
    if (status == GGLD_OK && self->manifest != NULL)
        status = ask_manifest(self, &all, &metadata, err);
    if (status != GGLD_OK)
        return status;
    if (metadata != 0)
        self->end = ggld_min_u64(self->metadata_bytes, self->file_bytes);
    if (all != 0)
        self->end = self->file_bytes;
    job->total_bytes = self->end;
    status = ggld_hasher_init(&self->all, all, err);
    if (status == GGLD_OK)
        status = ggld_hasher_init(&self->metadata, metadata, err);
    self->buffer = malloc(PIECE_BYTES);
    if (status == GGLD_OK && self->buffer == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify: no memory for a buffer");
    return status;
}

static ggld_status read_piece(whole_job *self, ggld_error *err)
{
    uint64_t n = ggld_min_u64(PIECE_BYTES, self->end - self->at);
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, self->at);
    ssize_t got;
    do
        got = pread(self->fd, self->buffer, (size_t)n, (off_t)self->at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return ggld_fail_errno(err, errno, place,
                               "file: reading %" PRIu64 " bytes at %" PRIu64, n,
                               self->at);
    if (got == 0)
        return ggld_fail_cut(err, GGLD_E_TRUNCATED, place, "",
                             ggld_cut_size(self->fd, 0, self->at),
                             self->file_bytes);
    ggld_hasher_update(&self->all, self->buffer, (size_t)got);
    if (self->at < self->metadata_bytes)
        ggld_hasher_update(&self->metadata, self->buffer,
                           (size_t)ggld_min_u64(
                               (uint64_t)got, self->metadata_bytes - self->at));
    self->at += (uint64_t)got;
    return GGLD_OK;
}

static bool whole_next(ggld_job *job, uint32_t slot)
{
    (void)slot;
    return !((whole_job *)job)->ended;
}

static ggld_status whole_run(ggld_job *job, uint32_t slot, ggld_error *err)
{
    whole_job *self = (whole_job *)job;
    uint64_t from = self->at;
    ggld_status status = GGLD_OK;
    (void)slot;
    while (status == GGLD_OK && self->at < self->end &&
           self->at - from < RUN_BYTES && !ggld_job_stopped(job))
        status = read_piece(self, err);
    self->read_bytes = self->at - from;
    if (status == GGLD_OK && self->at == self->end)
        status = finish(self, err);
    return status;
}

static ggld_status whole_take(ggld_job *job, uint32_t slot, ggld_taken *out,
                              ggld_error *err)
{
    (void)slot, (void)err;
    *out = GGLD_TAKEN_FREE;
    ggld_job_advance(job, ((whole_job *)job)->read_bytes);
    return GGLD_OK;
}

static void whole_end(ggld_job *job)
{
    whole_job *self = (whole_job *)job;
    ggld_hasher_free(&self->all);
    ggld_hasher_free(&self->metadata);
    ggld_manifest_free(self->expected);
    free(self->buffer);
}

static void whole_done(ggld_job *job, const ggld_error *result)
{
    whole_job *self = (whole_job *)job;
    ggld_verify_report *report = NULL;
    ggld_manifest *made = NULL;
    if (result->code == GGLD_OK) {
        report = self->report;
        made = self->made;
        self->report = NULL;
        self->made = NULL;
    }
    if (self->hash_done != NULL)
        self->hash_done(job, made, result, self->user);
    else
        self->done(job, report, result, self->user);
}

static void whole_destroy(ggld_job *job)
{
    whole_job *self = (whole_job *)job;
    ggld_verify_report_free(self->report);
    ggld_manifest_free(self->made);
    free(self->path);
    free(self);
}

static const ggld_job_kind whole_kind = {
    .begin = whole_begin,
    .next = whole_next,
    .run = whole_run,
    .take = whole_take,
    .end = whole_end,
    .done = whole_done,
    .destroy = whole_destroy,
};

/* ---- ggld_verify_whole_start ---- */

static ggld_status check_options(const ggld_verify_options *o, ggld_error *err)
{
    if (o->flags != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "verify job: flags %#x are not for whole files",
                         o->flags);
    return ggld_check_options("verify", o->struct_size, sizeof *o, o->reserved,
                              4, err);
}

static whole_job *whole_new(const char *path, ggld_job_progress progress)
{
    whole_job *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    if (path != NULL)
        self->path = strdup(path);
    if (path != NULL && self->path == NULL) {
        free(self);
        return NULL;
    }
    self->job.kind = &whole_kind;
    self->job.n_slots = 1;
    self->job.progress = progress;
    return self;
}

static ggld_status launch(whole_job *self, struct uv_loop_s *loop, int fd,
                          void *user, ggld_job **out, ggld_error *err)
{
    self->job.loop = loop;
    self->job.user = user;
    self->fd = fd;
    self->user = user;
    ggld_status status = ggld_job_launch(&self->job, err);
    if (status != GGLD_OK) {
        whole_destroy(&self->job);
        return status;
    }
    *out = &self->job;
    return GGLD_OK;
}

ggld_status ggld_verify_whole_start(ggld_job **out, struct uv_loop_s *loop,
                                    int fd, const ggld_manifest *manifest,
                                    const ggld_verify_options *options,
                                    ggld_verify_done done, void *user,
                                    ggld_error *err)
{
    ggld_verify_options standard = ggld_verify_options_init();
    if (out == NULL || loop == NULL || fd < 0 || manifest == NULL ||
        done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verify job: out, loop, fd, manifest and done are "
                         "needed");
    if (options == NULL)
        options = &standard;
    ggld_status status = check_options(options, err);
    if (status != GGLD_OK)
        return status;
    whole_job *self = whole_new(options->path, options->progress);
    if (self == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify job: no memory");
    self->manifest = manifest;
    self->done = done;
    return launch(self, loop, fd, user, out, err);
}

/* ---- ggld_hash_whole_start ---- */

static ggld_status check_hash_options(const ggld_hash_options *o,
                                      ggld_error *err)
{
    ggld_status status = ggld_check_options("hash", o->struct_size, sizeof *o,
                                            o->reserved, 4, err);
    if (status != GGLD_OK)
        return status;
    if (o->flags != 0 || (o->scopes & ~(uint32_t)GGLD_SCOPE_FILE) != 0 ||
        o->chunk_algo != 0 || o->chunk_bytes != 0 ||
        (o->algos & GGLD_ALGO_BIT(GGLD_ALGO_UUID)) != 0 ||
        (o->algos & ~GGLD_ALGO_ALL) != 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "hash: of a file that is not looked into there are "
                         "digests of all of it only, by sha256, sha1, xxh64 "
                         "and xxh3");
    return GGLD_OK;
}

ggld_status ggld_hash_whole_start(ggld_job **out, struct uv_loop_s *loop,
                                  int fd, const ggld_hash_options *options,
                                  ggld_hash_done done, void *user,
                                  ggld_error *err)
{
    ggld_hash_options standard = ggld_hash_options_init();
    if (out == NULL || loop == NULL || fd < 0 || done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "hash job: out, loop, fd and done are needed");
    if (options == NULL)
        options = &standard;
    ggld_status status = check_hash_options(options, err);
    if (status != GGLD_OK)
        return status;
    whole_job *self = whole_new(options->name, options->progress);
    if (self == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "hash job: no memory");
    self->hash_algos =
        options->algos != 0 ? options->algos : GGLD_ALGO_BIT(GGLD_ALGO_SHA256);
    self->hash_done = done;
    return launch(self, loop, fd, user, out, err);
}
