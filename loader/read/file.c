/* SPDX-License-Identifier: MIT */
/* The open file: holders, what it tells of itself and its tensors, reading. */
#include "file.h"

#include <inttypes.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/index.h"
#include "../base/structs.h"
#include "../spec/types.h"
#include "guard.h"
#include "load.h"
#include "set.h"
#include "source.h"

/* Who is counted. */
static ggld_file *counted(ggld_file *file)
{
    return file->set != NULL ? file->set : file;
}

ggld_file *ggld_file_ref(ggld_file *file)
{
    atomic_fetch_add_explicit(&counted(file)->holders, 1, memory_order_relaxed);
    return file;
}

void ggld_close(ggld_file *file)
{
    /* Release what this thread did with the file before the last holder, who
     * acquires it, takes it apart. */
    if (file == NULL || atomic_fetch_sub_explicit(&counted(file)->holders, 1,
                                                  memory_order_acq_rel) != 1)
        return;
    ggld_verifier verifier = file->verifier;
    ggld_load_release(counted(file));
    if (verifier.release != NULL)
        verifier.release(verifier.ctx);
}

/* ---- shards ---- */

const ggld_file *ggld_file_shard(const ggld_file *file, uint32_t shard)
{
    if (shard >= file->n_shards)
        return NULL;
    return file->shards != NULL ? file->shards[shard] : file;
}

const char *ggld_file_path(const ggld_file *file)
{
    return file->path;
}

void ggld_file_get_info(const ggld_file *file, ggld_file_info *out)
{
    ggld_file_info info;

    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.version = file->version;
    info.big_endian = file->big_endian;
    info.n_shards = file->n_shards;
    info.shard = file->shard;
    info.alignment_bytes = file->alignment_bytes;
    /* No files are so large that their sum wraps: sizes are off_t, and shards
     * 65535 at most, most of which would have to be full. */
    for (uint32_t i = 0; i < file->n_shards; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        info.file_bytes += shard->source.size_bytes;
        info.metadata_bytes += shard->metadata.size;
    }
    info.data_bytes = info.file_bytes - info.metadata_bytes;
    info.n_elems = file->n_elems;
    info.heap_bytes = file->heap_bytes;
    info.verifies_data = ggld_file_shard(file, 0)->verifier.check_range != NULL;
    ggld_struct_give(out, &info, sizeof info);
}

void ggld_file_get_backing(const ggld_file *file, ggld_backing *out)
{
    ggld_backing backing;

    memset(&backing, 0, sizeof backing);
    backing.struct_size = sizeof backing;
    backing.fd = -1;
    if ((file->flags & GGLD_OPEN_COPY) == 0)
        backing.fd = ggld_source_fd(&file->source, &backing.fd_offset_bytes);
    if (backing.fd >= 0)
        backing.map = file->map.data;
    ggld_struct_give(out, &backing, sizeof backing);
}

/* ---- tensors ---- */

uint64_t ggld_tensor_count(const ggld_file *file)
{
    return file->n_tensors;
}

const ggld_tensor *ggld_tensor_at(const ggld_file *file, uint64_t index)
{
    return index < file->n_tensors ? &file->tensors[index] : NULL;
}

const ggld_tensor *ggld_tensor_find_n(const ggld_file *file, const char *name,
                                      size_t len)
{
    const ggld_file *table = file->set != NULL ? file->set : file;
    if (file->n_tensors == 0)
        return NULL;
    ggld_names names = { &table->tensors[0].name, sizeof(ggld_tensor) };
    uint32_t i = ggld_index_find(table->tensor_index, names, name, len);
    if (i == GGLD_INDEX_NONE)
        return NULL;
    const ggld_tensor *found = &table->tensors[i];
    return table == file || found->file == file ? found : NULL;
}

const ggld_tensor *ggld_tensor_find(const ggld_file *file, const char *name)
{
    return ggld_tensor_find_n(file, name, strlen(name));
}

uint64_t ggld_tensor_index_of(const ggld_tensor *tensor)
{
    return (uint64_t)(tensor - ggld_tensor_file(tensor)->tensors);
}

const ggld_file *ggld_tensor_file(const ggld_tensor *tensor)
{
    return tensor->file->set != NULL ? tensor->file->set : tensor->file;
}

void ggld_tensor_get_info(const ggld_tensor *tensor, ggld_tensor_info *out)
{
    ggld_tensor_info info;

    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.name = tensor->name;
    info.type = tensor->type;
    info.n_dims = tensor->n_dims;
    memcpy(info.dims, tensor->dims, sizeof info.dims);
    info.n_elems = tensor->n_elems;
    info.file_offset_bytes = tensor->offset;
    info.size_bytes = tensor->size_bytes;
    info.index = ggld_tensor_index_of(tensor);
    info.shard = tensor->file->shard;
    info.supported = ggld_type_row_of(tensor->type) != NULL;
    info.big_endian = tensor->file->big_endian;
    ggld_struct_give(out, &info, sizeof info);
}

/* ---- bytes ---- */

typedef struct copy {
    void *dst;
    ggld_span from;
} copy;

static void copy_bytes(void *ctx)
{
    const copy *c = ctx;
    memcpy(c->dst, c->from.data, (size_t)c->from.size);
}

static ggld_status check_range(const ggld_file *file, uint64_t offset,
                               uint64_t size, ggld_place place, ggld_error *err)
{
    uint64_t file_bytes = file->source.size_bytes;
    if (ggld_fits(offset, size, file_bytes))
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_TRUNCATED, place,
                     "%" PRIu64 " bytes at %" PRIu64
                     " go past the end of the file (%" PRIu64 " bytes)",
                     size, offset, file_bytes);
}

bool ggld_file_has_both(const ggld_file *file)
{
    uint64_t offset;
    return file->map.data != NULL && file->map.data == file->source.map &&
           ggld_source_fd(&file->source, &offset) >= 0;
}

ggld_status ggld_file_pread(const ggld_file *file, uint64_t offset, void *dst,
                            uint64_t size, ggld_place place, ggld_error *err)
{
    if (size == 0 || !ggld_file_has_both(file))
        return ggld_file_read(file, offset, dst, size, place, err);
    ggld_status status = check_range(file, offset, size, place, err);
    return status == GGLD_OK
               ? ggld_source_read(&file->source, offset, dst, size, place, err)
               : status;
}

ggld_status ggld_file_read(const ggld_file *file, uint64_t offset, void *dst,
                           uint64_t size, ggld_place place, ggld_error *err)
{
    if (size == 0)
        return GGLD_OK;
    ggld_status status = check_range(file, offset, size, place, err);
    if (status != GGLD_OK)
        return status;
    /* Of a file that is not mapped the metadata is at hand. */
    ggld_span at_hand = file->map.data != NULL ? file->map : file->metadata;
    const uint8_t *from = ggld_span_at(at_hand, offset, size);
    if (from == NULL)
        return ggld_source_read(&file->source, offset, dst, size, place, err);
    copy c = { dst, { from, size } };
    return ggld_guard_run(file, c.from, copy_bytes, &c, place, err);
}

ggld_status ggld_file_read_bytes(const ggld_file *file, uint64_t offset_bytes,
                                 void *dst, size_t size, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset_bytes);
    if (file->shards != NULL)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, place,
                         "file: a set of %" PRIu32 " shards has no bytes of "
                         "its own; one of them has (ggld_file_shard)",
                         file->n_shards);
    ggld_status status =
        ggld_file_read(file, offset_bytes, dst, size, place, err);
    if (status != GGLD_OK)
        ggld_set_blame(file, err);
    return status;
}

ggld_status ggld_file_verify(const ggld_file *file, uint64_t offset,
                             uint64_t size, ggld_error *err)
{
    const ggld_verifier *v = &file->verifier;
    if (v->check_range == NULL)
        return GGLD_OK;
    ggld_error error = { .index = GGLD_NO_INDEX };
    ggld_status status = v->check_range(v->ctx, file, offset, size, &error);
    error.code = status;
    error.shard = file->shard;
    if (status != GGLD_OK && err != NULL)
        *err = error;
    return status;
}
