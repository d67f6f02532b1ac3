/* SPDX-License-Identifier: MIT */
/* Finding the journal that an interrupted edit has left, and ending what it
 * speaks of. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/open.h"
#include "../base/quote.h"
#include "alone.h"
#include "edit.h"
#include "journal.h"
#include "sys.h"

typedef struct remains {
    ggld_allocator allocator;
    int fd;
    ggld_beside beside;
    ggld_journal journal;
    bool found;
} remains;

static ggld_status open_remains(remains *r, const char *path, int how,
                                ggld_error *err)
{
    struct stat st;

    r->allocator = ggld_allocator_of(NULL);
    r->beside.folder_fd = -1;
    r->journal.memory = NULL;
    r->found = false;
    r->fd = ggld_sys_open(AT_FDCWD, path, how | O_NONBLOCK, 0);
    if (r->fd < 0 || fstat(r->fd, &st) != 0)
        return ggld_fail_errno(
            err, errno, ggld_in_file(), "file: opening it%s%s",
            how == O_RDWR ? " to write in place" : "", ggld_open_hint(errno));
    return ggld_beside_open(&r->beside, path, &st, err);
}

static void close_remains(remains *r)
{
    int saved = errno;
    ggld_journal_free(&r->journal, &r->allocator);
    ggld_beside_close(&r->beside);
    if (r->fd >= 0)
        close(r->fd);
    errno = saved;
}

/* Someone is at it now, and will end it himself. */
static bool is_at_work(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
        (void)flock(fd, LOCK_UN);
        return false;
    }
    return errno == EWOULDBLOCK;
}

static void tell_rest(const remains *r, ggld_edit_trace *out, ggld_error *why)
{
    *out = GGLD_EDIT_REST;
    ggld_fail(why, GGLD_E_INVALID, ggld_in_file(),
              "file: an edit in place was interrupted before it changed "
              "anything; the rest of its journal, %s, is harmless, and goes "
              "with the next edit or 'ggld edit --recover'",
              ggld_quote(r->beside.fresh, strlen(r->beside.fresh)).text);
}

static ggld_status look(remains *r, bool any_device, ggld_edit_trace *out,
                        ggld_error *why, ggld_error *err)
{
    ggld_error damage;

    *out = GGLD_EDIT_CLEAN;
    ggld_status status = ggld_journal_load(&r->journal, &r->beside,
                                           &r->allocator, &r->found, &damage);
    if (status == GGLD_E_CHECKSUM) {
        *out = GGLD_EDIT_STRANGE;
        if (why != NULL)
            *why = damage;
        return GGLD_OK;
    }
    if (status != GGLD_OK && err != NULL)
        *err = damage;
    if (status != GGLD_OK)
        return status;
    if (!r->found) {
        if (ggld_journal_has_rest(&r->beside))
            tell_rest(r, out, why);
        return GGLD_OK;
    }
    return ggld_journal_compare(&r->journal, r->fd, &r->allocator, any_device,
                                out, why, err);
}

ggld_status ggld_edit_pending(const char *path, ggld_edit_trace *out,
                              ggld_error *why, ggld_error *err)
{
    ggld_edit_trace trace = GGLD_EDIT_CLEAN;
    remains r;

    if (path == NULL || out == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_edit_pending: path or out is NULL");
    ggld_status status = open_remains(&r, path, O_RDONLY, err);
    if (status == GGLD_OK && r.beside.has_room)
        status = look(&r, false, &trace, why, err);
    if (status == GGLD_OK && trace != GGLD_EDIT_CLEAN && is_at_work(r.fd))
        ggld_fail(why, GGLD_E_INVALID, ggld_in_file(),
                  "file: an edit in place is going on");
    close_remains(&r);
    if (status == GGLD_OK)
        *out = trace;
    return status;
}

/* ---- ending it ---- */

/* Nothing is applied, and so the file has to be neither writable nor alone: only
 * who is writing a journal right now is left to it. */
static ggld_status remove_rest(const char *path, ggld_edit_trace *found,
                               ggld_error *err)
{
    remains r;

    *found = GGLD_EDIT_CLEAN;
    ggld_status status = open_remains(&r, path, O_RDONLY, err);
    if (status == GGLD_OK &&
        (flock(r.fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)) {
        status = ggld_journal_drop_rest(&r.beside, err);
        *found = GGLD_EDIT_REST;
        (void)flock(r.fd, LOCK_UN);
    }
    close_remains(&r);
    return status;
}

static ggld_status end(const remains *r, ggld_edit_trace trace, ggld_error *err)
{
    int result = 0;

    if (trace == GGLD_EDIT_HALFWAY)
        result = ggld_journal_finish(&r->journal, r->fd);
    if (result == ENOSPC || result == EDQUOT)
        result = ggld_journal_undo(&r->journal, r->fd);
    if (trace == GGLD_EDIT_SHIFTED)
        result = ggld_journal_unshift(&r->journal, r->fd);
    /* Untouched or done: as it was read, but maybe not on disk yet. */
    if (result == 0)
        result = ggld_sys_sync(r->fd);
    if (result == 0)
        return ggld_journal_drop(&r->beside, "all is done", err);
    return ggld_fail_errno(err, result, ggld_in_file(),
                           "file: the edit can't be ended; its journal "
                           "remains");
}

static ggld_status recover(remains *r, uint32_t flags, ggld_edit_trace *found,
                           ggld_error *err)
{
    bool force = (flags & GGLD_EDIT_FORCE) != 0;
    ggld_alone alone;
    ggld_error why;

    ggld_status status = ggld_alone_take(&alone, r->fd, force, err);
    if (status != GGLD_OK)
        return status;
    status = look(r, force, found, &why, err);
    if (status == GGLD_OK && *found == GGLD_EDIT_STRANGE) {
        status = why.code;
        if (err != NULL)
            *err = why;
    } else if (status == GGLD_OK && *found != GGLD_EDIT_CLEAN) {
        status = end(r, *found, err);
    }
    ggld_alone_give(&alone);
    return status;
}

ggld_status ggld_edit_recover(const char *path, uint32_t flags,
                              ggld_edit_trace *found, ggld_error *err)
{
    ggld_edit_trace trace = GGLD_EDIT_CLEAN;
    remains r;

    if (path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the path is NULL");
    if ((flags & ~GGLD_EDIT_FORCE) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_edit_recover: flags 0x%" PRIx32 " are not known",
                         flags & ~GGLD_EDIT_FORCE);
    /* Where there is nothing to end, nothing has to be writable or alone. */
    ggld_status status = ggld_edit_pending(path, &trace, NULL, err);
    if (status == GGLD_OK && trace == GGLD_EDIT_REST) {
        status = remove_rest(path, &trace, err);
    } else if (status == GGLD_OK && trace != GGLD_EDIT_CLEAN) {
        status = open_remains(&r, path, O_RDWR, err);
        if (status == GGLD_OK)
            status = recover(&r, flags, &trace, err);
        close_remains(&r);
    }
    if (status == GGLD_OK && found != NULL)
        *found = trace;
    return status;
}
