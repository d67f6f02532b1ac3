/* SPDX-License-Identifier: MIT */
/* Is a file still what was opened? base/stamp.h has the rule. */
#include <errno.h>
#include <sys/stat.h>

#include "../base/error.h"
#include "file.h"
#include "set.h"
#include "source.h"

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
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
    return ggld_stamp_compare(&then, &now, "file", err);
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
