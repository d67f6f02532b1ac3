/* SPDX-License-Identifier: MIT */
/* See stamp.h. */
#include "stamp.h"

#include <inttypes.h>
#include <stdbool.h>

static bool time_same(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

ggld_stamp ggld_stamp_of(const struct stat *st)
{
    ggld_stamp stamp = { (uint64_t)st->st_size, st->st_nlink, st->st_mtim,
                         st->st_ctim };
    return stamp;
}

static ggld_status fail(const char *name, const char *what, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED,
                     ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0), "%s: %s",
                     name, what);
}

ggld_status ggld_stamp_compare(const ggld_stamp *then, const ggld_stamp *now,
                               const char *name, ggld_error *err)
{
    if (now->size != then->size)
        return ggld_fail(
            err, GGLD_E_CHANGED, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
            "%s: %s since it was opened: it has %" PRIu64
            " bytes now, and had %" PRIu64,
            name, now->size < then->size ? "was truncated" : "has grown",
            now->size, then->size);
    if (!time_same(now->content, then->content))
        return fail(name, "was written to since it was opened", err);
    if (now->n_names == 0 && then->n_names != 0)
        return fail(name,
                    "was removed, or replaced under its name, since it was "
                    "opened; what is open is the old one, whole",
                    err);
    if (!time_same(now->inode, then->inode))
        return fail(name,
                    "its inode was changed since it was opened (its names, "
                    "owner, mode or times)",
                    err);
    return GGLD_OK;
}
