/* SPDX-License-Identifier: MIT */
/* Checks and copies of a start's arguments. */
#include "start.h"

#include <stdlib.h>
#include <string.h>

ggld_status ggld_check_options(const char *job, size_t struct_size,
                               size_t known, const uint64_t *reserved, size_t n,
                               ggld_error *err)
{
    if (struct_size != known)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "%s job: options of %zu bytes, %zu are known; build "
                         "the app with this library's headers",
                         job, struct_size, known);
    for (size_t i = 0; i < n; i++)
        if (reserved[i] != 0)
            return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                             "%s job: reserved field %zu of the options is not "
                             "0",
                             job, i);
    return GGLD_OK;
}

ggld_view *ggld_copy_views(const ggld_view *views, size_t n_views)
{
    ggld_view *copy = calloc(n_views + 1, sizeof *copy);
    if (copy != NULL && n_views != 0)
        memcpy(copy, views, n_views * sizeof *copy);
    return copy;
}
