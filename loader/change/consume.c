/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume: shard by shard into a file that has its metadata from
 * the start, so that it tells itself where each tensor goes. Order is
 * everything: part, sync, compare, mark, sync, remove. A crash between any two
 * of these leaves a tensor in its shard, in the part, or in both. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/folder.h"
#include "../base/quote.h"
#include "../base/target.h"
#include "../read/split.h"
#include "../spec/types.h"
#include "../write/writer.h"
#include "merge.h"
#include "merge_journal.h"
#include "sys.h"
#include "take.h"

#define PART_SUFFIX    ".ggld-part"
#define JOURNAL_SUFFIX ".ggld-merge"
#define FRESH_SUFFIX   ".ggld-merge-new"
#define PIECE_BYTES    (16u << 20)

typedef struct consume {
    ggld_allocator heap;
    ggld_split_name set; /* of the shard that was named */
    char *shard_path;    /* room for any shard's */
    ggld_target place;   /* of the output */
    char part[GGLD_TEMP_NAME_MAX];
    char journal_name[GGLD_TEMP_NAME_MAX];
    char fresh_name[GGLD_TEMP_NAME_MAX];
    char *part_path;
    ggld_merge_journal journal;
    int part_fd;
    ggld_file *part_file; /* the same, as a model */
    ggld_compare_room *room;
    ggld_meter meter;
} consume;

static const char *shard_path(const consume *c, uint32_t no)
{
    ggld_split_name name = c->set;
    name.no = no;
    ggld_split_path(c->shard_path, &name);
    return c->shard_path;
}

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

static ggld_status fail_output(const consume *c, int sys_errno,
                               const char *what, ggld_error *err)
{
    return ggld_target_fail(&c->place, sys_errno, what, err);
}

static ggld_status fail_shard(const char *path, int sys_errno, const char *what,
                              ggld_error *err)
{
    ggld_quoted name = ggld_split_label(path);
    if (sys_errno == 0)
        return ggld_fail(err, GGLD_E_CHANGED, in_file(), "shard %s %s",
                         name.text, what);
    return ggld_fail_errno(err, sys_errno, in_file(), "shard %s: %s", name.text,
                           what);
}

static ggld_status fail_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "no memory to merge");
}

/* ---- the beginning ---- */

static uint64_t prefix_digest(const consume *c)
{
    const char *path = c->set.path;
    size_t start = c->set.prefix_len;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return ggld_merge_digest(path + start, c->set.prefix_len - start);
}

/* The output's metadata, with a hole behind it. */
static ggld_status make_part(const consume *c, const ggld_file *set,
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

/* What the shard is known by. Of a link the file would stay, and with it the
 * room that it takes. */
static ggld_status identify(const char *path, ggld_shard_identity *out,
                            ggld_error *err)
{
    struct stat st;

    if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return fail_shard(path, errno, "can't look at it", err);
    if (!S_ISREG(st.st_mode))
        return fail_shard(path, 0,
                          "is a link: to remove it would free no room; merge "
                          "without consuming it",
                          err);
    *out = ggld_shard_identity_of(&st);
    return GGLD_OK;
}

static ggld_status identify_all(consume *c, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    struct stat st;

    for (uint32_t i = 0; i < c->set.count && status == GGLD_OK; i++)
        status = identify(shard_path(c, i), &c->journal.shards[i], err);
    if (status == GGLD_OK &&
        fstatat(c->place.folder_fd, c->part, &st, AT_SYMLINK_NOFOLLOW) != 0)
        status = fail_output(c, errno, "can't look at its part", err);
    if (status != GGLD_OK)
        return status;
    c->journal.device = (uint64_t)st.st_dev;
    c->journal.inode = (uint64_t)st.st_ino;
    c->journal.prefix_digest = prefix_digest(c);
    return GGLD_OK;
}

static ggld_status save_journal(consume *c, ggld_error *err)
{
    int result =
        ggld_merge_journal_save(&c->journal, &c->heap, c->place.folder_fd,
                                c->journal_name, c->fresh_name);
    if (result == 0 && !ggld_folder_sync(c->place.folder_fd))
        result = errno;
    return result == 0 ? GGLD_OK
                       : fail_output(c, result, "can't write its journal", err);
}

static ggld_status begin_with(consume *c, const ggld_file *set, ggld_error *err)
{
    ggld_status status = ggld_merge_check_set(set, err);
    if (status == GGLD_OK)
        status = ggld_take_other_path(set, c->place.path, err);
    if (status == GGLD_OK &&
        !ggld_merge_journal_init(&c->journal, &c->heap, c->set.count))
        status = fail_memory(err);
    if (status == GGLD_OK)
        status = make_part(c, set, err);
    if (status == GGLD_OK)
        status = identify_all(c, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(set, err);
    return status == GGLD_OK ? save_journal(c, err) : status;
}

static ggld_status begin(consume *c, ggld_error *err)
{
    ggld_file *set = NULL;
    ggld_status status = ggld_open_path(&set, c->set.path, NULL, err);
    if (status == GGLD_OK)
        status = begin_with(c, set, err);
    ggld_close(set);
    return status;
}

/* ---- one shard ---- */

static ggld_status fail_part(const consume *c, int sys_errno, uint64_t at,
                             ggld_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "can't write past %" PRIu64 " bytes", at);
    return fail_output(c, sys_errno, text, err);
}

/* From file to file as far as the system does that; *done counts. */
static ggld_status copy_range(consume *c, int fd, uint64_t from, uint64_t to,
                              uint64_t size, uint64_t *done, ggld_error *err)
{
    while (*done < size) {
        off_t in = (off_t)(from + *done), out = (off_t)(to + *done);
        size_t piece = (size_t)ggld_min_u64(size - *done, PIECE_BYTES);
        ssize_t n = copy_file_range(fd, &in, c->part_fd, &out, piece, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return GGLD_OK; /* what is wrong shows when it is read and written */
        *done += (uint64_t)n;
        ggld_status status = ggld_meter_add(&c->meter, (uint64_t)n, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

static ggld_status copy_bytes(consume *c, const ggld_tensor *tensor,
                              const ggld_type_row *swap, uint64_t to,
                              uint64_t size, uint64_t done, ggld_error *err)
{
    size_t step = sizeof c->room->a;

    if (swap != NULL)
        step -= step % swap->traits.block_bytes;
    while (done < size) {
        size_t n = (size_t)ggld_min_u64(size - done, step);
        ggld_status status =
            ggld_tensor_read_bytes(tensor, done, c->room->a, n, err);
        if (status != GGLD_OK)
            return status;
        if (swap != NULL)
            ggld_swap_blocks(swap, c->room->a, n / swap->traits.block_bytes);
        int result = ggld_sys_write(c->part_fd, c->room->a, n, to + done);
        if (result != 0)
            return fail_part(c, result, to + done, err);
        done += n;
        status = ggld_meter_add(&c->meter, n, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

static ggld_status copy_tensor(consume *c, const ggld_file *shard,
                               const ggld_tensor *tensor, ggld_error *err)
{
    ggld_backing backing = { .struct_size = sizeof backing };
    ggld_tensor_info in = { .struct_size = sizeof in };
    ggld_tensor_info out = { .struct_size = sizeof out };
    ggld_status status = GGLD_OK;
    uint64_t done = 0;

    ggld_tensor_get_info(tensor, &in);
    const ggld_tensor *place =
        ggld_tensor_find_n(c->part_file, in.name.data, (size_t)in.name.len);
    if (place != NULL)
        ggld_tensor_get_info(place, &out);
    if (place == NULL || !ggld_comparable(&in, &out) ||
        in.size_bytes > out.size_bytes)
        return ggld_fail(err, GGLD_E_CHANGED,
                         ggld_place_of(GGLD_IN_TENSOR_INFO, in.index, 0),
                         "tensor %s has no place in the output that was begun",
                         ggld_quote(in.name.data, in.name.len).text);
    const ggld_type_row *swap =
        in.big_endian != out.big_endian ? ggld_type_row_of(in.type) : NULL;
    ggld_file_get_backing(shard, &backing);
    if (swap == NULL && backing.fd >= 0)
        status = copy_range(c, backing.fd,
                            backing.fd_offset_bytes + in.file_offset_bytes,
                            out.file_offset_bytes, in.size_bytes, &done, err);
    if (status != GGLD_OK)
        return status;
    return copy_bytes(c, tensor, swap, out.file_offset_bytes, in.size_bytes,
                      done, err);
}

/* Copied, on disk, and the same. */
static ggld_status take_in(consume *c, const ggld_file *shard, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_tensor_count(shard) && status == GGLD_OK; i++)
        status = copy_tensor(c, shard, ggld_tensor_at(shard, i), err);
    if (status != GGLD_OK)
        return status;
    int result = ggld_sys_sync(c->part_fd);
    if (result != 0)
        return fail_output(c, result, "can't sync its part", err);
    status = ggld_take_check_tensors(shard, c->part_file, &c->meter, err);
    return status == GGLD_OK ? ggld_take_unchanged(shard, err) : status;
}

/* By pread: of a shard that someone cuts, reading is an error, no signal. */
static ggld_status open_shard(const char *path, ggld_file **out,
                              ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    options.flags = GGLD_OPEN_SINGLE | GGLD_OPEN_PREAD;
    return ggld_open_path(out, path, &options, err);
}

static ggld_status is_as_it_was(const consume *c, uint32_t no, ggld_error *err)
{
    ggld_shard_identity now;
    ggld_status status = identify(shard_path(c, no), &now, err);

    if (status != GGLD_OK ||
        ggld_shard_identity_same(&now, &c->journal.shards[no]))
        return status;
    return fail_shard(c->shard_path, 0,
                      "is not the one that was there when the merge began",
                      err);
}

static ggld_status remove_shard(const consume *c, uint32_t no, ggld_error *err)
{
    if (unlinkat(AT_FDCWD, shard_path(c, no), 0) != 0 && errno != ENOENT)
        return fail_shard(c->shard_path, errno,
                          "it is in the output, but can't be removed", err);
    return GGLD_OK;
}

static ggld_status consume_shard(consume *c, uint32_t no, ggld_error *err)
{
    ggld_file *shard = NULL;
    ggld_status status = is_as_it_was(c, no, err);

    if (status == GGLD_OK)
        status = open_shard(shard_path(c, no), &shard, err);
    if (status == GGLD_OK)
        status = take_in(c, shard, err);
    ggld_close(shard);
    if (status != GGLD_OK)
        return status;
    int result = ggld_merge_journal_mark(&c->journal, c->place.folder_fd,
                                         c->journal_name, no);
    if (result != 0)
        return fail_output(c, result, "can't write its journal", err);
    return remove_shard(c, no, err);
}

/* In the part already: gone, or about to be when the system went down. Another
 * file of that name is nobody's business here. */
static ggld_status settle_shard(const consume *c, uint32_t no, ggld_error *err)
{
    return is_as_it_was(c, no, NULL) == GGLD_OK ? remove_shard(c, no, err)
                                                : GGLD_OK;
}

/* ---- all of them ---- */

static bool is_part(const consume *c, const struct stat *st)
{
    return (uint64_t)st->st_ino == c->journal.inode &&
           (uint64_t)st->st_dev == c->journal.device;
}

static ggld_status fail_busy(const consume *c, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                     "output %s: another merge into it is at work",
                     ggld_quote(c->place.path, strlen(c->place.path)).text);
}

static ggld_status open_part(consume *c, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    struct stat st;

    c->part_fd =
        ggld_sys_open(c->place.folder_fd, c->part, O_RDWR | O_NOFOLLOW, 0);
    if (c->part_fd < 0 || fstat(c->part_fd, &st) != 0)
        return fail_output(c, errno, "can't open its part", err);
    if (flock(c->part_fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail_busy(c, err);
    if (!is_part(c, &st))
        return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                         "%s is not the file that its journal speaks of",
                         ggld_quote(c->part, strlen(c->part)).text);
    options.flags = GGLD_OPEN_PREAD;
    return ggld_open_fd(&c->part_file, c->part_fd, &options, err);
}

static ggld_status check_journal(const consume *c, ggld_error *err)
{
    if (c->journal.n_shards == c->set.count &&
        c->journal.prefix_digest == prefix_digest(c))
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CHANGED, in_file(),
                     "%s is of a merge of %" PRIu32
                     " shards of another model: finish that one first",
                     ggld_quote(c->journal_name, strlen(c->journal_name)).text,
                     c->journal.n_shards);
}

static uint64_t bytes_to_do(const consume *c)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->journal.n_shards; i++)
        bytes += c->journal.done[i] ? 0 : 2 * c->journal.shards[i].size_bytes;
    return bytes;
}

static ggld_status consume_all(consume *c, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    c->meter.total_bytes = bytes_to_do(c);
    for (uint32_t i = 0; i < c->journal.n_shards && status == GGLD_OK; i++)
        status = c->journal.done[i] ? settle_shard(c, i, err)
                                    : consume_shard(c, i, err);
    /* The shards' metadata was no work; and now nothing is to be given up. */
    if (status == GGLD_OK)
        (void)ggld_meter_add(&c->meter,
                             c->meter.total_bytes - c->meter.done_bytes, NULL);
    return status;
}

static ggld_status drop_journal(const consume *c, ggld_error *err)
{
    int fd = c->place.folder_fd;
    if (!ggld_folder_sync(fd) || unlinkat(fd, c->journal_name, 0) != 0)
        return fail_output(
            c, errno, "it is there, but its journal can't be removed", err);
    if (!ggld_folder_sync(fd))
        return fail_output(c, errno,
                           "it is there, but its folder can't be synced", err);
    return GGLD_OK;
}

static ggld_status name_part(const consume *c, ggld_error *err)
{
    int fd = c->place.folder_fd;
    if (renameat(fd, c->part, fd, c->place.name) != 0)
        return fail_output(c, errno, "can't give the new file its name", err);
    return drop_journal(c, err);
}

/* The system went down between the name and the journal's end? */
static bool is_named(const consume *c)
{
    struct stat st;
    return fstatat(c->place.folder_fd, c->place.name, &st,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           is_part(c, &st);
}

static bool any_done(const consume *c)
{
    for (uint32_t i = 0; c->journal.done != NULL && i < c->journal.n_shards;
         i++)
        if (c->journal.done[i])
            return true;
    return false;
}

/* No shard is in it yet: as if nothing had been begun. */
static void take_back(const consume *c)
{
    unlinkat(c->place.folder_fd, c->journal_name, 0);
    (void)ggld_folder_sync(c->place.folder_fd);
    unlinkat(c->place.folder_fd, c->part, 0);
}

static ggld_status go_on(consume *c, ggld_error *err)
{
    if (is_named(c))
        return drop_journal(c, err);
    ggld_status status = open_part(c, err);
    if (status == GGLD_OK)
        status = consume_all(c, err);
    if (status == GGLD_OK)
        return name_part(c, err);
    /* Of others' work nothing is taken back: it is not known to be ours. */
    if (c->part_file != NULL && !any_done(c))
        take_back(c);
    return status;
}

static ggld_status run(consume *c, ggld_error *err)
{
    int result = ggld_merge_journal_load(&c->journal, &c->heap,
                                         c->place.folder_fd, c->journal_name);
    ggld_status status = GGLD_OK;

    if (result == ENOENT) {
        status = begin(c, err);
        if (status != GGLD_OK)
            take_back(c);
    } else if (result != 0) {
        status = fail_output(c, result, "its journal can't be read", err);
    } else {
        status = check_journal(c, err);
    }
    return status == GGLD_OK ? go_on(c, err) : status;
}

/* ---- the call ---- */

static bool set_names(consume *c)
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

static ggld_status run_in_place(consume *c, const char *path, ggld_error *err)
{
    ggld_status status = ggld_target_open(&c->place, path, &c->heap, err);
    if (status != GGLD_OK)
        return status;
    if (strlen(c->place.name) + sizeof FRESH_SUFFIX > sizeof c->fresh_name)
        status = fail_output(c, ENAMETOOLONG, "can't name its journal", err);
    else if (!set_names(c))
        status = fail_memory(err);
    if (status == GGLD_OK)
        status = run(c, err);
    if (status == GGLD_OK || any_done(c))
        ggld_folder_keep(&c->place);
    ggld_close(c->part_file);
    if (c->part_fd >= 0)
        close(c->part_fd);
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
    consume c = { .heap = ggld_allocator_of(NULL),
                  .part_fd = -1,
                  .meter = { .call = o.progress, .user = o.progress_user } };
    if (!ggld_split_name_of(path_of_shard, &c.set))
        return ggld_fail(err, GGLD_E_INVALID, in_file(),
                         "%s is no name of a shard "
                         "(NAME-00001-of-00003.gguf)",
                         ggld_split_label(path_of_shard).text);
    return run_in_place(&c, path, err);
}
