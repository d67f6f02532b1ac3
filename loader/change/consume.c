/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume: shard by shard into a file that has its metadata from
 * the start, so that it tells itself where each tensor goes. Order is
 * everything: part, sync, compare, mark, sync, remove. A crash between any two
 * of these leaves a tensor in its shard, in the part, or in both. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/folder.h"
#include "../base/quote.h"
#include "../base/target.h"
#include "../write/writer.h"
#include "consume.h"
#include "content.h"
#include "merge.h"
#include "sys.h"
#include "take.h"

#define PART_SUFFIX    ".ggld-part"
#define JOURNAL_SUFFIX ".ggld-merge"
#define FRESH_SUFFIX   ".ggld-merge-new"

ggld_status ggld_consume_fail(const ggld_consume *c, int sys_errno,
                              const char *what, ggld_error *err)
{
    return ggld_target_fail(&c->place, sys_errno, what, err);
}

static ggld_status fail_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "no memory to merge");
}

static ggld_status fail_busy(const ggld_consume *c, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "output %s: another merge into it is at work",
                     ggld_quote(c->place.path, strlen(c->place.path)).text);
}

static ggld_status fail_foreign(const ggld_consume *c, const char *name,
                                ggld_error *err)
{
    return ggld_fail(err, GGLD_E_INVALID, ggld_in_file(),
                     "output %s: %s is there beside it, and no journal says "
                     "whose it is: it may be all that is left of shards; move "
                     "it away, or remove it if it is of no use",
                     ggld_quote(c->place.path, strlen(c->place.path)).text,
                     ggld_quote(name, strlen(name)).text);
}

/* ---- the beginning ---- */

static uint64_t prefix_digest(const ggld_consume *c)
{
    const char *path = c->set.path;
    size_t start = c->set.prefix_len;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return ggld_content_number(path + start, c->set.prefix_len - start);
}

/* The output's metadata, with a hole behind it. */
static ggld_status make_part(const ggld_consume *c, const ggld_file *set,
                             ggld_error *err)
{
    ggld_writer_options options = ggld_writer_options_init();
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_writer *w = NULL;

    ggld_file_get_info(set, &info);
    options.alignment_bytes = ggld_take_alignment(set);
    options.flags =
        GGLD_WRITE_SPARSE | (info.big_endian ? GGLD_WRITE_BIG_ENDIAN : 0);
    ggld_status status = ggld_writer_new(&w, &options, err);
    if (status != GGLD_OK)
        return status;
    ggld_writer_leave_out(w);
    status = ggld_take_kvs(w, set, true, err);
    if (status == GGLD_OK)
        status = ggld_take_tensors(w, set, err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, c->part_path, err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(w, err);
    ggld_writer_free(w);
    return status;
}

static ggld_status identify_all(ggld_consume *c, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint32_t i = 0; i < c->set.count && status == GGLD_OK; i++)
        status = ggld_consume_identify(c, i, &c->journal.shards[i], err);
    c->journal.prefix_digest = prefix_digest(c);
    return status;
}

static ggld_status save_journal(ggld_consume *c, ggld_error *err)
{
    int result =
        ggld_merge_journal_save(&c->journal, &c->heap, c->place.folder_fd,
                                c->journal_name, c->fresh_name, &c->journal_fd);
    if (result == 0 && !ggld_folder_sync(c->place.folder_fd))
        result = errno;
    if (result == EWOULDBLOCK)
        return fail_busy(c, err);
    if (result == EEXIST)
        return fail_foreign(c, c->fresh_name, err);
    return result == 0
               ? GGLD_OK
               : ggld_consume_fail(c, result, "can't write its journal", err);
}

/* The journal speaks of this file from now on. */
static ggld_status know_part(ggld_consume *c, const struct stat *st,
                             ggld_error *err)
{
    c->journal.device = (uint64_t)st->st_dev;
    c->journal.inode = (uint64_t)st->st_ino;
    return save_journal(c, err);
}

/* The journal comes first: by it a part is known that was made, and not yet
 * heard of, when the system went down. */
static ggld_status make_files(ggld_consume *c, const ggld_file *set,
                              ggld_error *err)
{
    struct stat st;

    ggld_status status = save_journal(c, err);
    if (status == GGLD_OK)
        status = make_part(c, set, err);
    if (status != GGLD_OK)
        return status;
    if (fstatat(c->place.folder_fd, c->part, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return ggld_consume_fail(c, errno, "can't look at its part", err);
    return know_part(c, &st, err);
}

static uint64_t shards_bytes(const ggld_file *set)
{
    ggld_file_info info = { .struct_size = sizeof info };
    uint64_t bytes = 0;

    for (uint32_t i = 0; ggld_file_shard(set, i) != NULL; i++) {
        ggld_file_get_info(ggld_file_shard(set, i), &info);
        bytes += info.file_bytes;
    }
    return bytes;
}

static ggld_status begin_with(ggld_consume *c, const ggld_file *set,
                              ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };

    ggld_file_get_info(set, &info);
    c->big_endian = info.big_endian;
    c->meter.total_bytes = 3 * shards_bytes(set);
    ggld_status status = ggld_merge_check_set(set, err);
    if (status == GGLD_OK)
        status = ggld_take_other_path(set, c->place.path, err);
    if (status == GGLD_OK &&
        !ggld_merge_journal_init(&c->journal, &c->heap, c->set.count))
        status = fail_memory(err);
    if (status == GGLD_OK)
        status = identify_all(c, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(set, err);
    return status == GGLD_OK ? make_files(c, set, err) : status;
}

static bool is_there(const ggld_consume *c, const char *name)
{
    struct stat st;
    return fstatat(c->place.folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
           errno != ENOENT;
}

static bool any_shard(const ggld_consume *c)
{
    struct stat st;

    for (uint32_t i = 0; i < c->set.count; i++)
        if (fstatat(AT_FDCWD, ggld_consume_path(c, i), &st,
                    AT_SYMLINK_NOFOLLOW) == 0 ||
            errno != ENOENT)
            return true;
    return false;
}

/* What the same call finds that is made once more when all is done. Whose
 * output it is can't be told any more, as no shard and no journal is left. */
static ggld_status check_work(const ggld_consume *c, ggld_error *err)
{
    ggld_file *out = NULL;

    if (any_shard(c) ||
        ggld_open_path(&out, c->place.path, NULL, NULL) != GGLD_OK)
        return GGLD_OK;
    ggld_status status = ggld_fail(
        err, GGLD_E_SHARD, ggld_in_file(),
        "output %s is there and whole, with %" PRIu64
        " tensors, and none of the %" PRIu32
        " shards is there: they were merged before, it seems, and nothing is "
        "left to do",
        ggld_quote(c->place.path, strlen(c->place.path)).text,
        ggld_tensor_count(out), c->set.count);
    ggld_close(out);
    return status;
}

static ggld_status begin(ggld_consume *c, ggld_error *err)
{
    ggld_file *set = NULL;

    if (is_there(c, c->part))
        return fail_foreign(c, c->part, err);
    ggld_status status = check_work(c, err);
    if (status == GGLD_OK)
        status = ggld_open_path(&set, c->set.path, NULL, err);
    if (status == GGLD_OK)
        status = begin_with(c, set, err);
    ggld_close(set);
    return status;
}

/* ---- all of them ---- */

static bool is_part(const ggld_consume *c, const struct stat *st)
{
    return (uint64_t)st->st_ino == c->journal.inode &&
           (uint64_t)st->st_dev == c->journal.device;
}

/* A copy of the part: what was consumed is in it? */
static ggld_status recognise_part(ggld_consume *c, ggld_error *err)
{
    const ggld_merge_journal *j = &c->journal;
    ggld_status status = GGLD_OK;
    uint64_t first = 0, digest = 0;
    bool same = true;

    for (uint32_t i = 0; i < j->n_shards && same; i++) {
        const ggld_shard_identity *shard = &j->shards[i];
        uint64_t left = ggld_tensor_count(c->part_file) - first;
        same = shard->n_tensors <= left;
        if (same && j->done[i]) {
            status = ggld_content_digest(c->part_file, first, shard->n_tensors,
                                         c->big_endian, c->room, &c->meter,
                                         &digest, err);
            same = status == GGLD_OK && digest == shard->digest;
        }
        first += same ? shard->n_tensors : 0;
    }
    if (status != GGLD_OK || (same && first == ggld_tensor_count(c->part_file)))
        return status;
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "%s is not the file that its journal speaks of, and has "
                     "not what was consumed",
                     ggld_quote(c->part, strlen(c->part)).text);
}

static ggld_status open_part(ggld_consume *c, const char *name, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file_info info = { .struct_size = sizeof info };
    struct stat st;

    c->part_fd = ggld_sys_open(c->place.folder_fd, name,
                               O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (c->part_fd < 0 || fstat(c->part_fd, &st) != 0)
        return ggld_consume_fail(c, errno, "can't open its part", err);
    options.flags = GGLD_OPEN_PREAD;
    ggld_status status = ggld_open_fd(&c->part_file, c->part_fd, &options, err);
    if (status != GGLD_OK)
        return status;
    ggld_file_get_info(c->part_file, &info);
    c->big_endian = info.big_endian;
    if (is_part(c, &st))
        return GGLD_OK;
    status = recognise_part(c, err);
    return status == GGLD_OK ? know_part(c, &st, err) : status;
}

static ggld_status check_journal(const ggld_consume *c, ggld_error *err)
{
    if (c->journal.n_shards == c->set.count &&
        c->journal.prefix_digest == prefix_digest(c))
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "%s is of a merge of %" PRIu32
                     " shards of another model: finish that one first",
                     ggld_quote(c->journal_name, strlen(c->journal_name)).text,
                     c->journal.n_shards);
}

static uint64_t bytes_to_do(const ggld_consume *c)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->journal.n_shards; i++)
        bytes += c->journal.done[i] ? 0 : 2 * c->journal.shards[i].size_bytes;
    return bytes;
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
    if (status == GGLD_OK)
        (void)ggld_meter_add(&c->meter,
                             c->meter.total_bytes - c->meter.done_bytes, NULL);
    return status;
}

static ggld_status drop_journal(const ggld_consume *c, ggld_error *err)
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

static ggld_status name_part(const ggld_consume *c, ggld_error *err)
{
    int fd = c->place.folder_fd;
    if (renameat(fd, c->part, fd, c->place.name) != 0)
        return ggld_consume_fail(c, errno, "can't give the new file its name",
                                 err);
    return drop_journal(c, err);
}

/* The system went down between the name and the journal's end? */
static bool is_named(const ggld_consume *c)
{
    struct stat st;
    return fstatat(c->place.folder_fd, c->place.name, &st,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           is_part(c, &st);
}

static uint32_t n_done(const ggld_consume *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; c->journal.done != NULL && i < c->journal.n_shards;
         i++)
        n += c->journal.done[i] != 0;
    return n;
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

/* No shard is in it yet: as if nothing had been begun. The journal goes last,
 * as it tells whose the others are. */
static void take_back(ggld_consume *c)
{
    if (c->journal_fd < 0)
        return;
    remove_temps(c);
    unlinkat(c->place.folder_fd, c->part, 0);
    (void)ggld_folder_sync(c->place.folder_fd);
    unlinkat(c->place.folder_fd, c->journal_name, 0);
    close(c->journal_fd);
    c->journal_fd = -1;
}

static ggld_status begin_or_take_back(ggld_consume *c, ggld_error *err)
{
    ggld_status status = begin(c, err);
    if (status != GGLD_OK)
        take_back(c);
    return status;
}

/* The part is an output that has its name, in a folder that was copied? */
static bool is_named_copy(ggld_consume *c)
{
    if (n_done(c) != c->journal.n_shards || is_there(c, c->part))
        return false;
    return open_part(c, c->place.name, NULL) == GGLD_OK;
}

static ggld_status go_on(ggld_consume *c, ggld_error *err)
{
    if (is_named(c) || is_named_copy(c))
        return drop_journal(c, err);
    ggld_status status = open_part(c, c->part, err);
    if (status == GGLD_OK)
        status = consume_all(c, err);
    if (status == GGLD_OK)
        return name_part(c, err);
    /* Of others' work nothing is taken back: it is not known to be ours. */
    if (c->part_file != NULL && n_done(c) == 0)
        take_back(c);
    return status;
}

/* It was killed before there was a part with a journal that knows it, or while
 * it was taken back. */
static bool is_unmade(const ggld_consume *c)
{
    return n_done(c) == 0 && (c->journal.inode == 0 || !is_there(c, c->part)) &&
           !is_named(c);
}

static ggld_status run(ggld_consume *c, ggld_error *err)
{
    int result =
        ggld_merge_journal_load(&c->journal, &c->heap, c->place.folder_fd,
                                c->journal_name, &c->journal_fd);
    ggld_status status = GGLD_OK;

    if (result == EWOULDBLOCK)
        return fail_busy(c, err);
    if (result != 0 && result != ENOENT)
        return ggld_consume_fail(c, result, "its journal can't be read", err);
    if (result == 0)
        status = check_journal(c, err);
    if (status == GGLD_OK && result == 0 && is_unmade(c)) {
        take_back(c);
        ggld_merge_journal_free(&c->journal, &c->heap);
        result = ENOENT;
    }
    if (result == ENOENT)
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
        status = fail_memory(err);
    if (status == GGLD_OK)
        status = run(c, err);
    if (status == GGLD_OK || n_done(c) != 0)
        ggld_folder_keep(&c->place);
    ggld_close(c->part_file);
    if (c->part_fd >= 0)
        close(c->part_fd);
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
