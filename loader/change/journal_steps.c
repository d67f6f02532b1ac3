/* SPDX-License-Identifier: MIT */
/* What a journal is for: telling how far an edit came, and going on from there
 * or back.
 *
 * Room is made at the very start of the file, in front of the old metadata.
 * Until the new metadata is written the file then begins with zeros, which
 * nothing takes for a model, and the old metadata stands behind them, whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <string.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "edit.h"
#include "journal.h"
#include "sys.h"

/* ---- telling ---- */

/* What byte i was when room had been made and nothing been written. */
static uint8_t before(const ggld_journal *j, uint64_t i)
{
    return i < j->inserted_bytes ? 0 : j->old_image[i - j->inserted_bytes];
}

/* Old, new, or some bytes of each: writes that were cut short anywhere, pages
 * that came to disk in any order. */
static ggld_edit_trace compare_bytes(const ggld_journal *j,
                                     const uint8_t *bytes)
{
    bool old = true, new = true;

    for (uint64_t i = 0; i < j->new_bytes; i++) {
        bool is_old = bytes[i] == before(j, i);
        bool is_new = bytes[i] == j->new_image[i];
        if (!is_old && !is_new)
            return GGLD_EDIT_STRANGE;
        old = old && is_old;
        new = new &&is_new;
    }
    if (new)
        return GGLD_EDIT_DONE;
    return old && j->inserted_bytes == 0 ? GGLD_EDIT_UNTOUCHED
                                         : GGLD_EDIT_HALFWAY;
}

static bool all_zero(const uint8_t *bytes, uint64_t size)
{
    uint64_t i = 0;
    while (i < size && bytes[i] == 0)
        i++;
    return i == size;
}

/* The file system moves the end first, and then what is before it. Where it did
 * not come to the start, that is as it was, up to some place; there a hole is,
 * and behind it the rest. */
static bool is_moved_in_part(const ggld_journal *j, const uint8_t *bytes)
{
    uint64_t at = 0, hole = j->inserted_bytes;

    while (at < j->old_bytes && bytes[at] == j->old_image[at])
        at++;
    if (at == j->old_bytes)
        return true;
    return at != 0 && all_zero(bytes + at, hole) &&
           memcmp(bytes + at + hole, j->old_image + at,
                  (size_t)(j->old_bytes - at)) == 0;
}

/* bytes: new_bytes of a file that has grown, old_bytes of one that has not. */
static ggld_edit_trace tell(const ggld_journal *j, uint64_t file_bytes,
                            const uint8_t *bytes)
{
    if (j->inserted_bytes == 0)
        return compare_bytes(j, bytes);
    if (file_bytes != j->file_bytes) {
        ggld_edit_trace trace = compare_bytes(j, bytes);
        return trace != GGLD_EDIT_DONE && is_moved_in_part(j, bytes)
                   ? GGLD_EDIT_SHIFTED
                   : trace;
    }
    return memcmp(bytes, j->old_image, (size_t)j->old_bytes) == 0
               ? GGLD_EDIT_UNTOUCHED
               : GGLD_EDIT_STRANGE;
}

static ggld_status fail_strange(const char *what, ggld_error *why)
{
    return ggld_fail(why, GGLD_E_CHANGED, ggld_in_file(),
                     "file: there is the journal of an edit in place beside "
                     "it, which is not applied: %s; check the file, and remove "
                     "the journal if the file is as it should be",
                     what);
}

/* false, and *why: the journal is of another file, or the file was changed. */
static bool fits(const ggld_journal *j, const struct stat *st, bool any_device,
                 ggld_error *why)
{
    uint64_t size = (uint64_t)st->st_size;

    if (j->inode != st->st_ino)
        fail_strange("it is of another file, with another inode", why);
    else if (size != j->file_bytes && size != j->file_bytes + j->inserted_bytes)
        fail_strange("the file has another size", why);
    else if (j->device != st->st_dev && !any_device)
        fail_strange("it is of a file on another device (--force takes it, "
                     "where disks have changed places)",
                     why);
    else
        return true;
    return false;
}

static const char *explain(ggld_edit_trace trace)
{
    switch (trace) {
    case GGLD_EDIT_UNTOUCHED:
        return "before it had changed anything";
    case GGLD_EDIT_HALFWAY:
        return "halfway: its metadata is not whole, its data is as it was";
    case GGLD_EDIT_DONE:
        return "after it had written everything";
    default:
        return "while the file system was moving the data";
    }
}

static const char *ending(ggld_edit_trace trace)
{
    switch (trace) {
    case GGLD_EDIT_HALFWAY:
        return "finishes it";
    case GGLD_EDIT_SHIFTED:
        return "undoes it";
    default:
        return "removes its journal";
    }
}

/* The data behind the metadata, as far as samples tell. */
static int compare_data(const ggld_journal *j, int fd, uint64_t file_bytes,
                        bool *same)
{
    uint64_t moved = file_bytes - j->file_bytes, digest = 0;
    const ggld_gap none = { 0, 0 };
    int result = ggld_journal_sample(fd, j->old_bytes + moved, file_bytes,
                                     &none, &digest);
    *same = digest == j->data_digest;
    return result;
}

static int compare_file(const ggld_journal *j, int fd, uint64_t file_bytes,
                        uint8_t *bytes, ggld_edit_trace *out)
{
    bool moved = file_bytes != j->file_bytes, same;
    uint64_t size = moved ? j->new_bytes : j->old_bytes;

    int result = ggld_sys_read(fd, bytes, size, 0);
    if (result != 0)
        return result;
    *out = tell(j, file_bytes, bytes);
    if (*out == GGLD_EDIT_SHIFTED)
        return 0;
    result = compare_data(j, fd, file_bytes, &same);
    /* What looks as the new metadata may be the old, and data that was moved. */
    if (!same)
        *out = *out == GGLD_EDIT_DONE && moved && is_moved_in_part(j, bytes)
                   ? GGLD_EDIT_SHIFTED
                   : GGLD_EDIT_STRANGE;
    return result;
}

ggld_status ggld_journal_compare(const ggld_journal *j, int fd,
                                 const ggld_allocator *a, bool any_device,
                                 ggld_edit_trace *out, ggld_error *why,
                                 ggld_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, ggld_in_file(), "file: fstat");
    *out = GGLD_EDIT_STRANGE;
    if (!fits(j, &st, any_device, why))
        return GGLD_OK;
    uint8_t *bytes = ggld_alloc_bytes(a, j->new_bytes);
    if (bytes == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for %" PRIu64 " bytes of metadata",
                         j->new_bytes);
    int result = compare_file(j, fd, (uint64_t)st.st_size, bytes, out);
    ggld_free(a, bytes);
    if (result != 0)
        return ggld_fail_errno(err, result, ggld_in_file(),
                               "file: reading it, to compare it with its "
                               "journal");
    if (*out == GGLD_EDIT_STRANGE)
        fail_strange("the file's bytes are neither those before nor those "
                     "after",
                     why);
    else
        ggld_fail(why, GGLD_E_INVALID, ggld_in_file(),
                  "file: an edit in place was interrupted, %s; 'ggld edit "
                  "--recover' %s",
                  explain(*out), ending(*out));
    return GGLD_OK;
}

/* ---- going on, and back ---- */

/* Room for the new metadata first: writing it must not end halfway. */
int ggld_journal_finish(const ggld_journal *j, int fd)
{
    int result = 0;

    if (j->inserted_bytes != 0)
        result = ggld_sys_allocate(fd, 0, 0, j->inserted_bytes);
    if (result == EOPNOTSUPP || result == ENOSYS)
        result = 0;
    if (result == 0)
        result = ggld_sys_write(fd, j->new_image, j->new_bytes, 0);
    return result != 0 ? result : ggld_sys_sync(fd);
}

int ggld_journal_undo(const ggld_journal *j, int fd)
{
    int result =
        ggld_sys_write(fd, j->old_image, j->old_bytes, j->inserted_bytes);
    if (result == 0)
        result = ggld_sys_sync(fd);
    if (result == 0 && j->inserted_bytes != 0)
        result = ggld_sys_allocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0,
                                   j->inserted_bytes);
    return result != 0 ? result : ggld_sys_sync(fd);
}

/* The one hole of at least that size. false: there is none, or another. */
static bool find_hole(int fd, uint64_t size, uint64_t file_bytes,
                      uint64_t *start)
{
    uint64_t at = 0;
    unsigned n = 0;

    while (at < file_bytes) {
        off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
        if (hole < 0)
            return false;
        off_t data = lseek(fd, hole, SEEK_DATA);
        uint64_t end = data < 0 ? file_bytes : (uint64_t)data;
        if (end - (uint64_t)hole >= size) {
            *start = (uint64_t)hole;
            n++;
        }
        at = end;
    }
    return n == 1;
}

/* Is the file the old one but for the gap? 0, ENOTRECOVERABLE, or why it can't
 * be read. */
static int check_without(const ggld_journal *j, int fd, const ggld_gap *gap)
{
    uint8_t piece[4096];
    uint64_t digest = 0;
    int result = 0;

    for (uint64_t at = 0; at < j->old_bytes && result == 0;
         at += sizeof piece) {
        uint64_t n = ggld_min_u64(sizeof piece, j->old_bytes - at);
        result = ggld_journal_read(fd, piece, n, at, gap);
        if (result == 0 && memcmp(piece, j->old_image + at, (size_t)n) != 0)
            result = ENOTRECOVERABLE;
    }
    if (result == 0)
        result =
            ggld_journal_sample(fd, j->old_bytes, j->file_bytes, gap, &digest);
    if (result == 0 && digest != j->data_digest)
        result = ENOTRECOVERABLE;
    return result;
}

/* The part that was moved goes back over the hole that it has left. */
int ggld_journal_unshift(const ggld_journal *j, int fd)
{
    uint64_t file_bytes = j->file_bytes + j->inserted_bytes, hole = 0;

    if (!find_hole(fd, j->inserted_bytes, file_bytes, &hole))
        return ENOTRECOVERABLE;
    const ggld_gap gap = { hole, j->inserted_bytes };
    int result = check_without(j, fd, &gap);
    if (result != 0)
        return result;
    /* A hole that ends with the file can't be taken out, but cut off. */
    if (hole + j->inserted_bytes >= file_bytes)
        result = ggld_sys_cut(fd, j->file_bytes);
    else
        result = ggld_sys_allocate(fd, FALLOC_FL_COLLAPSE_RANGE, hole,
                                   j->inserted_bytes);
    return result == 0 ? ggld_sys_sync(fd) : result;
}
