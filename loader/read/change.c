/* SPDX-License-Identifier: MIT */
/* Is a file still what was opened? Told by its descriptor alone: a file that is
 * replaced by rename loses its last name, and keeps its bytes. */
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "../base/error.h"
#include "file.h"
#include "set.h"
#include "source.h"

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

static bool time_same(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static ggld_status compare(const ggld_stamp *then, const ggld_stamp *now,
                           ggld_error *err)
{
    if (now->size != then->size)
        return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                         "file: %s since it was opened: it has %" PRIu64
                         " bytes now, and had %" PRIu64,
                         now->size < then->size ? "was truncated" : "has grown",
                         now->size, then->size);
    if (!time_same(now->content, then->content))
        return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                         "file: was written to since it was opened");
    if (now->n_names == 0 && then->n_names != 0)
        return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                         "file: was removed, or replaced under its name, since "
                         "it was opened; what is open is the old one, whole");
    if (!time_same(now->inode, then->inode))
        return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                         "file: its inode was changed since it was opened (its "
                         "names, owner, mode or times)");
    return GGLD_OK;
}

static ggld_status one_changed(const ggld_file *file, ggld_error *err)
{
    ggld_stamp then, now;
    struct stat st;
    uint64_t offset;
    int fd = ggld_source_fd(&file->source, &offset);

    if (fd < 0 || !ggld_source_stamp(&file->source, &then))
        return ggld_fail(err, GGLD_E_UNSUPPORTED, in_file(),
                         "file: its bytes are the app's, not a file's; only "
                         "the app can know whether they have changed");
    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, in_file(), "file: fstat");
    now = ggld_stamp_of(&st);
    return compare(&then, &now, err);
}

ggld_status ggld_file_changed(const ggld_file *file, ggld_error *err)
{
    for (uint32_t i = 0; i < file->n_shards; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        ggld_status status = one_changed(shard, err);
        if (status != GGLD_OK) {
            ggld_set_blame(shard, err);
            return status;
        }
    }
    return GGLD_OK;
}
