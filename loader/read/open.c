/* SPDX-License-Identifier: MIT */
/* The ways to open and to check: each makes a source, and the rest is one
 * path. What is handed over is handed over at the very end. */
#include <unistd.h>

#include "hints.h"
#include "load.h"
#include "options.h"
#include "set.h"
#include "source.h"

static const ggld_range whole_file = { 0, 0, true };

static ggld_report report_for_open(const ggld_open_options *options,
                                   ggld_part part, ggld_error *err)
{
    ggld_report report = { .strict = (options->flags & GGLD_OPEN_STRICT) != 0,
                           .part = part,
                           .err = err };
    return report;
}

/* Of a path that is one of a set's, the set. Whatever fails, the source is
 * released. */
static ggld_status open_loaded(ggld_file **out, const ggld_load *load,
                               ggld_error *err)
{
    ggld_report report = report_for_open(load->options, load->part, err);
    ggld_file *file = ggld_load_file(load, &report);
    if (file != NULL && load->path != NULL &&
        (load->options->flags & GGLD_OPEN_SINGLE) == 0)
        file = ggld_set_complete(file, load, &report);
    if (file == NULL)
        return report.status;
    bool good = ggld_set_verify(file, &report);
    good = ggld_load_intact(file, &report) && good;
    if (good)
        *out = file;
    else
        ggld_load_release(file);
    return report.status;
}

static ggld_status open_fd_range(ggld_file **out, int fd, ggld_range range,
                                 const ggld_open_options *options,
                                 const char *path, ggld_error *err)
{
    ggld_open_options taken;
    ggld_verifier verifier;
    ggld_load load = { .options = &taken, .path = path, .part = { path, 0 } };

    ggld_status status = ggld_options_take(options, &taken, &verifier, err);
    if (status == GGLD_OK)
        status = ggld_load_source(&load, fd, range, err);
    if (status == GGLD_OK)
        status = open_loaded(out, &load, err);
    return status;
}

ggld_status ggld_open_path(ggld_file **out, const char *path,
                           const ggld_open_options *options, ggld_error *err)
{
    int fd = -1;
    ggld_status status = ggld_fd_of_path(&fd, path, err);
    if (status != GGLD_OK)
        return status;
    status = open_fd_range(out, fd, whole_file, options, path, err);
    close(fd);
    return status;
}

ggld_status ggld_open_fd(ggld_file **out, int fd,
                         const ggld_open_options *options, ggld_error *err)
{
    return open_fd_range(out, fd, whole_file, options, NULL, err);
}

ggld_status ggld_open_range(ggld_file **out, int fd, uint64_t offset_bytes,
                            uint64_t size_bytes,
                            const ggld_open_options *options, ggld_error *err)
{
    ggld_range range = { offset_bytes, size_bytes, false };
    return open_fd_range(out, fd, range, options, NULL, err);
}

ggld_status ggld_open_memory(ggld_file **out, const void *data, size_t size,
                             const ggld_open_options *options, ggld_error *err)
{
    ggld_source source = { sizeof source, size, NULL, data, NULL, NULL };
    if (data == NULL && size != 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_open_memory: data is NULL, and size %zu", size);
    return ggld_open_source(out, &source, options, err);
}

ggld_status ggld_open_source(ggld_file **out, const ggld_source *source,
                             const ggld_open_options *options, ggld_error *err)
{
    ggld_open_options taken;
    ggld_verifier verifier;
    ggld_load load = { .options = &taken };
    ggld_file *file = NULL;

    ggld_status status = ggld_options_take(options, &taken, &verifier, err);
    if (status == GGLD_OK)
        status = ggld_source_take(source, &load.source, err);
    if (status != GGLD_OK)
        return status;
    /* Until it is open the source is the caller's, and not to be released. */
    void (*release)(void *) = load.source.release;
    load.source.release = NULL;
    status = open_loaded(&file, &load, err);
    if (file == NULL)
        return status;
    file->source.release = release;
    *out = file;
    return GGLD_OK;
}

/* What can be read of a file's keys, broken or not. */
static ggld_status peek(ggld_split *split, int fd,
                        const ggld_open_options *options, ggld_error *err)
{
    ggld_open_options lenient = *options;
    ggld_load load = { .options = &lenient, .split = split };
    ggld_report quiet = report_for_open(&lenient, load.part, err);

    lenient.flags = GGLD_OPEN_METADATA | (options->flags & GGLD_OPEN_PREAD);
    ggld_status status = ggld_load_source(&load, fd, whole_file, err);
    if (status != GGLD_OK)
        return status == GGLD_E_NOMEM ? status : GGLD_OK;
    ggld_file *file = ggld_load_file(&load, &quiet);
    if (file != NULL)
        ggld_load_release(file);
    return quiet.status == GGLD_E_NOMEM ? quiet.status : GGLD_OK;
}

static void check_one(const ggld_load *load, ggld_report *report)
{
    ggld_split_name name;
    ggld_file *file = ggld_load_file(load, report);

    if (file == NULL)
        return;
    if (load->path == NULL || (file->flags & GGLD_OPEN_SINGLE) != 0 ||
        ggld_set_judge(file, report, &name))
        (void)ggld_set_verify(file, report);
    ggld_load_release(file);
}

/* One file, which may be a shard that is looked at alone. */
static ggld_status check_fd(int fd, ggld_load *load, ggld_report *report)
{
    ggld_error fault;
    ggld_status status = ggld_load_source(load, fd, whole_file, &fault);

    report->part = load->part;
    if (status == GGLD_E_MAGIC)
        return ggld_report_error(report, &fault) ? GGLD_OK : status;
    if (status == GGLD_OK)
        check_one(load, report);
    else if (report->err != NULL)
        *report->err = fault;
    return status == GGLD_OK ? report->status : status;
}

static ggld_status check(int fd, const char *path,
                         const ggld_open_options *options, ggld_finding finding,
                         void *user, ggld_error *err)
{
    ggld_open_options taken;
    ggld_verifier verifier;
    ggld_load load = { .options = &taken, .path = path, .part = { path, 0 } };
    ggld_split split = { 0, 0 };
    ggld_split_name name;

    ggld_status status = ggld_options_take(options, &taken, &verifier, err);
    if (status != GGLD_OK)
        return status;
    ggld_report report = report_for_open(&taken, load.part, err);
    report.finding = finding;
    report.user = user;
    if (path != NULL && (taken.flags & GGLD_OPEN_SINGLE) == 0)
        status = peek(&split, fd, &taken, err);
    if (status != GGLD_OK)
        return status;
    if (split.count != 0 && ggld_split_name_of(path, &name) &&
        name.count == split.count) {
        ggld_set_check(&name, &load, &report);
        return report.status;
    }
    if (split.no < split.count && split.count <= GGLD_MAX_SHARDS) {
        report.shard_path = path;
        report.shard = (uint32_t)split.no;
    }
    return check_fd(fd, &load, &report);
}

static ggld_status need_finding(const char *function, ggld_finding finding,
                                ggld_error *err)
{
    if (finding != NULL)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "%s: finding is NULL",
                     function);
}

ggld_status ggld_check_fd(int fd, const ggld_open_options *options,
                          ggld_finding finding, void *user, ggld_error *err)
{
    ggld_status status = need_finding("ggld_check_fd", finding, err);
    if (status == GGLD_OK)
        status = check(fd, NULL, options, finding, user, err);
    return status;
}

ggld_status ggld_check_path(const char *path, const ggld_open_options *options,
                            ggld_finding finding, void *user, ggld_error *err)
{
    int fd = -1;
    ggld_status status = need_finding("ggld_check_path", finding, err);
    if (status == GGLD_OK)
        status = ggld_fd_of_path(&fd, path, err);
    if (status != GGLD_OK)
        return status;
    status = check(fd, path, options, finding, user, err);
    close(fd);
    return status;
}
