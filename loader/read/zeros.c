/* SPDX-License-Identifier: MIT */
/* Zeros that a file ends with: room that was set aside for a download and never
 * filled. What the file system knows to be a hole is passed over unread; zeros
 * that were written are read once, from the end back to the first byte that is
 * none, or to where data begins. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/quote.h"
#include "hints.h"
#include "rules.h"
#include "source.h"

/* The least that is spoken of. */
#define PAGE_BYTES 4096u
/* Read at once. */
#define PIECE_BYTES (1u << 20)

static ggld_subject in_file(uint64_t offset)
{
    return ggld_subject_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset, NULL);
}

static size_t zero_run_back(const uint8_t *data, size_t size)
{
    size_t n = 0;
    /* All of them, as in most pieces: at memcmp's pace. */
    if (size != 0 && data[0] == 0 && memcmp(data, data + 1, size - 1) == 0)
        return size;
    while (n < size && data[size - 1 - n] == 0)
        n++;
    return n;
}

/* Are the size bytes before end zero, all of them? */
static ggld_status all_zero(const ggld_file *file, uint64_t end,
                            uint8_t *buffer, size_t size, bool *out,
                            ggld_error *err)
{
    uint64_t start = end - size;
    ggld_status status =
        ggld_file_pread(file, start, buffer, size, in_file(start).place, err);
    if (status == GGLD_OK)
        *out = zero_run_back(buffer, size) == size;
    return status;
}

/* Takes off *end what zeros there are before it, down to limit. There may be
 * holes before zeros that were written, again and again. There may be more
 * zeros than memory, too, and who is to read them again? */
static ggld_status step_back(const ggld_file *file, uint64_t limit,
                             uint64_t *end, uint8_t *buffer, ggld_error *err)
{
    size_t size, zeros;

    do {
        *end = ggld_source_data_end(&file->source, limit, *end);
        size = (size_t)ggld_min_u64(*end - limit, PIECE_BYTES);
        ggld_status status = ggld_file_pread(file, *end - size, buffer, size,
                                             in_file(*end - size).place, err);
        if (status != GGLD_OK)
            return status;
        zeros = zero_run_back(buffer, size);
        *end -= zeros;
        if (zeros == size)
            ggld_source_drop(&file->source, *end, size);
    } while (*end > limit && zeros == size);
    return GGLD_OK;
}

/* Of a file whose last page is zero. */
static ggld_status find_start(const ggld_file *file, uint64_t limit,
                              uint64_t *start, ggld_error *err)
{
    uint64_t end = file->source.size_bytes - PAGE_BYTES;
    uint64_t size = ggld_min_u64(end - limit, PIECE_BYTES);
    ggld_status status = GGLD_OK;

    if (size != 0) {
        uint8_t *buffer = ggld_alloc_bytes(&file->allocator, size);
        if (buffer == NULL)
            return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                             "no memory for %" PRIu64 " bytes of the file",
                             size);
        status = step_back(file, limit, &end, buffer, err);
        ggld_free(&file->allocator, buffer);
    }
    if (status == GGLD_OK)
        *start = end;
    return status;
}

/* Are the last records zero too? Where the first of them starts: a record has
 * the length of its name at the start, which is 0 for no tensor. */
static bool in_records(const ggld_rules *r, uint64_t *start)
{
    const ggld_file *file = r->file;
    uint64_t zeros = zero_run_back(file->metadata.data, (size_t)r->table_end);

    if (file->n_tensors == 0 ||
        r->table_end - zeros > file->tensors[file->n_tensors - 1].info_offset)
        return false;
    *start = r->table_end - zeros;
    return true;
}

/* The tensor in which, or before which, offset lies: that with the first data
 * to end behind it. NULL: no data is there. */
static const ggld_tensor *tensor_behind(const ggld_file *file, uint64_t offset)
{
    const ggld_tensor *found = NULL;
    for (uint64_t i = 0; i < file->n_tensors; i++) {
        const ggld_tensor *t = &file->tensors[i];
        bool behind =
            t->size_bytes != 0 && t->size_bytes != GGLD_NO_SIZE &&
            (t->offset > offset || t->size_bytes > offset - t->offset);
        if (behind && (found == NULL || t->offset < found->offset))
            found = t;
    }
    return found != NULL && found->offset < file->source.size_bytes ? found
                                                                    : NULL;
}

static bool report_zeros(ggld_rules *r, ggld_grade grade, uint64_t start,
                         const char *where)
{
    return ggld_report_add(r->report, grade, GGLD_E_VALUE, in_file(start),
                           GGLD_ZEROS_BEGIN "%" PRIu64 " bytes are zero, from "
                                            "byte %" PRIu64
                                            " in %s on" GGLD_ZEROS_END,
                           r->file->source.size_bytes - start, start, where);
}

/* A tensor that is zero from its first byte to its last may be meant to be, but
 * not all of them. */
static bool report_in_data(ggld_rules *r, uint64_t start)
{
    const ggld_tensor *t = tensor_behind(r->file, start);
    bool meant =
        t != NULL && start > r->file->data_offset && start <= t->offset;
    char where[GGLD_QUOTE_MAX + 48];

    if (t == NULL)
        return true;
    snprintf(where, sizeof where, "tensor %" PRIu64 " %s",
             ggld_tensor_index_of(t),
             ggld_quote(t->name.data, t->name.len).text);
    return report_zeros(r, meant ? GGLD_GRADE_NOTE : GGLD_GRADE_ODD, start,
                        where);
}

bool ggld_content_zeros(ggld_rules *r, bool whole)
{
    const ggld_file *file = r->file;
    uint64_t file_bytes = file->source.size_bytes;
    uint64_t limit = whole ? ggld_min_u64(file->data_offset, file_bytes) : 0;
    uint64_t start = 0;
    uint8_t page[PAGE_BYTES];
    bool zero = false;

    if (file->version == 0 || file_bytes - limit < PAGE_BYTES)
        return true;
    r->report->status =
        all_zero(file, file_bytes, page, sizeof page, &zero, r->report->err);
    if (r->report->status == GGLD_OK && zero)
        r->report->status = find_start(file, limit, &start, r->report->err);
    if (r->report->status != GGLD_OK || !zero)
        return r->report->status == GGLD_OK;
    if (!whole || (start == limit && in_records(r, &start)))
        return report_zeros(r, GGLD_GRADE_ODD, start, "the records");
    return report_in_data(r, start);
}

uint64_t ggld_file_zero_tail(const ggld_file *file)
{
    uint64_t file_bytes = file->source.size_bytes;
    uint64_t start = file_bytes - PAGE_BYTES;
    uint8_t page[PAGE_BYTES];
    bool zero = false;

    if (file->shards != NULL || file_bytes < PAGE_BYTES ||
        start < file->data_offset ||
        all_zero(file, file_bytes, page, sizeof page, &zero, NULL) != GGLD_OK ||
        !zero)
        return 0;
    start = ggld_source_data_end(&file->source, file->data_offset, start);
    return tensor_behind(file, start) != NULL ? file_bytes - start : 0;
}
