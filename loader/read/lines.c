/* SPDX-License-Identifier: MIT */
/* What a transfer as text does to line ends, told from tensor data: there 0A
 * and 0D stand as often as other bytes, and one behind the other as often as
 * other neighbours do. Asked only where something else is wrong. */
#include <inttypes.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "hints.h"
#include "rules.h"

/* How much of the file's end is looked at, and how much of that at once. */
#define LOOK_BYTES  (16u << 20)
#define PIECE_BYTES (1u << 20)
/* Fewer than these are no evidence. */
#define ENOUGH 64u

/* Bytes 0A, by what they follow. */
typedef struct line_ends {
    uint64_t all;
    uint64_t behind_0d;
    uint64_t behind_near; /* 0B, 0C, 0E or 0F: some four times as many */
} line_ends;

static void count(line_ends *n, const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size, *at = data + 1;

    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        n->all++;
        n->behind_0d += at[-1] == 0x0D;
        n->behind_near += at[-1] >= 0x0B && at[-1] <= 0x0F && at[-1] != 0x0D;
        at++;
    }
}

static ggld_status count_in(const ggld_file *file, uint64_t start, line_ends *n,
                            ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, start);
    uint64_t end = file->source.size_bytes;
    uint64_t room = ggld_min_u64(end - start, PIECE_BYTES);
    uint8_t *buffer = ggld_alloc_bytes(&file->allocator, room);
    ggld_status status = GGLD_OK;

    if (buffer == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for %" PRIu64 " bytes of the file", room);
    while (start < end && status == GGLD_OK) {
        uint64_t size = ggld_min_u64(end - start, room);
        status = ggld_file_pread(file, start, buffer, size, place, err);
        if (status == GGLD_OK)
            count(n, buffer, (size_t)size);
        start += size;
    }
    ggld_free(&file->allocator, buffer);
    return status;
}

/* What line feeds were added to is longer than its tensors. */
static bool is_longer(const ggld_file *file)
{
    uint64_t end, last = file->data_offset;

    for (uint64_t i = 0; i < file->n_tensors; i++) {
        const ggld_tensor *t = &file->tensors[i];
        if (t->size_bytes != GGLD_NO_SIZE &&
            ggld_add_u64(t->offset, t->size_bytes, &end) && end > last)
            last = end;
    }
    return ggld_align_up(last, file->alignment_bytes, &end) &&
           end < file->source.size_bytes;
}

bool ggld_content_lines(ggld_rules *r, bool whole)
{
    const ggld_file *file = r->file;
    ggld_report *report = r->report;
    uint64_t file_bytes = file->source.size_bytes;
    uint64_t start = whole ? file->data_offset : r->table_end;
    line_ends n = { 0, 0, 0 };

    /* Of a field that is wrong it may have been said. */
    if (file->version == 0 || start >= file_bytes ||
        (report->hinted & (1u << GGLD_HINT_LINES)) != 0 ||
        !(report->broken || (whole && is_longer(file))))
        return true;
    if (file_bytes - start > LOOK_BYTES)
        start = file_bytes - LOOK_BYTES;
    report->status = count_in(file, start, &n, report->err);
    if (report->status != GGLD_OK)
        return false;
    ggld_subject subject =
        ggld_subject_of(GGLD_IN_FILE, GGLD_NO_INDEX, start, NULL);
    if (n.all >= ENOUGH && n.behind_0d == n.all)
        return ggld_report_add(report, GGLD_GRADE_ODD, GGLD_E_VALUE, subject,
                               GGLD_LINES_ADDED
                               "%" PRIu64 " bytes 0A from "
                               "byte %" PRIu64
                               " on follows a 0D" GGLD_LINES_ADDED_END,
                               n.all, start);
    if (n.behind_near >= ENOUGH && n.behind_0d == 0)
        return ggld_report_add(report, GGLD_GRADE_ODD, GGLD_E_VALUE, subject,
                               GGLD_LINES_TAKEN
                               "%" PRIu64 " bytes 0A from "
                               "byte %" PRIu64 " on follows a 0D, but %" PRIu64
                               " a 0B, 0C, 0E or 0F" GGLD_LINES_TAKEN_END,
                               n.all, start, n.behind_near);
    return true;
}
