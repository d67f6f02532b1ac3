/* SPDX-License-Identifier: MIT */
/* The journal of a merge that consumes its shards: written, found again and
 * dropped. It is locked as long as the merge is at work. */
#include "consume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/folder.h"
#include "../base/quote.h"
#include "content.h"

static ggld_status fail_busy(const ggld_consume *c, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "output %s: another merge into it is at work",
                     ggld_quote(c->place.path, strlen(c->place.path)).text);
}

ggld_status ggld_consume_fail_foreign(const ggld_consume *c, const char *name,
                                      ggld_error *err)
{
    return ggld_fail(err, GGLD_E_INVALID, ggld_in_file(),
                     "output %s: %s is there beside it, and no journal says "
                     "whose it is: it may be all that is left of shards; move "
                     "it away, or remove it if it is of no use",
                     ggld_quote(c->place.path, strlen(c->place.path)).text,
                     ggld_quote(name, strlen(name)).text);
}

uint64_t ggld_consume_prefix_digest(const ggld_consume *c)
{
    const char *path = c->set.path;
    size_t start = c->set.prefix_len;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return ggld_content_number(path + start, c->set.prefix_len - start);
}

ggld_status ggld_consume_save_journal(ggld_consume *c, ggld_error *err)
{
    int result =
        ggld_merge_journal_save(&c->journal, &c->heap, c->place.folder_fd,
                                c->journal_name, c->fresh_name, &c->journal_fd);
    if (result == 0 && !ggld_folder_sync(c->place.folder_fd))
        result = errno;
    if (result == EWOULDBLOCK)
        return fail_busy(c, err);
    if (result == EEXIST)
        return ggld_consume_fail_foreign(c, c->fresh_name, err);
    return result == 0
               ? GGLD_OK
               : ggld_consume_fail(c, result, "can't write its journal", err);
}

static ggld_status check_journal(const ggld_consume *c, ggld_error *err)
{
    if (c->journal.n_shards == c->set.count &&
        c->journal.prefix_digest == ggld_consume_prefix_digest(c))
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "%s is of a merge of %" PRIu32
                     " shards of another model: finish that one first",
                     ggld_quote(c->journal_name, strlen(c->journal_name)).text,
                     c->journal.n_shards);
}

ggld_status ggld_consume_load_journal(ggld_consume *c, bool *found,
                                      ggld_error *err)
{
    int result =
        ggld_merge_journal_load(&c->journal, &c->heap, c->place.folder_fd,
                                c->journal_name, &c->journal_fd);

    *found = result == 0;
    if (result == EWOULDBLOCK)
        return fail_busy(c, err);
    if (result == EBADMSG)
        return ggld_consume_fail(c, result,
                                 "its journal is damaged, or of another "
                                 "version of ggld, which then has to go on",
                                 err);
    if (result != 0 && result != ENOENT)
        return ggld_consume_fail(c, result, "its journal can't be read", err);
    return *found ? check_journal(c, err) : GGLD_OK;
}

uint32_t ggld_consume_n_done(const ggld_consume *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; c->journal.done != NULL && i < c->journal.n_shards;
         i++)
        n += c->journal.done[i] != 0;
    return n;
}

ggld_status ggld_consume_drop_journal(const ggld_consume *c, ggld_error *err)
{
    int fd = c->place.folder_fd;
    if (!ggld_folder_sync(fd) || unlinkat(fd, c->journal_name, 0) != 0)
        return ggld_consume_fail(
            c, errno, "it is there, but its journal can't be removed", err);
    if (!ggld_folder_sync(fd))
        return ggld_consume_fail(
            c, errno, "it is there, but its folder can't be synced", err);
    return GGLD_OK;
}
