/* SPDX-License-Identifier: MIT */
/* The ways to open and to check: each makes a source, and the rest is one
 * path. What is handed over is handed over at the very end. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/quote.h"
#include "hints.h"
#include "load.h"
#include "options.h"
#include "source.h"

static const ggld_range whole_file = { 0, 0, true };

static ggld_report report_for_open(const ggld_open_options *options,
                                   const char *hint, ggld_error *err)
{
    ggld_report report = {
        (options->flags & GGLD_OPEN_STRICT) != 0, NULL, NULL, hint, err, GGLD_OK
    };
    return report;
}

static ggld_status open_loaded(ggld_file **out, const ggld_load *load,
                               ggld_error *err)
{
    ggld_report report = report_for_open(load->options, load->hint, err);
    ggld_file *file = ggld_load_file(load, &report);
    if (file == NULL)
        return report.status;
    *out = file;
    return GGLD_OK;
}

static ggld_status source_of_fd(ggld_load *load, int fd, ggld_range range,
                                ggld_error *err)
{
    const ggld_open_options *options = load->options;
    ggld_allocator allocator = ggld_allocator_of(options->allocator);
    bool map = (options->flags & (GGLD_OPEN_COPY | GGLD_OPEN_PREAD)) == 0;

    load->source_heap_bytes = GGLD_FD_SOURCE_BYTES;
    ggld_status status =
        ggld_source_of_fd(&load->source, &allocator, fd, range, map, err);
    if (status == GGLD_OK && range.whole && load->hint[0] == '\0')
        load->hint = ggld_hint_part_size(load->source.size_bytes);
    return status;
}

static ggld_status open_fd_range(ggld_file **out, int fd, ggld_range range,
                                 const ggld_open_options *options,
                                 const char *hint, ggld_error *err)
{
    ggld_open_options taken;
    ggld_load load = { .options = &taken, .hint = hint };

    ggld_status status = ggld_options_take(options, &taken, err);
    if (status == GGLD_OK)
        status = source_of_fd(&load, fd, range, err);
    if (status != GGLD_OK)
        return status;
    status = open_loaded(out, &load, err);
    if (status != GGLD_OK)
        load.source.release(load.source.ctx);
    return status;
}

static ggld_status fd_of_path(int *out, const char *path, ggld_error *err)
{
    int fd;
    if (path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the path is NULL");
    /* O_NONBLOCK: opening a FIFO does not wait for someone to write to it. */
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
            "file: opening %s", ggld_quote(path, strlen(path)).text);
    *out = fd;
    return GGLD_OK;
}

ggld_status ggld_open_path(ggld_file **out, const char *path,
                           const ggld_open_options *options, ggld_error *err)
{
    int fd = -1;
    ggld_status status = fd_of_path(&fd, path, err);
    if (status != GGLD_OK)
        return status;
    status =
        open_fd_range(out, fd, whole_file, options, ggld_hint_part(path), err);
    close(fd);
    return status;
}

ggld_status ggld_open_fd(ggld_file **out, int fd,
                         const ggld_open_options *options, ggld_error *err)
{
    return open_fd_range(out, fd, whole_file, options, "", err);
}

ggld_status ggld_open_range(ggld_file **out, int fd, uint64_t offset_bytes,
                            uint64_t size_bytes,
                            const ggld_open_options *options, ggld_error *err)
{
    ggld_range range = { offset_bytes, size_bytes, false };
    return open_fd_range(out, fd, range, options, "", err);
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
    ggld_load load = { .options = &taken, .hint = "" };

    ggld_status status = ggld_options_take(options, &taken, err);
    if (status == GGLD_OK)
        status = ggld_source_take(source, &load.source, err);
    if (status == GGLD_OK)
        status = open_loaded(out, &load, err);
    return status;
}

static ggld_status check(int fd, const ggld_open_options *options,
                         const char *hint, ggld_finding finding, void *user,
                         ggld_error *err)
{
    ggld_open_options taken;
    ggld_load load = { .options = &taken, .hint = hint };
    ggld_error fault;

    ggld_status status = ggld_options_take(options, &taken, err);
    if (status != GGLD_OK)
        return status;
    status = source_of_fd(&load, fd, whole_file, &fault);
    ggld_report report = report_for_open(&taken, load.hint, err);
    report.finding = finding;
    report.user = user;
    if (status == GGLD_E_MAGIC)
        return ggld_report_error(&report, &fault) ? GGLD_OK : status;
    if (status != GGLD_OK) {
        if (err != NULL)
            *err = fault;
        return status;
    }
    ggld_file *file = ggld_load_file(&load, &report);
    if (file != NULL)
        ggld_load_discard(file);
    load.source.release(load.source.ctx);
    return report.status;
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
        status = check(fd, options, "", finding, user, err);
    return status;
}

ggld_status ggld_check_path(const char *path, const ggld_open_options *options,
                            ggld_finding finding, void *user, ggld_error *err)
{
    int fd = -1;
    ggld_status status = need_finding("ggld_check_path", finding, err);
    if (status == GGLD_OK)
        status = fd_of_path(&fd, path, err);
    if (status != GGLD_OK)
        return status;
    status = check(fd, options, ggld_hint_part(path), finding, user, err);
    close(fd);
    return status;
}
