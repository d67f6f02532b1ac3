/* SPDX-License-Identifier: MIT */
/* ggld_merge: a set rewritten as one file, and its shards removed where that is
 * asked for. */
#include <ggld/shards.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "../base/structs.h"
#include "merge.h"
#include "rewrite.h"

#define KNOWN_FLAGS (GGLD_MERGE_COMPARE | GGLD_MERGE_DELETE)

ggld_status ggld_merge_take_options(const ggld_merge_options *options,
                                    ggld_merge_options *o, uint32_t known_flags,
                                    ggld_error *err)
{
    *o = ggld_merge_options_init();
    if (options == NULL)
        return GGLD_OK;
    ggld_status status = ggld_struct_take(
        "ggld_merge_options", options, offsetof(ggld_merge_options, reserved),
        o, sizeof *o, err);
    if (status == GGLD_OK)
        status = ggld_struct_check(
            "ggld_merge_options", o->flags & ~known_flags,
            o->reserved32 == 0 &&
                ggld_all_zero(o->reserved, sizeof o->reserved),
            err);
    return status;
}

/* What a file that is open alone says of the set that it is of. */
ggld_status ggld_merge_check_set(const ggld_file *file, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    const ggld_kv *kv = ggld_kv_find(file, GGLD_KEY_SPLIT_COUNT);
    uint64_t count = 0;

    ggld_file_get_info(file, &info);
    if (info.n_shards > 1 ||
        (kv != NULL && ggld_kv_get_u64(kv, &count) && count <= 1))
        return GGLD_OK;
    if (kv == NULL)
        return ggld_fail(err, GGLD_E_INVALID,
                         ggld_place_of(GGLD_IN_KV, GGLD_NO_INDEX, 0),
                         "it has no '" GGLD_KEY_SPLIT_COUNT
                         "': it is a whole model, and no shard");
    return ggld_fail(err, GGLD_E_INVALID,
                     ggld_place_of(GGLD_IN_KV, GGLD_NO_INDEX, 0),
                     "it is one of %" PRIu64
                     " shards, opened alone: open it with the others",
                     count);
}

/* ---- removal ---- */

static ggld_status fail_remove(const char *path, int sys_errno, ggld_error *err)
{
    return ggld_fail_errno(err, sys_errno,
                           ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                           "the output is there, but shard %s can't be removed",
                           ggld_quote(path, strlen(path)).text);
}

/* Under its path is still the file that was read? */
static bool is_at(const ggld_file *shard, const char *path)
{
    ggld_backing backing = { .struct_size = sizeof backing };
    struct stat open_one, named;

    ggld_file_get_backing(shard, &backing);
    return backing.fd >= 0 && fstat(backing.fd, &open_one) == 0 &&
           fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static ggld_status remove_shards(const ggld_file *set, ggld_error *err)
{
    const ggld_file *shard;

    for (uint32_t i = 0; (shard = ggld_file_shard(set, i)) != NULL; i++) {
        const char *path = ggld_file_path(shard);
        if (path == NULL || !is_at(shard, path))
            return ggld_fail(err, GGLD_E_CHANGED,
                             ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                             "the output is there, but shard %" PRIu32
                             " is a link, or is not where it was opened: it "
                             "is not removed",
                             i + 1);
        if (unlinkat(AT_FDCWD, path, 0) != 0)
            return fail_remove(path, errno, err);
    }
    return GGLD_OK;
}

ggld_status ggld_merge(const ggld_file *file, const char *path,
                       const ggld_merge_options *options, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_merge_options o;

    ggld_status status = ggld_merge_take_options(options, &o, KNOWN_FLAGS, err);
    if (status != GGLD_OK)
        return status;
    if (file == NULL || path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "the %s is NULL",
                         file == NULL ? "file" : "path");
    status = ggld_merge_check_set(file, err);
    if (status != GGLD_OK)
        return status;
    ggld_file_get_info(file, &info);
    ggld_rewrite r = { .in = file,
                       .drop_split = true,
                       .big_endian = info.big_endian,
                       .compare = o.flags != 0,
                       .meter = { .call = o.progress,
                                  .user = o.progress_user } };
    status = ggld_rewrite_run(&r, path, err);
    if (status == GGLD_OK && (o.flags & GGLD_MERGE_DELETE) != 0)
        status = remove_shards(file, err);
    return status;
}
