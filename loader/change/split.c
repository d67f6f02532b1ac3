/* SPDX-License-Identifier: MIT */
/* ggld_split_write: one writer after the other, then all names at once. */
#include <inttypes.h>
#include <stdio.h>

#include "../base/error.h"
#include "set.h"
#include "take.h"

size_t ggld_shard_path(char *dst, size_t dst_size, const char *prefix,
                       uint32_t no, uint32_t count)
{
    int n = snprintf(dst, dst_size, "%s-%05" PRIu64 "-of-%05" PRIu32 ".gguf",
                     prefix, (uint64_t)no + 1, count);
    return n > 0 ? (size_t)n : 0;
}

static ggld_status write_all(ggld_set *s, ggld_error *err)
{
    ggld_status status = GGLD_OK;

    while (s->no < s->plan->n_parts && status == GGLD_OK) {
        status = ggld_set_begin_part(s, err);
        if (status == GGLD_OK)
            status = ggld_set_end_part(s, err);
    }
    if (status == GGLD_OK)
        status = ggld_take_unchanged(s->plan->file, err);
    if (status == GGLD_OK)
        status = ggld_set_publish(s, err);
    return status;
}

ggld_status ggld_split_write(const ggld_split_plan *plan, const char *prefix,
                             ggld_error *err)
{
    if (plan == NULL || prefix == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "the %s is NULL",
                         plan == NULL ? "plan" : "prefix");
    ggld_set s = { .plan = plan,
                   .prefix = prefix,
                   .meter = { .call = plan->options.progress,
                              .user = plan->options.progress_user,
                              .total_bytes = ggld_take_bytes(plan->file) } };
    ggld_status status = ggld_set_open(&s, err);
    if (status != GGLD_OK)
        return status;
    status = write_all(&s, err);
    ggld_set_close(&s);
    return status;
}
