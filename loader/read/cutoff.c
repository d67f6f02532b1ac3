/* SPDX-License-Identifier: MIT */
/* Files that end too early, as a download does that stopped. Said only where
 * nothing else that was found explains it, and where what the file asks for can
 * be: a damaged number asks for more than there is, too. */
#include <inttypes.h>

#include "../base/checked.h"
#include "hints.h"
#include "rules.h"

/* ext4 has no larger files. */
#define FILE_MAX_BYTES (UINT64_C(1) << 44)

/* A size that is a round number is no explanation; downloads stop there too. */
static bool is_explained(const ggld_report *report)
{
    const uint32_t none = 1u << GGLD_HINT_NONE | 1u << GGLD_HINT_SIZE;
    return (report->hinted & ~none) != 0;
}

static ggld_subject at_end(const ggld_file *file)
{
    return ggld_subject_of(GGLD_IN_FILE, GGLD_NO_INDEX, file->source.size_bytes,
                           NULL);
}

bool ggld_content_cut_records(ggld_rules *r, const ggld_parse *parse)
{
    const ggld_file *file = r->file;
    bool in_kvs = file->n_kvs < parse->n_kvs;
    uint64_t n = in_kvs ? file->n_kvs : file->n_tensors;
    uint64_t total = in_kvs ? parse->n_kvs : parse->n_tensors;

    if (!parse->cut || is_explained(r->report))
        return true;
    if (total == 0)
        return ggld_report_add(r->report, GGLD_GRADE_NOTE, GGLD_E_VALUE,
                               at_end(file),
                               GGLD_CUT_BEGIN "metadata" GGLD_CUT_END);
    return ggld_report_add(r->report, GGLD_GRADE_NOTE, GGLD_E_VALUE,
                           at_end(file),
                           GGLD_CUT_BEGIN "metadata (%" PRIu64 " of %" PRIu64
                                          " %s are whole)" GGLD_CUT_END,
                           n, total, in_kvs ? "key-values" : "tensor records");
}

/* Where data is to end. false: there is none, or it has gaps, or tensors over
 * one another, as where an offset or a dimension is damaged. */
static bool find_data_end(const ggld_file *file, uint64_t *end)
{
    uint64_t tiled = file->data_offset, size, t_end, aligned;

    *end = 0;
    for (uint64_t i = 0; i < file->n_tensors; i++) {
        const ggld_tensor *t = &file->tensors[i];
        if (t->size_bytes == GGLD_NO_SIZE ||
            !ggld_add_u64(t->offset, t->size_bytes, &t_end) ||
            !ggld_align_up(t->size_bytes, file->alignment_bytes, &size) ||
            !ggld_add_u64(tiled, size, &tiled))
            return false;
        if (size != 0 && t_end > *end)
            *end = t_end;
    }
    return ggld_align_up(*end, file->alignment_bytes, &aligned) &&
           aligned == tiled;
}

bool ggld_content_cut(ggld_rules *r)
{
    const ggld_file *file = r->file;
    uint64_t end;

    if (!r->placed || is_explained(r->report) || !find_data_end(file, &end) ||
        end <= file->source.size_bytes || end > FILE_MAX_BYTES)
        return true;
    return ggld_report_add(
        r->report, GGLD_GRADE_NOTE, GGLD_E_VALUE, at_end(file),
        GGLD_CUT_BEGIN "data, %" PRIu64 " bytes are missing" GGLD_CUT_END,
        end - file->source.size_bytes);
}
