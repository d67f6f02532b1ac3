/* SPDX-License-Identifier: MIT */
/* The part of a merge that consumes its shards: known again as the same
 * file or, in a copied folder, by what is in it; named at the end, or taken back. */
#include "consume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/folder.h"
#include "../base/quote.h"
#include "content.h"
#include "sys.h"

bool ggld_consume_is_there(const ggld_consume *c, const char *name)
{
    struct stat st;
    return fstatat(c->place.folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
           errno != ENOENT;
}

ggld_status ggld_consume_know_part(ggld_consume *c,
                                   const ggld_part_identity *part,
                                   ggld_error *err)
{
    c->journal.part = *part;
    return ggld_consume_save_journal(c, err);
}

/* first: the shard's first tensor in the part. */
static ggld_status part_has(ggld_consume *c, uint32_t no, uint64_t first,
                            bool *has, ggld_error *err)
{
    const ggld_shard_identity *shard = &c->journal.shards[no];
    uint64_t n = ggld_tensor_count(c->part_file), digest = 0;

    *has = first <= n && shard->n_tensors <= n - first;
    if (!*has)
        return GGLD_OK;
    ggld_status status =
        ggld_content_digest(c->part_file, first, shard->n_tensors,
                            c->big_endian, c->room, &c->meter, &digest, err);
    *has = status == GGLD_OK && digest == shard->digest;
    return status;
}

ggld_status ggld_consume_part_has(ggld_consume *c, uint32_t no, bool *has,
                                  ggld_error *err)
{
    uint64_t first = 0;

    *has = false;
    for (uint32_t i = 0; i < no; i++)
        if (!ggld_add_u64(first, c->journal.shards[i].n_tensors, &first))
            return GGLD_OK;
    return part_has(c, no, first, has, err);
}

/* A copy of the part: what was consumed is in it? */
static ggld_status recognise_part(ggld_consume *c, ggld_error *err)
{
    const ggld_merge_journal *j = &c->journal;
    ggld_status status = GGLD_OK;
    uint64_t first = 0;
    bool same = true;

    for (uint32_t i = 0; i < j->n_shards && same; i++) {
        uint64_t left = ggld_tensor_count(c->part_file) - first;
        same = j->shards[i].n_tensors <= left;
        if (same && j->done[i])
            status = part_has(c, i, first, &same, err);
        first += same ? j->shards[i].n_tensors : 0;
    }
    if (status != GGLD_OK || (same && first == ggld_tensor_count(c->part_file)))
        return status;
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "%s is not the file that its journal speaks of, and has "
                     "not what was consumed",
                     ggld_quote(c->part, strlen(c->part)).text);
}

ggld_status ggld_consume_open_part(ggld_consume *c, const char *name,
                                   ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_part_identity part;

    c->part_fd = ggld_sys_open(c->place.folder_fd, name,
                               O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (c->part_fd < 0 || !ggld_part_identity_of(c->part_fd, "", &part))
        return ggld_consume_fail(c, errno, "can't open its part", err);
    options.flags = GGLD_OPEN_PREAD;
    ggld_status status = ggld_open_fd(&c->part_file, c->part_fd, &options, err);
    if (status != GGLD_OK)
        return status;
    ggld_file_get_info(c->part_file, &info);
    c->big_endian = info.big_endian;
    if (ggld_part_identity_same(&part, &c->journal.part))
        return GGLD_OK;
    status = recognise_part(c, err);
    return status == GGLD_OK ? ggld_consume_know_part(c, &part, err) : status;
}

bool ggld_consume_is_named(const ggld_consume *c)
{
    ggld_part_identity named;
    return ggld_consume_n_done(c) == c->journal.n_shards &&
           ggld_part_identity_of(c->place.folder_fd, c->place.name, &named) &&
           ggld_part_identity_same(&named, &c->journal.part);
}

void ggld_consume_close_part(ggld_consume *c)
{
    ggld_close(c->part_file);
    c->part_file = NULL;
    if (c->part_fd >= 0)
        close(c->part_fd);
    c->part_fd = -1;
}

bool ggld_consume_is_named_copy(ggld_consume *c)
{
    if (ggld_consume_n_done(c) != c->journal.n_shards ||
        ggld_consume_is_there(c, c->part))
        return false;
    if (ggld_consume_open_part(c, c->place.name, NULL) == GGLD_OK)
        return true;
    ggld_consume_close_part(c);
    return false;
}

ggld_status ggld_consume_name_part(const ggld_consume *c, ggld_error *err)
{
    int fd = c->place.folder_fd;
    if (renameat(fd, c->part, fd, c->place.name) != 0)
        return ggld_consume_fail(c, errno, "can't give the new file its name",
                                 err);
    return ggld_consume_drop_journal(c, err);
}

/* Temporary files of a part whose making was killed. Which a merge at work has
 * are not among them: it holds the lock. */
static void remove_temps(const ggld_consume *c)
{
    int fd = ggld_sys_open(c->place.folder_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (folder == NULL && fd >= 0)
        close(fd);
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (ggld_target_is_temp(entry->d_name, c->part))
            unlinkat(c->place.folder_fd, entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
}

void ggld_consume_take_back(ggld_consume *c)
{
    if (c->journal_fd < 0)
        return;
    remove_temps(c);
    unlinkat(c->place.folder_fd, c->part, 0);
    /* The journal goes last, as it tells whose the others are. */
    (void)ggld_folder_sync(c->place.folder_fd);
    unlinkat(c->place.folder_fd, c->journal_name, 0);
    close(c->journal_fd);
    c->journal_fd = -1;
}
