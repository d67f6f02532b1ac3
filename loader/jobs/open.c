/* SPDX-License-Identifier: MIT */
/* Opening as a job: all of the work is the begin of the core's machine, as
 * metadata is read in one go. */
#include <ggld/async.h>

#include <stdlib.h>
#include <string.h>

#include "job.h"

typedef struct open_job {
    ggld_job job;
    ggld_open_options options;
    ggld_allocator allocator;
    ggld_verifier verifier;
    ggld_open_done done;
    void *user;
    ggld_file *opened;
    char path[];
} open_job;

static ggld_status open_begin(ggld_job *job, ggld_error *err)
{
    open_job *self = (open_job *)job;
    return ggld_open_path(&self->opened, self->path, &self->options, err);
}

/* Cancelled while it was being opened: nobody will get the file. */
static void open_end(ggld_job *job)
{
    open_job *self = (open_job *)job;
    if (ggld_job_stopped(job)) {
        ggld_close(self->opened);
        self->opened = NULL;
    }
}

static void open_done(ggld_job *job, const ggld_error *result)
{
    open_job *self = (open_job *)job;
    self->done(job, self->opened, result, self->user);
}

static void open_destroy(ggld_job *job)
{
    free(job);
}

static const ggld_job_kind open_kind = {
    .begin = open_begin,
    .end = open_end,
    .done = open_done,
    .destroy = open_destroy,
};

/* Only what the caller's struct_size covers is his; open checks the rest. */
static void copy_options(open_job *self, const ggld_open_options *options)
{
    self->options = *options;
    if (options->allocator != NULL) {
        self->allocator = *options->allocator;
        self->options.allocator = &self->allocator;
    }
    if (options->verifier != NULL) {
        size_t size = options->verifier->struct_size;
        if (size > sizeof self->verifier)
            size = sizeof self->verifier;
        memcpy(&self->verifier, options->verifier, size);
        self->options.verifier = &self->verifier;
    }
}

ggld_status ggld_open_start(ggld_job **out, struct uv_loop_s *loop,
                            const char *path, const ggld_open_options *options,
                            ggld_open_done done, void *user, ggld_error *err)
{
    ggld_open_options standard = ggld_open_options_init();
    if (out == NULL || loop == NULL || path == NULL || done == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "open job: out, loop, path and done are needed");
    if (options == NULL)
        options = &standard;
    if (options->struct_size != sizeof *options)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "open job: options of %zu bytes, %zu are known",
                         options->struct_size, sizeof *options);

    size_t path_bytes = strlen(path) + 1;
    open_job *self = calloc(1, sizeof *self + path_bytes);
    if (self == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "open job: no memory");
    memcpy(self->path, path, path_bytes);
    copy_options(self, options);
    self->job.kind = &open_kind;
    self->job.loop = loop;
    self->job.n_slots = 1;
    self->done = done;
    self->user = user;

    ggld_status status = ggld_job_launch(&self->job, err);
    if (status != GGLD_OK) {
        free(self);
        return status;
    }
    *out = &self->job;
    return GGLD_OK;
}
