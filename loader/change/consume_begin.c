/* SPDX-License-Identifier: MIT */
/* The beginning of a merge that consumes its shards: all of them read, the
 * journal, and the output's metadata with a hole behind it. */
#include "consume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/quote.h"
#include "../write/writer.h"
#include "merge.h"
#include "take.h"

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
    c->journal.prefix_digest = ggld_consume_prefix_digest(c);
    return status;
}

/* The journal comes first: by it a part is known that was made, and not yet
 * heard of, when the system went down. */
static ggld_status make_files(ggld_consume *c, const ggld_file *set,
                              ggld_error *err)
{
    ggld_part_identity part;

    ggld_status status = ggld_consume_save_journal(c, err);
    if (status == GGLD_OK)
        status = make_part(c, set, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_part_identity_of(c->place.folder_fd, c->part, &part))
        return ggld_consume_fail(c, errno, "can't look at its part", err);
    return ggld_consume_know_part(c, &part, err);
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
        status = ggld_consume_fail_memory(err);
    if (status == GGLD_OK)
        status = identify_all(c, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(set, err);
    return status == GGLD_OK ? make_files(c, set, err) : status;
}

/* What the same call finds that is made once more when all is done. Whose
 * output it is can't be told any more, as no shard and no journal is left. */
static ggld_status check_work(const ggld_consume *c, ggld_error *err)
{
    ggld_file *out = NULL;

    if (ggld_consume_n_shards(c) != 0 ||
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

ggld_status ggld_consume_begin(ggld_consume *c, ggld_error *err)
{
    ggld_file *set = NULL;

    if (ggld_consume_is_there(c, c->part))
        return ggld_consume_fail_foreign(c, c->part, err);
    ggld_status status = check_work(c, err);
    if (status == GGLD_OK)
        status = ggld_open_path(&set, c->set.path, NULL, err);
    if (status == GGLD_OK)
        status = begin_with(c, set, err);
    ggld_close(set);
    return status;
}
