/* SPDX-License-Identifier: MIT */
/* Sources: which format it is, its files, and what has become of them. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/open.h"
#include "../base/quote.h"
#include "../base/stamp.h"
#include "../base/structs.h"

/* The first that recognises it. The last takes anything: its reader says best
 * what it is instead. */
static const ggld_source_format *const formats[] = {
    &ggld_source_safetensors,
    &ggld_source_index,
    &ggld_source_gguf,
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

#define READ_AHEAD_BYTES (8u << 20)

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

static ggld_status fail_nomem(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory to open a model");
}

/* ---- for formats ---- */

ggld_status ggld_source_room(ggld_export_source *s, uint64_t n, ggld_error *err)
{
    if (n > SIZE_MAX / sizeof *s->tensors - 1)
        return fail_nomem(err);
    s->tensors = calloc((size_t)n + 1, sizeof *s->tensors);
    return s->tensors != NULL ? GGLD_OK : fail_nomem(err);
}

static ggld_status fail_file(int sys_errno, const char *what,
                             const ggld_source_file *f, ggld_error *err)
{
    return ggld_fail_errno(err, sys_errno, in_file(), "can't %s %s%s", what,
                           ggld_quote(f->path, strlen(f->path)).text,
                           ggld_open_hint(sys_errno));
}

ggld_status ggld_source_add_file(ggld_export_source *s, const char *path,
                                 ggld_error *err)
{
    ggld_source_file *files =
        realloc(s->files, (s->n_files + (size_t)1) * sizeof *files);
    if (files == NULL)
        return fail_nomem(err);
    s->files = files;
    ggld_source_file *f = &files[s->n_files];
    f->path = strdup(path);
    f->fd = -1;
    if (f->path == NULL)
        return fail_nomem(err);
    s->n_files++;
    f->fd = ggld_open_patiently(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (f->fd < 0)
        return fail_file(errno, "open", f, err);
    if (fstat(f->fd, &f->stamp) != 0)
        return fail_file(errno, "look at", f, err);
    if (S_ISREG(f->stamp.st_mode))
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_MAGIC, in_file(), "%s is no regular file",
                     ggld_quote(path, strlen(path)).text);
}

/* One call each time that a range begins another window, for the one behind the
 * next. */
void ggld_source_read_ahead(const ggld_export_source *s, uint64_t tensor,
                            uint64_t first_byte, uint64_t size_bytes)
{
    const ggld_source_tensor *t = &s->tensors[tensor];
    uint64_t begin = t->file_offset_bytes + first_byte;
    uint64_t window = (begin + size_bytes) / READ_AHEAD_BYTES;

    if (t->file >= s->n_files || s->files[t->file].fd < 0 ||
        window == begin / READ_AHEAD_BYTES)
        return;
    (void)posix_fadvise(s->files[t->file].fd,
                        (off_t)((window + 1) * READ_AHEAD_BYTES),
                        READ_AHEAD_BYTES, POSIX_FADV_WILLNEED);
}

/* ---- what becomes of files ---- */

static ggld_status compare(const ggld_source_file *f, const struct stat *now,
                           ggld_error *err)
{
    const ggld_stamp was = ggld_stamp_of(&f->stamp), is = ggld_stamp_of(now);

    return ggld_stamp_compare(&was, &is,
                              ggld_quote(f->path, strlen(f->path)).text, err);
}

/* Of bytes that are the app's, the app alone can know. */
static ggld_status gguf_unchanged(const ggld_file *file, ggld_error *err)
{
    ggld_error why;
    ggld_status status = ggld_file_changed(file, &why);

    if (status == GGLD_E_UNSUPPORTED)
        return GGLD_OK;
    if (status != GGLD_OK && err != NULL)
        *err = why;
    return status;
}

ggld_status ggld_source_unchanged(const ggld_export_source *s, ggld_error *err)
{
    const ggld_file *gguf = ggld_source_gguf_file(s);
    ggld_status status = GGLD_OK;
    struct stat now;

    if (gguf != NULL)
        return gguf_unchanged(gguf, err);
    for (uint32_t i = 0; i < s->n_files && status == GGLD_OK; i++) {
        const ggld_source_file *f = &s->files[i];
        if (f->fd < 0)
            continue;
        if (fstat(f->fd, &now) != 0)
            return fail_file(errno, "look at", f, err);
        status = compare(f, &now, err);
        if (status != GGLD_OK && err != NULL)
            err->shard = i;
    }
    return status;
}

bool ggld_export_source_has(const ggld_export_source *s, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return false;
    for (uint32_t i = 0; i < s->n_files; i++)
        if (s->files[i].fd >= 0 && s->files[i].stamp.st_dev == st.st_dev &&
            s->files[i].stamp.st_ino == st.st_ino)
            return true;
    return false;
}

/* ---- open ---- */

/* A file that can't be read is nobody's; the format says why. */
static void look_at(ggld_source_look *look, const char *const *paths,
                    size_t n_paths)
{
    memset(look, 0, sizeof *look);
    look->path = paths[0];
    look->n_paths = n_paths;
    int fd = ggld_open_patiently(AT_FDCWD, paths[0], O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    ssize_t n = pread(fd, look->head, sizeof look->head, 0);
    look->head_bytes = n > 0 ? (size_t)n : 0;
    close(fd);
}

static const ggld_source_format *recognise(const ggld_source_look *look)
{
    size_t i = 0;
    while (i + 1 < N_FORMATS && !formats[i]->recognise(look))
        i++;
    return formats[i];
}

static ggld_status check_paths(const char *const *paths, size_t n_paths,
                               ggld_error *err)
{
    if (paths == NULL || n_paths == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "no path of a model was given");
    for (size_t i = 0; i < n_paths; i++)
        if (paths[i] == NULL)
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "path %zu is NULL", i);
    return GGLD_OK;
}

/* Gives away what is open, or closes it. */
static ggld_status finish_open(ggld_export_source *s, ggld_status status,
                               ggld_export_source **out, ggld_error *err)
{
    if (status == GGLD_OK)
        status = s->format->list(s, err);
    if (status == GGLD_OK)
        *out = s;
    else
        ggld_export_source_close(s);
    return status;
}

ggld_status ggld_export_source_open(ggld_export_source **out,
                                    const char *const *paths, size_t n_paths,
                                    ggld_error *err)
{
    ggld_source_look look;

    ggld_status status = check_paths(paths, n_paths, err);
    if (status != GGLD_OK)
        return status;
    ggld_export_source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail_nomem(err);
    look_at(&look, paths, n_paths);
    s->format = recognise(&look);
    return finish_open(s, s->format->open(s, paths, n_paths, err), out, err);
}

ggld_status ggld_export_source_of_file(ggld_export_source **out,
                                       ggld_file *file, ggld_error *err)
{
    if (file == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the file is NULL");
    ggld_export_source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail_nomem(err);
    s->format = &ggld_source_gguf;
    s->state = ggld_file_ref(file);
    return finish_open(s, GGLD_OK, out, err);
}

void ggld_export_source_close(ggld_export_source *source)
{
    if (source == NULL)
        return;
    source->format->close(source);
    for (uint32_t i = 0; i < source->n_files; i++) {
        if (source->files[i].fd >= 0)
            close(source->files[i].fd);
        free(source->files[i].path);
    }
    free(source->files);
    free(source->tensors);
    free(source);
}

void ggld_export_source_get_info(const ggld_export_source *source,
                                 ggld_export_source_info *out)
{
    ggld_export_source_info info = { .format = source->format->name,
                                     .n_files = source->n_files,
                                     .n_tensors = source->n_tensors };

    for (uint32_t i = 0; i < source->n_files; i++)
        info.file_bytes += (uint64_t)source->files[i].stamp.st_size;
    for (uint64_t i = 0; i < source->n_tensors; i++)
        info.n_elems += ggld_source_elems(&source->tensors[i]);
    ggld_struct_give(out, &info, sizeof info);
}
