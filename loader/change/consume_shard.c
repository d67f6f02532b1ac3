/* SPDX-License-Identifier: MIT */
/* See consume.h. What is in the journal is so before it counts: part, sync,
 * compare, mark, sync, remove. */
#include "consume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "../spec/types.h"
#include "content.h"
#include "sys.h"
#include "take.h"

#define PIECE_BYTES (16u << 20)

const char *ggld_consume_path(const ggld_consume *c, uint32_t no)
{
    ggld_split_name name = c->set;
    name.no = no;
    ggld_split_path(c->shard_path, &name);
    return c->shard_path;
}

uint32_t ggld_consume_n_shards(const ggld_consume *c)
{
    struct stat st;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->set.count; i++)
        n += fstatat(AT_FDCWD, ggld_consume_path(c, i), &st,
                     AT_SYMLINK_NOFOLLOW) == 0 ||
             errno != ENOENT;
    return n;
}

static ggld_status fail_shard(const char *path, int sys_errno, const char *what,
                              ggld_error *err)
{
    ggld_quoted name = ggld_split_label(path);
    if (sys_errno == 0)
        return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(), "shard %s %s",
                         name.text, what);
    return ggld_fail_errno(err, sys_errno, ggld_in_file(), "shard %s: %s",
                           name.text, what);
}

/* ---- which one it is ---- */

/* Of a link the file would stay, and with it the room that it takes. */
static ggld_status look_at(const char *path, ggld_shard_identity *out,
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

/* By pread: of a shard that someone cuts, reading is an error, no signal. */
static ggld_status open_shard(const char *path, ggld_file **out,
                              ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    options.flags = GGLD_OPEN_SINGLE | GGLD_OPEN_PREAD;
    return ggld_open_path(out, path, &options, err);
}

ggld_status ggld_consume_identify(ggld_consume *c, uint32_t no,
                                  ggld_shard_identity *out, ggld_error *err)
{
    ggld_file *shard = NULL;
    const char *path = ggld_consume_path(c, no);

    ggld_status status = look_at(path, out, err);
    if (status == GGLD_OK)
        status = open_shard(path, &shard, err);
    if (status != GGLD_OK)
        return status;
    out->n_tensors = ggld_tensor_count(shard);
    status = ggld_content_digest(shard, 0, out->n_tensors, c->big_endian,
                                 c->room, &c->meter, &out->digest, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(shard, err);
    ggld_close(shard);
    return status;
}

static ggld_status fail_another(const ggld_consume *c, uint32_t no,
                                ggld_error *err)
{
    return fail_shard(ggld_consume_path(c, no), 0,
                      "is not the one that was there when the merge began: "
                      "put that one back",
                      err);
}

ggld_status ggld_consume_recognise(ggld_consume *c, uint32_t no,
                                   ggld_error *err)
{
    ggld_shard_identity *then = &c->journal.shards[no], now;
    ggld_status status = look_at(ggld_consume_path(c, no), &now, err);

    if (status != GGLD_OK || ggld_shard_identity_same(&now, then))
        return status;
    if (now.size_bytes != then->size_bytes)
        return fail_another(c, no, err);
    status = ggld_consume_identify(c, no, &now, err);
    if (status != GGLD_OK)
        return status;
    if (now.n_tensors != then->n_tensors || now.digest != then->digest)
        return fail_another(c, no, err);
    *then = now;
    return GGLD_OK;
}

static ggld_status is_as_it_was(const ggld_consume *c, uint32_t no,
                                ggld_error *err)
{
    ggld_shard_identity now;
    ggld_status status = look_at(ggld_consume_path(c, no), &now, err);

    if (status != GGLD_OK ||
        ggld_shard_identity_same(&now, &c->journal.shards[no]))
        return status;
    return fail_another(c, no, err);
}

/* ---- into the part ---- */

static ggld_status fail_part(const ggld_consume *c, int sys_errno, uint64_t at,
                             ggld_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "can't write past %" PRIu64 " bytes", at);
    return ggld_consume_fail(c, sys_errno, text, err);
}

/* From file to file as far as the system does that; *done counts. */
static ggld_status copy_range(ggld_consume *c, int fd, uint64_t from,
                              uint64_t to, uint64_t size, uint64_t *done,
                              ggld_error *err)
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

static ggld_status copy_bytes(ggld_consume *c, const ggld_tensor *tensor,
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

static ggld_status copy_tensor(ggld_consume *c, const ggld_file *shard,
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
static ggld_status take_in(ggld_consume *c, const ggld_file *shard,
                           ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_tensor_count(shard) && status == GGLD_OK; i++)
        status = copy_tensor(c, shard, ggld_tensor_at(shard, i), err);
    if (status != GGLD_OK)
        return status;
    int result = ggld_sys_sync(c->part_fd);
    if (result != 0)
        return ggld_consume_fail(c, result, "can't sync its part", err);
    status = ggld_take_check_tensors(shard, c->part_file, &c->meter, err);
    return status == GGLD_OK ? ggld_take_unchanged(shard, err) : status;
}

static ggld_status remove_shard(const ggld_consume *c, uint32_t no,
                                ggld_error *err)
{
    if (unlinkat(AT_FDCWD, ggld_consume_path(c, no), 0) != 0 && errno != ENOENT)
        return fail_shard(c->shard_path, errno,
                          "it is in the output, but can't be removed", err);
    return GGLD_OK;
}

ggld_status ggld_consume_shard(ggld_consume *c, uint32_t no, ggld_error *err)
{
    ggld_file *shard = NULL;
    ggld_status status = is_as_it_was(c, no, err);

    if (status == GGLD_OK)
        status = open_shard(ggld_consume_path(c, no), &shard, err);
    if (status == GGLD_OK)
        status = take_in(c, shard, err);
    ggld_close(shard);
    if (status != GGLD_OK)
        return status;
    int result = ggld_merge_journal_mark(&c->journal, c->place.folder_fd,
                                         c->journal_name, no);
    if (result != 0)
        return ggld_consume_fail(c, result, "can't write its journal", err);
    return remove_shard(c, no, err);
}

ggld_status ggld_consume_settle(ggld_consume *c, uint32_t no, ggld_error *err)
{
    bool has;

    if (ggld_consume_recognise(c, no, NULL) != GGLD_OK)
        return GGLD_OK;
    ggld_status status = ggld_consume_part_has(c, no, &has, err);
    if (status != GGLD_OK)
        return status;
    return has ? remove_shard(c, no, err) : ggld_consume_shard(c, no, err);
}
