/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume: shard by shard into a file that has its metadata from
 * the start, so that it tells itself where each tensor goes. Order is
 * everything: part, sync, compare, mark, sync, remove. A crash between any two
 * of these leaves a tensor in its shard, in the part, or in both. */
#include "consume.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/folder.h"
#include "merge.h"

#define PART_SUFFIX    ".ggld-part"
#define JOURNAL_SUFFIX ".ggld-merge"
#define FRESH_SUFFIX   ".ggld-merge-new"

ggld_status ggld_consume_fail(const ggld_consume *c, int sys_errno,
                              const char *what, ggld_error *err)
{
    return ggld_target_fail(&c->place, sys_errno, what, err);
}

ggld_status ggld_consume_fail_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "no memory to merge");
}

static uint64_t bytes_to_do(const ggld_consume *c)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->journal.n_shards; i++)
        bytes += c->journal.done[i] ? 0 : 2 * c->journal.shards[i].size_bytes;
    return bytes;
}

/* What the journal says of a shard that is gone is not believed: the part may
 * be all that is left of it. */
static bool all_there(const ggld_consume *c)
{
    return ggld_consume_n_done(c) == 0 &&
           ggld_consume_n_shards(c) == c->set.count;
}

/* Before any more is removed: are all there that are to come? */
static ggld_status recognise_all(ggld_consume *c, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint32_t i = 0; i < c->journal.n_shards && status == GGLD_OK; i++)
        if (!c->journal.done[i])
            status = ggld_consume_recognise(c, i, err);
    return status;
}

static ggld_status consume_all(ggld_consume *c, ggld_error *err)
{
    c->meter.total_bytes = c->meter.done_bytes + bytes_to_do(c);
    ggld_status status = recognise_all(c, err);
    c->meter.total_bytes = c->meter.done_bytes + bytes_to_do(c);
    for (uint32_t i = 0; i < c->journal.n_shards && status == GGLD_OK; i++)
        status = c->journal.done[i] ? ggld_consume_settle(c, i, err)
                                    : ggld_consume_shard(c, i, err);
    /* The shards' metadata was no work; and now nothing is to be given up. */
    if (status == GGLD_OK && c->meter.done_bytes < c->meter.total_bytes)
        (void)ggld_meter_add(&c->meter,
                             c->meter.total_bytes - c->meter.done_bytes, NULL);
    return status;
}

static ggld_status go_on(ggld_consume *c, ggld_error *err)
{
    if (ggld_consume_is_named(c) || ggld_consume_is_named_copy(c))
        return ggld_consume_drop_journal(c, err);
    ggld_status status = ggld_consume_open_part(c, c->part, err);
    if (status == GGLD_OK)
        status = consume_all(c, err);
    if (status == GGLD_OK)
        return ggld_consume_name_part(c, err);
    /* Of others' work nothing is taken back: it is not known to be ours. */
    if (c->part_file != NULL && all_there(c))
        ggld_consume_take_back(c);
    return status;
}

/* It was killed before there was a part with a journal that knows it, or while
 * it was taken back. */
static bool is_unmade(const ggld_consume *c)
{
    return ggld_consume_n_done(c) == 0 &&
           (!ggld_consume_is_there(c, c->part) ||
            (c->journal.part.inode == 0 && all_there(c))) &&
           !ggld_consume_is_named(c);
}

static ggld_status begin_or_take_back(ggld_consume *c, ggld_error *err)
{
    ggld_status status = ggld_consume_begin(c, err);
    if (status != GGLD_OK)
        ggld_consume_take_back(c);
    return status;
}

static ggld_status run(ggld_consume *c, ggld_error *err)
{
    bool found;
    ggld_status status = ggld_consume_load_journal(c, &found, err);

    if (status == GGLD_OK && found && is_unmade(c)) {
        ggld_consume_take_back(c);
        ggld_merge_journal_free(&c->journal, &c->heap);
        found = false;
    }
    if (status == GGLD_OK && !found)
        status = begin_or_take_back(c, err);
    return status == GGLD_OK ? go_on(c, err) : status;
}

/* ---- the call ---- */

static bool set_names(ggld_consume *c)
{
    const char *name = c->place.name;
    size_t path_bytes = strlen(c->place.path) + sizeof PART_SUFFIX;

    snprintf(c->part, sizeof c->part, "%s" PART_SUFFIX, name);
    snprintf(c->journal_name, sizeof c->journal_name, "%s" JOURNAL_SUFFIX,
             name);
    snprintf(c->fresh_name, sizeof c->fresh_name, "%s" FRESH_SUFFIX, name);
    c->part_path = ggld_alloc_bytes(&c->heap, path_bytes);
    c->shard_path = ggld_alloc_bytes(&c->heap, ggld_split_path_bytes(&c->set));
    c->room = ggld_alloc_bytes(&c->heap, sizeof *c->room);
    if (c->part_path == NULL || c->shard_path == NULL || c->room == NULL)
        return false;
    snprintf(c->part_path, path_bytes, "%s" PART_SUFFIX, c->place.path);
    return true;
}

static ggld_status run_in_place(ggld_consume *c, const char *path,
                                ggld_error *err)
{
    ggld_status status = ggld_target_open(&c->place, path, &c->heap, err);
    if (status != GGLD_OK)
        return status;
    if (strlen(c->place.name) + sizeof FRESH_SUFFIX > sizeof c->fresh_name)
        status =
            ggld_consume_fail(c, ENAMETOOLONG, "can't name its journal", err);
    else if (!set_names(c))
        status = ggld_consume_fail_memory(err);
    if (status == GGLD_OK)
        status = run(c, err);
    if (status == GGLD_OK || ggld_consume_n_done(c) != 0)
        ggld_folder_keep(&c->place);
    ggld_consume_close_part(c);
    if (c->journal_fd >= 0)
        close(c->journal_fd);
    ggld_merge_journal_free(&c->journal, &c->heap);
    ggld_free(&c->heap, c->part_path);
    ggld_free(&c->heap, c->shard_path);
    ggld_free(&c->heap, c->room);
    ggld_target_close(&c->place);
    return status;
}

ggld_status ggld_merge_consume(const char *path_of_shard, const char *path,
                               const ggld_merge_options *options,
                               ggld_error *err)
{
    ggld_merge_options o;

    ggld_status status = ggld_merge_take_options(options, &o, 0, err);
    if (status != GGLD_OK)
        return status;
    if (path_of_shard == NULL || path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "a path is NULL");
    ggld_consume c = { .heap = ggld_allocator_of(NULL),
                       .part_fd = -1,
                       .journal_fd = -1,
                       .meter = { .call = o.progress,
                                  .user = o.progress_user } };
    if (!ggld_split_name_of(path_of_shard, &c.set))
        return ggld_fail(err, GGLD_E_INVALID, ggld_in_file(),
                         "%s is no name of a shard "
                         "(NAME-00001-of-00003.gguf)",
                         ggld_split_label(path_of_shard).text);
    return run_in_place(&c, path, err);
}
