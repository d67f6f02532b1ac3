/* SPDX-License-Identifier: MIT */
/* Stored bytes of a tensor: the check before their use, and the calls
 * that hand them out as they are or only check. Must know nothing of types. */
#include "extent.h"

#include <inttypes.h>

#include "../base/checked.h"
#include "../read/file.h"
#include "refuse.h"

ggld_status ggld_extent_admit(const ggld_tensor *t, uint64_t first_byte,
                              uint64_t size_bytes, uint64_t *file_offset,
                              ggld_error *err)
{
    uint64_t file_bytes = t->file->source.size_bytes;
    uint64_t at = 0;

    if (size_bytes == 0) {
        *file_offset = 0;
        return GGLD_OK;
    }
    if (!ggld_add_u64(t->offset, first_byte, &at) ||
        !ggld_fits(at, size_bytes, file_bytes))
        return ggld_refuse(
            t, GGLD_E_TRUNCATED, ggld_data_place(t, t->offset), err,
            "bytes %" PRIu64 " + %" PRIu64 " of its data at "
            "%" PRIu64 " end past the end of the file (%" PRIu64 " bytes)",
            first_byte, size_bytes, t->offset, file_bytes);
    ggld_status status = ggld_file_verify(t->file, at, size_bytes, err);
    if (status == GGLD_OK)
        *file_offset = at;
    return status;
}

ggld_status ggld_extent_read(const ggld_tensor *t, uint64_t file_offset,
                             void *dst, uint64_t size_bytes, bool pread,
                             ggld_error *err)
{
    ggld_place place = ggld_data_place(t, file_offset);
    ggld_status status =
        pread
            ? ggld_file_pread(t->file, file_offset, dst, size_bytes, place, err)
            : ggld_file_read(t->file, file_offset, dst, size_bytes, place, err);
    return status == GGLD_OK ? GGLD_OK : ggld_refuse_as(t, status, err);
}

ggld_status ggld_tensor_map(const ggld_tensor *tensor, const void **out,
                            size_t *out_size, ggld_error *err)
{
    const ggld_file *file = tensor->file;
    uint64_t at = 0;

    if (file->map.data == NULL)
        return ggld_refuse(tensor, GGLD_E_UNSUPPORTED,
                           ggld_data_place(tensor, tensor->offset), err,
                           "the file is not mapped; its bytes can be read, "
                           "not pointed at");
    ggld_status status =
        ggld_extent_admit(tensor, 0, tensor->size_bytes, &at, err);
    if (status != GGLD_OK)
        return status;

    *out = ggld_span_at(file->map, at, tensor->size_bytes);
    *out_size = (size_t)tensor->size_bytes;
    return GGLD_OK;
}

static ggld_status admit_checked(const ggld_tensor *tensor, uint64_t first_byte,
                                 uint64_t size_bytes, uint64_t *file_offset,
                                 ggld_error *err)
{
    if (!ggld_fits(first_byte, size_bytes, tensor->size_bytes))
        return ggld_refuse(
            tensor, GGLD_E_INVALID, ggld_data_place(tensor, tensor->offset),
            err, "bytes %" PRIu64 " + %" PRIu64 " are not inside its %" PRIu64,
            first_byte, size_bytes, tensor->size_bytes);
    return ggld_extent_admit(tensor, first_byte, size_bytes, file_offset, err);
}

ggld_status ggld_tensor_verify(const ggld_tensor *tensor, uint64_t first_byte,
                               uint64_t size_bytes, ggld_error *err)
{
    uint64_t at = 0;
    return admit_checked(tensor, first_byte, size_bytes, &at, err);
}

ggld_status ggld_tensor_read_bytes(const ggld_tensor *tensor,
                                   uint64_t first_byte, void *dst,
                                   size_t size_bytes, ggld_error *err)
{
    uint64_t at = 0;

    ggld_status status =
        admit_checked(tensor, first_byte, size_bytes, &at, err);
    if (status != GGLD_OK || size_bytes == 0)
        return status;
    return ggld_extent_read(tensor, at, dst, size_bytes, false, err);
}
