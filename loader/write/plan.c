/* SPDX-License-Identifier: MIT */
/* Pure arithmetic, every step of it checked. */
#include "plan.h"

#include "../base/checked.h"

/* end rounded up to the alignment, if it is one that a file can have. */
static bool align_offset(uint64_t end, uint64_t alignment_bytes, uint64_t *out)
{
    return ggld_align_up(end, alignment_bytes, out) && *out <= INT64_MAX;
}

bool ggld_plan_make(ggld_plan *plan, ggld_out_tensor *tensors,
                    uint64_t n_tensors, uint64_t metadata_bytes,
                    uint64_t alignment_bytes, bool padded_end)
{
    uint64_t end = metadata_bytes;

    plan->n_laid = 0;
    if (!align_offset(end, alignment_bytes, &plan->data_offset))
        return false;
    for (uint64_t i = 0; i < n_tensors; i++) {
        uint64_t start;
        if (!align_offset(end, alignment_bytes, &start) ||
            !ggld_add_u64(start, tensors[i].size_bytes, &end) ||
            end > INT64_MAX)
            return false;
        tensors[i].offset = start - plan->data_offset;
        plan->n_laid++;
    }
    if (padded_end && !align_offset(end, alignment_bytes, &end))
        return false;
    plan->file_bytes = end;
    return true;
}
