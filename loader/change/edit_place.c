/* SPDX-License-Identifier: MIT */
/* An edit in place: refused or planned, journalled, done, and the journal
 * removed. What fails on the way is undone; what can't be undone stays
 * journalled. */
#include <errno.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/stat.h>

#include "alone.h"
#include "edit.h"
#include "journal.h"
#include "sys.h"

#define AS_IT_WAS "the file is as it was"

typedef struct place {
    ggld_edit *edit;
    ggld_edit_layout layout;
    ggld_beside beside;
    ggld_journal journal;
    struct stat st;
    uint8_t *new_image;
} place;

/* ---- before ---- */

static ggld_status fill_journal(place *p, ggld_error *err)
{
    const ggld_edit *edit = p->edit;
    const ggld_gap none = { 0, 0 };
    ggld_journal *j = &p->journal;

    j->device = p->st.st_dev;
    j->inode = p->st.st_ino;
    j->file_bytes = edit->info.file_bytes;
    j->inserted_bytes = p->layout.inserted_bytes;
    j->old_bytes = ggld_edit_old_end(edit);
    j->new_bytes = p->layout.image_bytes;
    j->new_image = p->new_image;
    int result = ggld_journal_sample(edit->fd, j->old_bytes, j->file_bytes,
                                     &none, &j->data_digest);
    if (result != 0)
        return ggld_fail_errno(err, result, ggld_in_file(),
                               "file: reading it, for the journal");
    return GGLD_OK;
}

static ggld_status prepare(place *p, ggld_error *err)
{
    ggld_edit *edit = p->edit;

    ggld_status status = ggld_edit_settle(edit, true, &p->layout, err);
    if (status != GGLD_OK)
        return status;
    p->new_image = ggld_edit_image(edit, &p->layout);
    if (p->new_image == NULL)
        return ggld_edit_fail_memory(p->layout.image_bytes, err);
    status = ggld_edit_judge(edit, p->new_image, &p->layout, err);
    if (status == GGLD_OK)
        status = ggld_file_changed(edit->file, err);
    if (status != GGLD_OK)
        return status;
    if (fstat(edit->fd, &p->st) != 0)
        return ggld_fail_errno(err, errno, ggld_in_file(), "file: fstat");
    status = ggld_beside_open(&p->beside, edit->path, &p->st, err);
    if (status == GGLD_OK)
        status = ggld_beside_expect_room(&p->beside, err);
    if (status == GGLD_OK)
        status = fill_journal(p, err);
    return status;
}

/* ---- the steps ---- */

/* By the journal, which is the one place that has the old metadata. */
static ggld_status bring_back(const place *p)
{
    const ggld_allocator *a = &p->edit->allocator;
    ggld_journal journal;
    bool found;

    ggld_status status =
        ggld_journal_load(&journal, &p->beside, a, &found, NULL);
    if (status != GGLD_OK || !found)
        return GGLD_E_IO;
    if (ggld_journal_undo(&journal, p->edit->fd) != 0)
        status = GGLD_E_IO;
    ggld_journal_free(&journal, a);
    return status == GGLD_OK ? ggld_journal_drop(&p->beside, AS_IT_WAS, NULL)
                             : status;
}

/* sys_errno ended it; the file is brought back, and the journal removed. */
static ggld_status go_back(const place *p, int sys_errno, const char *what,
                           ggld_error *err)
{
    const char *end = "it is as it was";

    if (bring_back(p) != GGLD_OK)
        end = "and it can't be brought back now: the journal beside it remains "
              "(ggld edit --recover)";
    return ggld_fail_errno(err, sys_errno, ggld_in_file(), "file: %s, %s", what,
                           end);
}

static bool is_not_offered(int sys_errno)
{
    return sys_errno == EOPNOTSUPP || sys_errno == EINVAL ||
           sys_errno == ENOSYS || sys_errno == ETXTBSY;
}

/* What the file system did not do at all needs no undoing. */
static ggld_status make_room(const place *p, ggld_error *err)
{
    int result = ggld_sys_allocate(p->edit->fd, FALLOC_FL_INSERT_RANGE, 0,
                                   p->journal.inserted_bytes);
    if (result == 0)
        result = ggld_sys_sync(p->edit->fd);
    if (result == 0)
        return GGLD_OK;
    struct stat st;
    if (fstat(p->edit->fd, &st) != 0 ||
        (uint64_t)st.st_size != p->journal.file_bytes)
        return go_back(p, result,
                       "room for the metadata was made, but not kept", err);
    ggld_status status = ggld_journal_drop(&p->beside, AS_IT_WAS, err);
    if (status != GGLD_OK)
        return status;
    if (is_not_offered(result))
        return ggld_edit_fail_room(p->edit, &p->layout, err);
    return ggld_fail_errno(err, result, ggld_in_file(),
                           "file: room for %" PRIu64
                           " bytes can't be made; it is as it was",
                           p->journal.inserted_bytes);
}

/* Once the journal has its name, the edit is ended, or undone, and not
 * stopped. */
static ggld_status ask(const place *p, bool written, ggld_error *err)
{
    const ggld_edit *edit = p->edit;
    uint64_t size = p->journal.old_bytes + p->journal.new_bytes;

    if (edit->progress == NULL ||
        edit->progress(written ? size : 0, size, edit->progress_user) == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "cancelled: nothing was changed");
}

static ggld_status save(const place *p, ggld_error *err)
{
    ggld_status status = ask(p, false, err);
    if (status == GGLD_OK)
        status = ggld_journal_write(&p->journal, &p->beside, p->edit->fd,
                                    &p->st, err);
    if (status != GGLD_OK)
        return status;
    status = ask(p, true, err);
    if (status == GGLD_OK)
        return ggld_journal_name(&p->beside, err);
    ggld_journal_forget(&p->beside);
    return status;
}

static ggld_status run(place *p, ggld_error *err)
{
    ggld_status status = save(p, err);
    if (status == GGLD_OK && p->journal.inserted_bytes != 0)
        status = make_room(p, err);
    if (status != GGLD_OK)
        return status;
    int result = ggld_journal_finish(&p->journal, p->edit->fd);
    if (result != 0)
        return go_back(p, result, "its metadata can't be written", err);
    return ggld_journal_drop(&p->beside, "all is done", err);
}

/* Instead of run: what can be told without writing. */
static ggld_status try_steps(const place *p, ggld_error *err)
{
    ggld_status status = ggld_journal_try(&p->journal, &p->beside, err);
    if (status == GGLD_OK && p->journal.inserted_bytes != 0 &&
        !ggld_sys_can_insert(p->beside.folder_fd,
                             ggld_edit_block_bytes(p->edit)))
        status = ggld_edit_fail_room(p->edit, &p->layout, err);
    return status;
}

static ggld_status edit_alone(ggld_edit *edit, bool only_try, ggld_error *err)
{
    place p = { .edit = edit, .beside.folder_fd = -1 };
    ggld_alone alone;
    bool force = (edit->flags & GGLD_EDIT_FORCE) != 0;

    ggld_status status = ggld_alone_take(&alone, edit->fd, force, err);
    if (status != GGLD_OK)
        return status;
    status = prepare(&p, err);
    if (status == GGLD_OK)
        status = only_try ? try_steps(&p, err) : run(&p, err);
    ggld_alone_give(&alone);
    ggld_beside_close(&p.beside);
    ggld_free(&edit->allocator, p.new_image);
    return status;
}

static ggld_status expect_in_place(const ggld_edit *edit, ggld_error *err)
{
    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK && (edit->flags & GGLD_EDIT_IN_PLACE) == 0)
        status = ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                           "edit: it was not opened with GGLD_EDIT_IN_PLACE");
    return status;
}

ggld_status ggld_edit_try_in_place(ggld_edit *edit, ggld_error *err)
{
    ggld_status status = expect_in_place(edit, err);
    if (status == GGLD_OK && !ggld_edit_is_nothing(edit))
        status = edit_alone(edit, true, err);
    return status;
}

ggld_status ggld_edit_in_place(ggld_edit *edit, ggld_error *err)
{
    ggld_status status = expect_in_place(edit, err);
    if (status != GGLD_OK)
        return status;
    edit->spent = true;
    if (!ggld_edit_is_nothing(edit))
        status = edit_alone(edit, false, err);
    return status;
}
