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
#include "source.h"

ggld_file *ggld_file_ref(ggld_file *file)
{
    atomic_fetch_add_explicit(&file->holders, 1, memory_order_relaxed);
    return file;
}

void ggld_close(ggld_file *file)
{
    /* Release what this thread did with the file before the last holder, who
     * acquires it, takes it apart. */
    if (file == NULL ||
        atomic_fetch_sub_explicit(&file->holders, 1, memory_order_acq_rel) != 1)
        return;
    ggld_source source = file->source;
    ggld_verifier verifier = file->verifier;
    ggld_load_discard(file);
    if (verifier.release != NULL)
        verifier.release(verifier.ctx);
    if (source.release != NULL)
        source.release(source.ctx);
}

void ggld_file_get_info(const ggld_file *file, ggld_file_info *out)
{
    ggld_file_info info;

    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.version = file->version;
    info.big_endian = file->big_endian;
    info.n_shards = 1;
    info.alignment_bytes = file->alignment_bytes;
    info.file_bytes = file->source.size_bytes;
    info.metadata_bytes = file->metadata.size;
    info.data_bytes = info.file_bytes - info.metadata_bytes;
    info.n_elems = file->n_elems;
    info.heap_bytes = file->heap_bytes;
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
    if (file->n_tensors == 0)
        return NULL;
    ggld_names names = { &file->tensors[0].name, sizeof(ggld_tensor) };
    uint32_t i = ggld_index_find(file->tensor_index, names, name, len);
    return i == GGLD_INDEX_NONE ? NULL : &file->tensors[i];
}

const ggld_tensor *ggld_tensor_find(const ggld_file *file, const char *name)
{
    return ggld_tensor_find_n(file, name, strlen(name));
}

uint64_t ggld_tensor_index_of(const ggld_tensor *tensor)
{
    return (uint64_t)(tensor - tensor->file->tensors);
}

const ggld_file *ggld_tensor_file(const ggld_tensor *tensor)
{
    return tensor->file;
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

ggld_status ggld_file_read(const ggld_file *file, uint64_t offset, void *dst,
                           uint64_t size, ggld_place place, ggld_error *err)
{
    uint64_t file_bytes = file->source.size_bytes;

    if (size == 0)
        return GGLD_OK;
    if (!ggld_fits(offset, size, file_bytes))
        return ggld_fail(err, GGLD_E_TRUNCATED, place,
                         "%" PRIu64 " bytes at %" PRIu64
                         " go past the end of the file (%" PRIu64 " bytes)",
                         size, offset, file_bytes);
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
    return ggld_file_read(
        file, offset_bytes, dst, size,
        ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset_bytes), err);
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
    if (status != GGLD_OK && err != NULL)
        *err = error;
    return status;
}
