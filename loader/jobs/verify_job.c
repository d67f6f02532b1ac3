/* SPDX-License-Identifier: MIT */
/* Verifying as a job: a hash of all that the manifest speaks of, and then the
 * comparison, on the pool too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/integrity.h>

#include "../integrity/manifest.h"
#include "../integrity/report.h"
#include "../integrity/verify.h"
#include "hash_job.h"
#include "start.h"

typedef struct verify_job {
    ggld_hash_job base;
    const ggld_manifest *manifest; /* the app's */
    char *path;                    /* or NULL */
    const ggld_manifest *expected; /* what of it is about the file */
    ggld_manifest *selected;       /* that, where it is not all; or NULL */
    ggld_verify_report *report;
    bool no_same;
    ggld_verify_done done;
} verify_job;

static ggld_status verify_plan(ggld_hash_job *base, ggld_error *err)
{
    verify_job *self = (verify_job *)base;
    const char *path = self->path;
    ggld_manifest_free(self->selected);
    self->selected = NULL;
    if (base->n_shards > 1) {
        if (self->manifest->format == GGLD_MANIFEST_GGSUM)
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "verify: a ggsum speaks of one file; of a set "
                             "of %" PRIu32 " shards each has its own, to be "
                             "compared with that shard alone",
                             base->n_shards);
        path = ggld_file_path(base->file);
    }
    ggld_status status = GGLD_OK;
    if (!ggld_manifest_is_of_one(self->manifest))
        status =
            ggld_manifest_select(&self->selected, self->manifest, path, err);
    self->expected = self->selected != NULL ? self->selected : self->manifest;
    if (status == GGLD_OK)
        status = ggld_verify_request_of(self->expected, &base->request, err);
    return status == GGLD_OK ? ggld_verify_fits(self->expected, base->file, err)
                             : status;
}

static ggld_status verify_finish(ggld_hash_job *base, ggld_error *err)
{
    verify_job *self = (verify_job *)base;
    if (self->report == NULL) {
        self->report = calloc(1, sizeof *self->report);
        if (self->report == NULL)
            return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                             "verify: no memory for the report");
        self->report->no_same = self->no_same;
    }
    ggld_status status =
        ggld_verify_compare(&self->report, self->expected, base->manifest,
                            base->file, base->n_shards > 1, err);
    ggld_manifest_free(base->manifest); /* it has been compared */
    base->manifest = NULL;
    return status;
}

static void verify_end(ggld_hash_job *base)
{
    verify_job *self = (verify_job *)base;
    ggld_manifest_free(self->selected);
    self->selected = NULL;
}

static void verify_done(ggld_hash_job *base, const ggld_error *result)
{
    verify_job *self = (verify_job *)base;
    ggld_verify_report *report = NULL;
    if (result->code == GGLD_OK) {
        report = self->report;
        self->report = NULL;
    }
    self->done(&base->job, report, result, base->user);
}

static void verify_destroy(ggld_hash_job *base)
{
    verify_job *self = (verify_job *)base;
    ggld_verify_report_free(self->report);
    free(self->path);
}

static const ggld_hash_kind verify_kind = { verify_plan, verify_finish,
                                            verify_end, verify_done,
                                            verify_destroy };

static ggld_status check_options(const ggld_verify_options *o, ggld_error *err)
{
    if ((o->flags & ~(GGLD_HASH_KEEP_CACHE | GGLD_VERIFY_NO_SAME)) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "verify job: flags %#x are not known", o->flags);
    return ggld_check_options("verify", o->struct_size, sizeof *o, o->reserved,
                              4, err);
}

static verify_job *verify_new(const ggld_verify_options *options)
{
    verify_job *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->base.name = strdup("");
    if (options->path != NULL)
        self->path = strdup(options->path);
    if (self->base.name == NULL ||
        (options->path != NULL && self->path == NULL)) {
        free(self->base.name);
        free(self->path);
        free(self);
        return NULL;
    }
    self->base.kind = &verify_kind;
    self->no_same = (options->flags & GGLD_VERIFY_NO_SAME) != 0;
    self->base.keep_cache = (options->flags & GGLD_HASH_KEEP_CACHE) != 0;
    return self;
}

ggld_status ggld_verify_start(ggld_job **out, struct uv_loop_s *loop,
                              ggld_file *file, const ggld_manifest *manifest,
                              const ggld_verify_options *options,
                              ggld_verify_done done, void *user,
                              ggld_error *err)
{
    ggld_verify_options standard = ggld_verify_options_init();
    if (out == NULL || loop == NULL || file == NULL || manifest == NULL ||
        done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verify job: out, loop, file, manifest and done are "
                         "needed");
    if (options == NULL)
        options = &standard;
    ggld_status status = check_options(options, err);
    if (status != GGLD_OK)
        return status;
    verify_job *self = verify_new(options);
    if (self == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verify job: no memory");
    self->manifest = manifest;
    self->done = done;
    self->base.user = user;
    status =
        ggld_hash_job_launch(&self->base, loop, file, options->progress, err);
    if (status != GGLD_OK) {
        free(self->path);
        free(self->base.name);
        free(self);
        return status;
    }
    *out = &self->base.job;
    return GGLD_OK;
}
