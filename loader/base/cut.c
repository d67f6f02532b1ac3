/* SPDX-License-Identifier: MIT */
#include "cut.h"

#include <sys/stat.h>

#include "checked.h"

uint64_t ggld_cut_size(int fd, uint64_t base, uint64_t end)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < base)
        return end;
    return ggld_min_u64(end, (uint64_t)st.st_size - base);
}

ggld_status ggld_fail_cut(ggld_error *err, ggld_status code, ggld_place place,
                          const char *label, uint64_t now, uint64_t had)
{
    return ggld_fail(err, code, place, "%sfile: " GGLD_CUT_FORMAT, label, now,
                     had);
}
