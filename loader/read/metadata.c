/* SPDX-License-Identifier: MIT */
/* Private memory is asked for as the file's own bytes call for it, never past
 * the file's size. */
#include "metadata.h"

#include <inttypes.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "source.h"

#define FIRST_BYTES (64u << 10)

/* Private memory of size bytes of the file, kept bytes of them taken from the
 * old memory and the rest read. The old memory stays. */
static ggld_status read_private(const ggld_file *file, uint64_t kept,
                                uint64_t size, uint8_t **out, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, kept);
    uint8_t *data = ggld_alloc_bytes(&file->allocator, size);
    if (data == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the first %" PRIu64
                         " bytes of the file (%" PRIu64 " bytes)",
                         size, file->source.size_bytes);
    if (kept != 0)
        memcpy(data, file->metadata.data, (size_t)kept);
    ggld_status status = ggld_source_read(&file->source, kept, data + kept,
                                          size - kept, place, err);
    if (status != GGLD_OK)
        ggld_free(&file->allocator, data);
    else
        *out = data;
    return status;
}

static void set_private(ggld_file *file, uint8_t *data, uint64_t size)
{
    ggld_free(&file->allocator, file->private_metadata);
    file->private_metadata = data;
    file->metadata.data = data;
    file->metadata.size = size;
}

/* By pread where there is one: a file that is shortened meanwhile is then an
 * error, not a signal. */
static ggld_status copy_all(ggld_file *file, ggld_error *err)
{
    uint64_t size = file->source.size_bytes;
    uint8_t *data = NULL;

    if (file->source.pread != NULL) {
        ggld_status status = read_private(file, 0, size, &data, err);
        if (status != GGLD_OK)
            return status;
    } else {
        data = ggld_alloc_bytes(&file->allocator, size);
        if (data == NULL)
            return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                             "no memory for a copy of %" PRIu64 " bytes", size);
        memcpy(data, file->source.map, (size_t)size);
    }
    set_private(file, data, size);
    file->map = file->metadata;
    return GGLD_OK;
}

ggld_status ggld_metadata_begin(ggld_file *file, ggld_error *err)
{
    const ggld_source *source = &file->source;
    bool unmapped =
        source->map == NULL ||
        ((file->flags & GGLD_OPEN_PREAD) != 0 && source->pread != NULL);

    if (source->size_bytes == 0)
        return GGLD_OK;
    if ((file->flags & GGLD_OPEN_COPY) != 0)
        return copy_all(file, err);
    if (unmapped)
        return ggld_metadata_more(
            file, ggld_min_u64(FIRST_BYTES, source->size_bytes), err);
    file->map.data = source->map;
    file->map.size = source->size_bytes;
    file->metadata = file->map;
    return GGLD_OK;
}

ggld_status ggld_metadata_more(ggld_file *file, uint64_t needed,
                               ggld_error *err)
{
    uint64_t kept = file->metadata.size;
    uint64_t size = needed;
    uint8_t *data = NULL;

    if (size / 2 < kept)
        size = kept * 2;
    size = ggld_min_u64(size, file->source.size_bytes);
    ggld_status status = read_private(file, kept, size, &data, err);
    if (status == GGLD_OK)
        set_private(file, data, size);
    return status;
}

/* The same place in the new memory. */
static void move_string(ggld_string *s, const uint8_t *from, const uint8_t *to)
{
    s->data = (const char *)to + (s->data - (const char *)from);
}

ggld_status ggld_metadata_settle(ggld_file *file, ggld_error *err)
{
    uint64_t size = ggld_min_u64(file->data_offset, file->source.size_bytes);
    uint8_t *data = NULL;

    if (file->map.data != NULL || file->metadata.size == size) {
        file->metadata.size = size;
        return GGLD_OK;
    }
    uint64_t kept = ggld_min_u64(file->metadata.size, size);
    ggld_status status = read_private(file, kept, size, &data, err);
    if (status != GGLD_OK)
        return status;
    for (uint64_t i = 0; i < file->n_kvs; i++)
        move_string(&file->kvs[i].key, file->metadata.data, data);
    for (uint64_t i = 0; i < file->n_tensors; i++)
        move_string(&file->tensors[i].name, file->metadata.data, data);
    set_private(file, data, size);
    return GGLD_OK;
}
