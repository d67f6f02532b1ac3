/* SPDX-License-Identifier: MIT */
/* The model as it would be, opened before a byte of it is written: the reader
 * judges it, by all its rules. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/structs.h"
#include "../spec/limits.h"
#include "edit.h"
#include "sys.h"

/* The image, and behind it what stands behind the old metadata. */
typedef struct joined {
    ggld_allocator allocator;
    uint8_t *image;
    uint64_t image_bytes;
    uint64_t old_end;
    int fd;
} joined;

static int64_t joined_read(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const joined *j = ctx;
    if (offset < j->image_bytes) {
        n = (size_t)ggld_min_u64(n, j->image_bytes - offset);
        memcpy(dst, j->image + offset, n);
        return (int64_t)n;
    }
    ssize_t got =
        pread(j->fd, dst, n, (off_t)(offset - j->image_bytes + j->old_end));
    return got < 0 ? -(int64_t)errno : (int64_t)got;
}

static void joined_release(void *ctx)
{
    joined *j = ctx;
    ggld_allocator allocator = j->allocator;
    close(j->fd);
    ggld_free(&allocator, j->image);
    ggld_free(&allocator, j);
}

/* The image is the joined file's, on failure too. */
static ggld_status join(const ggld_edit *edit, uint8_t *image,
                        const ggld_edit_layout *layout, joined **out,
                        ggld_error *err)
{
    joined *j = ggld_alloc(&edit->allocator, 1, sizeof *j);
    int fd = j != NULL ? fcntl(edit->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd < 0) {
        int saved = errno;
        ggld_free(&edit->allocator, image);
        ggld_free(&edit->allocator, j);
        return j == NULL ? ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                                     "no memory to look at the new metadata")
                         : ggld_fail_errno(err, saved, ggld_in_file(),
                                           "file: duplicating the descriptor");
    }
    j->allocator = edit->allocator;
    j->image = image;
    j->image_bytes = layout->image_bytes;
    j->old_end = ggld_edit_old_end(edit);
    j->fd = fd;
    *out = j;
    return GGLD_OK;
}

static ggld_status open_joined(const ggld_edit *edit, joined *j, uint32_t flags,
                               ggld_file **out, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_source source = { .struct_size = sizeof source,
                           .pread = joined_read,
                           .release = joined_release,
                           .ctx = j };

    source.size_bytes =
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is set. */
        j->image_bytes + (edit->info.file_bytes - ggld_edit_old_end(edit));
    options.allocator = &edit->allocator;
    options.flags = flags;
    ggld_status status = ggld_open_source(out, &source, &options, err);
    if (status != GGLD_OK)
        joined_release(j);
    return status;
}

static ggld_status open_image(const ggld_edit *edit,
                              const ggld_edit_layout *layout, uint32_t flags,
                              ggld_file **out, ggld_error *err)
{
    joined *j = NULL;
    uint8_t *image = ggld_edit_image(edit, layout);
    if (image == NULL)
        return ggld_edit_fail_memory(layout->image_bytes, err);
    ggld_status status = join(edit, image, layout, &j, err);
    if (status != GGLD_OK || j == NULL)
        return status;
    return open_joined(edit, j, flags, out, err);
}

ggld_status ggld_edit_fail_memory(uint64_t size, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory for %" PRIu64 " bytes of metadata", size);
}

/* ---- judging ---- */

/* The records alone, where they are in memory. Where data lies was judged when
 * the old file was opened, and does not change. */
static ggld_status open_records(const ggld_edit *edit, const uint8_t *image,
                                const ggld_edit_layout *layout, uint32_t flags,
                                ggld_file **out, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();

    options.flags = GGLD_OPEN_METADATA | flags;
    options.allocator = &edit->allocator;
    return ggld_open_memory(out, image, (size_t)layout->image_bytes, &options,
                            err);
}

/* Another alignment would have all data lie elsewhere. */
static ggld_status check_alignment(const ggld_edit *edit, const ggld_file *now,
                                   ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };

    ggld_file_get_info(now, &info);
    if (info.alignment_bytes == edit->info.alignment_bytes)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_ALIGNMENT, ggld_in_file(),
                     "'general.alignment': it would become %" PRIu64
                     " where it is %" PRIu64
                     ", and tensors would have to lie elsewhere: it can't be "
                     "edited",
                     info.alignment_bytes, edit->info.alignment_bytes);
}

static ggld_status check_places(const ggld_edit *edit, const ggld_file *now,
                                const ggld_edit_layout *layout, ggld_error *err)
{
    for (uint64_t i = 0; i < edit->n_tensors; i++) {
        ggld_tensor_info a = { .struct_size = sizeof a }, b = a;
        ggld_tensor_get_info(ggld_tensor_at(edit->file, i), &a);
        ggld_tensor_get_info(ggld_tensor_at(now, i), &b);
        if (b.file_offset_bytes - layout->data_offset ==
                a.file_offset_bytes - edit->data_offset &&
            b.type == a.type && b.n_elems == a.n_elems)
            continue;
        return ggld_fail(err, GGLD_E_INVALID,
                         ggld_place_of(GGLD_IN_TENSOR_INFO, i, 0),
                         "tensor %" PRIu64 ": its data would not be where it "
                         "is",
                         i);
    }
    return GGLD_OK;
}

static bool takes_strictly(const ggld_edit *edit)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;

    options.flags = GGLD_OPEN_STRICT | GGLD_OPEN_METADATA;
    options.allocator = &edit->allocator;
    if (ggld_open_fd(&file, edit->fd, &options, NULL) != GGLD_OK)
        return false;
    ggld_close(file);
    return true;
}

/* What ggml takes, ggml shall go on taking. */
static ggld_status check_strictly(const ggld_edit *edit, const uint8_t *image,
                                  const ggld_edit_layout *layout,
                                  ggld_error *err)
{
    ggld_file *file = NULL;
    ggld_status status =
        open_records(edit, image, layout, GGLD_OPEN_STRICT, &file, err);
    if (status == GGLD_OK)
        ggld_close(file);
    else if (status != GGLD_E_NOMEM && !takes_strictly(edit))
        status = GGLD_OK;
    return status;
}

ggld_status ggld_edit_judge(ggld_edit *edit, const uint8_t *image,
                            const ggld_edit_layout *layout, ggld_error *err)
{
    ggld_file *file = NULL;
    ggld_error why;

    if (edit->judged)
        return GGLD_OK;
    ggld_status status = open_records(edit, image, layout, 0, &file, err);
    if (status != GGLD_OK)
        return status;
    status = check_alignment(edit, file, err);
    if (status == GGLD_OK)
        status = check_places(edit, file, layout, err);
    ggld_close(file);
    if (status == GGLD_OK) {
        status = check_strictly(edit, image, layout, &why);
        if (status != GGLD_OK && err != NULL)
            *err = why;
    }
    if (status == GGLD_OK)
        status = ggld_edit_judge_set(edit, err);
    edit->judged = status == GGLD_OK;
    return status;
}

/* ---- what would come of it ---- */

uint64_t ggld_edit_block_bytes(const ggld_edit *edit)
{
    return ggld_sys_block_bytes(edit->fd);
}

ggld_status ggld_edit_fail_room(const ggld_edit *edit,
                                const ggld_edit_layout *layout, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_in_file(),
                     "file: no room in place: the new metadata takes %" PRIu64
                     " bytes, %" PRIu64
                     " are there before the data, and none can be inserted; "
                     "write a new file",
                     layout->base_bytes, ggld_edit_old_end(edit));
}

/* What it was there for is there still. */
static ggld_status fail_padding(const ggld_edit_layout *layout, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_in_file(),
                     "file: '" GGLD_KEY_PADDING "' can't be removed in place: "
                     "the data begins at %" PRIu64 ", and the metadata alone "
                     "would end at %" PRIu64 "; write a new file",
                     layout->data_offset, layout->base_bytes);
}

/* Room was to go, and would be made again. */
static bool is_kept_padding(const ggld_edit *edit,
                            const ggld_edit_layout *layout)
{
    uint64_t ignored;

    return layout->padded && edit->reserve_bytes == 0 &&
           ggld_kv_find(edit->file, GGLD_KEY_PADDING) != NULL &&
           !ggld_edit_old_padding(edit, &ignored);
}

static ggld_status fail_long(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_OVERFLOW, ggld_in_file(),
                     "file: it would be longer than any file can be");
}

ggld_status ggld_edit_settle(const ggld_edit *edit, bool in_place,
                             ggld_edit_layout *layout, ggld_error *err)
{
    if (!in_place)
        return ggld_edit_layout_new(edit, layout) ? GGLD_OK : fail_long(err);
    if (!ggld_edit_layout_in_place(edit, true, ggld_edit_block_bytes(edit),
                                   layout))
        return ggld_edit_fail_room(edit, layout, err);
    return is_kept_padding(edit, layout) ? fail_padding(layout, err) : GGLD_OK;
}

bool ggld_edit_is_nothing(const ggld_edit *edit)
{
    uint64_t padding = 0;

    if (ggld_edit_n_changed(edit) != 0)
        return false;
    return edit->reserve_bytes == 0 || (ggld_edit_old_padding(edit, &padding) &&
                                        padding >= edit->reserve_bytes);
}

ggld_status ggld_edit_judge_layout(ggld_edit *edit,
                                   const ggld_edit_layout *layout,
                                   ggld_error *err)
{
    if (edit->judged)
        return GGLD_OK;
    uint8_t *image = ggld_edit_image(edit, layout);
    if (image == NULL)
        return ggld_edit_fail_memory(layout->image_bytes, err);
    ggld_status status = ggld_edit_judge(edit, image, layout, err);
    ggld_free(&edit->allocator, image);
    return status;
}

ggld_status ggld_edit_plan_of(ggld_edit *edit, ggld_edit_plan *out,
                              ggld_error *err)
{
    ggld_edit_plan plan = { .struct_size = sizeof plan };
    ggld_edit_layout in_place, layout;

    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK)
        status = ggld_edit_settle(edit, false, &layout, err);
    if (status == GGLD_OK)
        status = ggld_edit_judge_layout(edit, &layout, err);
    if (status != GGLD_OK)
        return status;
    plan.n_changed = ggld_edit_n_changed(edit);
    plan.n_unseen_shards = edit->n_unseen;
    plan.old_data_bytes = edit->data_offset;
    plan.needed_bytes = layout.base_bytes;
    plan.new_file_bytes =
        layout.image_bytes + edit->info.file_bytes - ggld_edit_old_end(edit);
    if (ggld_edit_is_nothing(edit)) {
        plan.in_place = GGLD_EDIT_NOTHING;
        plan.new_data_bytes = edit->data_offset;
    } else if (ggld_edit_settle(edit, true, &in_place, &plan.reason) !=
               GGLD_OK) {
        plan.in_place = GGLD_EDIT_NO_ROOM;
    } else {
        plan.in_place =
            in_place.inserted_bytes != 0 ? GGLD_EDIT_INSERTS : GGLD_EDIT_FITS;
        plan.new_data_bytes = in_place.data_offset;
        plan.padding_bytes = in_place.padding_bytes;
    }
    ggld_struct_give(out, &plan, sizeof plan);
    return GGLD_OK;
}

ggld_status ggld_edit_preview(const ggld_edit *edit, bool in_place,
                              ggld_file **out, ggld_error *err)
{
    ggld_edit_layout layout;

    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK)
        status = ggld_edit_settle(edit, in_place, &layout, err);
    if (status == GGLD_OK)
        status = open_image(edit, &layout, 0, out, err);
    return status;
}
