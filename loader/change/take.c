/* SPDX-License-Identifier: MIT */
/* See take.h. Through the public calls, as an app would do it. */
#include "take.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "../spec/limits.h"

/* Of a writer. */
#define MAX_ALIGNMENT (1u << 20)

bool ggld_key_is(ggld_string key, const char *name)
{
    return key.len == strlen(name) &&
           memcmp(key.data, name, (size_t)key.len) == 0;
}

bool ggld_key_is_split(ggld_string key)
{
    return ggld_key_is(key, GGLD_KEY_SPLIT_NO) ||
           ggld_key_is(key, GGLD_KEY_SPLIT_COUNT) ||
           ggld_key_is(key, GGLD_KEY_SPLIT_TENSORS);
}

uint32_t ggld_take_alignment(const ggld_file *file)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    return ggld_is_power_of_two(info.alignment_bytes) &&
                   info.alignment_bytes <= MAX_ALIGNMENT
               ? (uint32_t)info.alignment_bytes
               : GGLD_DEFAULT_ALIGNMENT;
}

uint64_t ggld_take_bytes(const ggld_file *file)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_tensor_get_info(ggld_tensor_at(file, i), &info);
        bytes += info.size_bytes;
    }
    return bytes;
}

/* ---- taking ---- */

static bool is_first(const ggld_file *file, const ggld_kv *kv)
{
    ggld_string key = ggld_kv_key(kv);
    return ggld_kv_find_n(file, key.data, (size_t)key.len) == kv;
}

bool ggld_take_keeps(const ggld_file *file, const ggld_kv *kv, bool drop_split)
{
    return is_first(file, kv) &&
           !(drop_split && ggld_key_is_split(ggld_kv_key(kv)));
}

uint64_t ggld_take_again(const ggld_file *file)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < ggld_kv_count(file); i++)
        n += !is_first(file, ggld_kv_at(file, i));
    return n;
}

ggld_status ggld_take_kvs(ggld_writer *w, const ggld_file *file,
                          bool drop_split, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_kv_count(file) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        if (!ggld_take_keeps(file, kv, drop_split))
            continue;
        if (ggld_key_is(ggld_kv_key(kv), GGLD_KEY_ALIGNMENT))
            status = ggld_writer_set_u32(w, GGLD_KEY_ALIGNMENT,
                                         ggld_take_alignment(file), err);
        else
            status = ggld_writer_copy_kv(w, kv, err);
    }
    return status;
}

ggld_status ggld_take_tensors(ggld_writer *w, const ggld_file *file,
                              ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < ggld_tensor_count(file) && status == GGLD_OK; i++)
        status = ggld_writer_copy_tensor(w, ggld_tensor_at(file, i), err);
    return status;
}

/* ---- checking ---- */

static ggld_status check_kv(const ggld_kv *kv, const ggld_file *out,
                            ggld_error *err)
{
    ggld_string key = ggld_kv_key(kv);
    const ggld_kv *got = ggld_kv_find_n(out, key.data, (size_t)key.len);
    bool same = false;

    if (ggld_key_is(key, GGLD_KEY_ALIGNMENT))
        return GGLD_OK; /* the writer's, which the reader has judged */
    ggld_status status =
        got != NULL ? ggld_compare_kvs(kv, got, &same, err) : GGLD_OK;
    if (status != GGLD_OK || same)
        return status;
    return ggld_fail(err, GGLD_E_CHECKSUM, ggld_nowhere(),
                     "key %s: read back, it %s",
                     ggld_quote(key.data, key.len).text,
                     got != NULL ? "has another value" : "is not there");
}

ggld_status ggld_take_check_kvs(const ggld_file *in, const ggld_file *out,
                                bool drop_split, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < ggld_kv_count(in) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(in, i);
        if (ggld_take_keeps(in, kv, drop_split))
            status = check_kv(kv, out, err);
    }
    return status;
}

static ggld_status fail_tensor(const ggld_tensor_info *info, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHECKSUM,
                     ggld_place_of(GGLD_IN_TENSOR_INFO, info->index, 0),
                     "tensor %" PRIu64 " %s: read back, it is not there as it "
                     "was",
                     info->index,
                     ggld_quote(info->name.data, info->name.len).text);
}

static ggld_status check_tensor(const ggld_tensor *t, const ggld_file *out,
                                ggld_compare_room *room, ggld_meter *meter,
                                ggld_error *err)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_info got = { .struct_size = sizeof got };
    uint64_t first;

    ggld_tensor_get_info(t, &info);
    const ggld_tensor *other =
        ggld_tensor_find_n(out, info.name.data, (size_t)info.name.len);
    if (other != NULL)
        ggld_tensor_get_info(other, &got);
    if (other == NULL || !ggld_comparable(&info, &got))
        return fail_tensor(&info, err);
    ggld_status status = ggld_compare_data(t, other, room, meter, &first, err);
    if (status != GGLD_OK || first == UINT64_MAX)
        return status;
    return ggld_fail(err, GGLD_E_CHECKSUM,
                     ggld_place_of(GGLD_IN_TENSOR_DATA, info.index,
                                   got.file_offset_bytes + first),
                     "tensor %" PRIu64 " %s: read back, its byte %" PRIu64
                     " of %" PRIu64 " is not what it was",
                     info.index, ggld_quote(info.name.data, info.name.len).text,
                     first, info.size_bytes);
}

ggld_status ggld_take_check_tensors(const ggld_file *in, const ggld_file *out,
                                    ggld_meter *meter, ggld_error *err)
{
    ggld_allocator heap = ggld_allocator_of(NULL);
    ggld_compare_room *room = ggld_alloc_bytes(&heap, sizeof *room);
    ggld_status status = GGLD_OK;

    if (room == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to compare data");
    for (uint64_t i = 0; i < ggld_tensor_count(in) && status == GGLD_OK; i++)
        status = check_tensor(ggld_tensor_at(in, i), out, room, meter, err);
    ggld_free(&heap, room);
    return status;
}

/* ---- inputs ---- */

/* Is out the file that shard was opened from? */
static bool is_source(const ggld_file *shard, const struct stat *out)
{
    ggld_backing backing = { .struct_size = sizeof backing };
    struct stat in;

    ggld_file_get_backing(shard, &backing);
    return backing.fd >= 0 && fstat(backing.fd, &in) == 0 &&
           in.st_dev == out->st_dev && in.st_ino == out->st_ino;
}

ggld_status ggld_take_other_path(const ggld_file *file, const char *path,
                                 ggld_error *err)
{
    const ggld_file *shard;
    struct stat out;
    uint32_t i = 0;

    if (stat(path, &out) != 0)
        return GGLD_OK;
    while ((shard = ggld_file_shard(file, i)) != NULL &&
           !is_source(shard, &out))
        i++;
    if (shard == NULL)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_INVALID,
                     ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                     "output %s is the input: give it another name",
                     ggld_quote(path, strlen(path)).text);
}

ggld_status ggld_take_unchanged(const ggld_file *file, ggld_error *err)
{
    ggld_error why;
    ggld_status status = ggld_file_changed(file, &why);

    if (status == GGLD_OK || status == GGLD_E_UNSUPPORTED)
        return GGLD_OK;
    if (err != NULL)
        *err = why;
    return status;
}
