/* SPDX-License-Identifier: MIT */
/* An edit into a new file: its metadata, and the data section as it is. The
 * system copies from file to file; where it can share blocks instead it is
 * asked for that first, and the data then begins as far behind a block as it
 * does in the old file. */
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/target.h"
#include "edit.h"
#include "sys.h"

/* Copied between two calls of progress; a multiple of any block. */
#define PIECE_BYTES  (16u << 20)
#define BUFFER_BYTES (1u << 20)

typedef struct copying {
    const ggld_edit *edit;
    ggld_target target;
    int fd; /* of the new file; -1: not open */
    ggld_edit_layout layout;
    uint64_t data_from; /* where data begins in the old file */
    uint64_t data_bytes;
    uint64_t done; /* bytes of data */
    uint8_t *buffer;
} copying;

static ggld_status fail_output(const copying *c, int sys_errno,
                               const char *what, ggld_error *err)
{
    return ggld_target_fail(&c->target, sys_errno, what, err);
}

/* ---- sharing ---- */

/* The part of the data that is whole blocks, up to the file's end, becomes the
 * new file's. false: the file system can't, or there is none. */
static bool share_blocks(copying *c)
{
    uint64_t block = ggld_edit_block_bytes(c->edit), from;
    ggld_edit_layout layout;

    if (!ggld_edit_layout_shared(c->edit, block, &layout) ||
        !ggld_align_up(c->data_from, block, &from) ||
        from >= c->edit->info.file_bytes)
        return false;
    struct file_clone_range range = {
        .src_fd = c->edit->fd,
        .src_offset = from,
        .src_length = c->edit->info.file_bytes - from,
        .dest_offset = layout.data_offset + (from - c->data_from),
    };
    if (ioctl(c->fd, FICLONERANGE, &range) != 0)
        return false;
    c->layout = layout;
    return true;
}

/* ---- copying ---- */

static ggld_status fail_cut(const copying *c, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "file: it ends after %" PRIu64 " of %" PRIu64
                     " bytes of data: it was cut while it was copied",
                     c->done, c->data_bytes);
}

/* Through this process, where the system does not copy by itself. */
static ggld_status copy_piece(copying *c, uint64_t size, ggld_error *err)
{
    uint64_t to = c->layout.data_offset + c->done;
    uint64_t n = ggld_min_u64(size, BUFFER_BYTES);

    if (c->buffer == NULL)
        c->buffer = ggld_alloc_bytes(&c->edit->allocator, BUFFER_BYTES);
    if (c->buffer == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to copy with (%u bytes)", BUFFER_BYTES);
    int result =
        ggld_sys_read(c->edit->fd, c->buffer, n, c->data_from + c->done);
    if (result == ENODATA)
        return fail_cut(c, err);
    if (result != 0)
        return ggld_fail_errno(err, result, ggld_in_file(),
                               "file: reading it at %" PRIu64,
                               c->data_from + c->done);
    result = ggld_sys_write(c->fd, c->buffer, n, to);
    if (result != 0)
        return fail_output(c, result, "can't write its data", err);
    c->done += n;
    return GGLD_OK;
}

static ggld_status tell_progress(const copying *c, ggld_error *err)
{
    const ggld_edit *edit = c->edit;

    if (edit->progress == NULL ||
        edit->progress(c->done, c->data_bytes, edit->progress_user) == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "cancelled after %" PRIu64 " of %" PRIu64 " bytes",
                     c->done, c->data_bytes);
}

/* Up to until bytes of the data. What the system refuses to copy is read and
 * written, which also tells what is wrong, and with which file. */
static ggld_status copy_until(copying *c, uint64_t until, ggld_error *err)
{
    bool by_system = true;
    ggld_status status = GGLD_OK;

    while (status == GGLD_OK && c->done < until) {
        uint64_t size = ggld_min_u64(until - c->done, PIECE_BYTES);
        off_t from = (off_t)(c->data_from + c->done);
        off_t to = (off_t)(c->layout.data_offset + c->done);
        ssize_t n = -1;
        if (by_system)
            n = copy_file_range(c->edit->fd, &from, c->fd, &to, (size_t)size,
                                0);
        if (n < 0 && by_system && errno == EINTR)
            continue;
        by_system = n > 0;
        if (n > 0)
            c->done += (uint64_t)n;
        else
            status = copy_piece(c, size, err);
        if (status == GGLD_OK)
            status = tell_progress(c, err);
    }
    return status;
}

static ggld_status take_room(const copying *c, ggld_error *err)
{
    uint64_t size = c->layout.data_offset + c->data_bytes;
    int result = ggld_sys_allocate(c->fd, 0, 0, size);
    if (result == 0 || result == EOPNOTSUPP || result == ENOSYS)
        return GGLD_OK;
    return fail_output(c, result, "no room for the new file", err);
}

static ggld_status copy_data(copying *c, ggld_error *err)
{
    uint64_t block = ggld_edit_block_bytes(c->edit), whole;

    if (share_blocks(c)) {
        /* What is before the first whole block. */
        if (!ggld_align_up(c->data_from, block, &whole))
            return fail_cut(c, err);
        ggld_status status = copy_until(c, whole - c->data_from, err);
        c->done = c->data_bytes;
        return status == GGLD_OK ? tell_progress(c, err) : status;
    }
    ggld_status status = take_room(c, err);
    return status == GGLD_OK ? copy_until(c, c->data_bytes, err) : status;
}

/* ---- the file ---- */

static ggld_status write_metadata(const copying *c, ggld_error *err)
{
    uint8_t *image = ggld_edit_image(c->edit, &c->layout);
    if (image == NULL)
        return ggld_edit_fail_memory(c->layout.image_bytes, err);
    int result = ggld_sys_write(c->fd, image, c->layout.image_bytes, 0);
    ggld_free(&c->edit->allocator, image);
    if (result != 0)
        return fail_output(c, result, "can't write its metadata", err);
    return GGLD_OK;
}

static ggld_status finish_file(copying *c, ggld_error *err)
{
    uint64_t size = c->layout.image_bytes + c->data_bytes;
    int result = ggld_sys_cut(c->fd, size);
    if (result == 0)
        result = ggld_sys_sync(c->fd);
    int fd = c->fd;
    c->fd = -1;
    if (close(fd) != 0 && errno != EINTR && result == 0)
        result = errno;
    if (result != 0)
        return fail_output(c, result, "can't bring it to disk", err);
    /* What was copied is what was opened, all of it. */
    return ggld_file_changed(c->edit->file, err);
}

static ggld_status write_file(copying *c, const char *path, ggld_error *err)
{
    const ggld_edit *edit = c->edit;

    c->data_from = ggld_edit_old_end(edit);
    c->data_bytes = edit->info.file_bytes - c->data_from;
    ggld_status status =
        ggld_target_open(&c->target, path, &edit->allocator, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_target_make_temp(&c->target, &c->fd, err);
    if (status == GGLD_OK)
        status = copy_data(c, err);
    if (status == GGLD_OK)
        status = write_metadata(c, err);
    if (status == GGLD_OK)
        status = finish_file(c, err);
    if (status == GGLD_OK)
        status = ggld_target_commit(&c->target, err);
    if (c->fd >= 0)
        close(c->fd);
    ggld_target_close(&c->target);
    return status;
}

/* Is there, under that name, the file that was opened? */
static bool is_own(const ggld_edit *edit, const char *path)
{
    struct stat own, other;
    return fstat(edit->fd, &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static ggld_status check_path(const ggld_edit *edit, const char *path,
                              ggld_error *err)
{
    if (path != NULL && is_own(edit, path))
        return ggld_fail(err, GGLD_E_INVALID, ggld_in_file(),
                         "the output is the file that is edited: give no "
                         "output, and it is replaced");
    if (path == NULL && !is_own(edit, edit->path))
        return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                         "file: it was replaced or removed under its name");
    return GGLD_OK;
}

ggld_status ggld_edit_write(ggld_edit *edit, const char *path, ggld_error *err)
{
    copying c = { .edit = edit, .fd = -1 };

    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK)
        status = check_path(edit, path, err);
    if (status != GGLD_OK)
        return status;
    edit->spent = true;
    if (path == NULL && ggld_edit_is_nothing(edit))
        return GGLD_OK;
    status = ggld_edit_settle(edit, false, &c.layout, err);
    if (status == GGLD_OK)
        status = ggld_edit_judge_layout(edit, &c.layout, err);
    if (status == GGLD_OK)
        status = write_file(&c, path != NULL ? path : edit->path, err);
    ggld_free(&edit->allocator, c.buffer);
    return status;
}
