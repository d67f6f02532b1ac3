/* SPDX-License-Identifier: MIT */
/* Words in messages that count. */
#ifndef GGLD_BASE_PLURAL_H
#define GGLD_BASE_PLURAL_H

#include <stdint.h>

/* The ending of what there are n of: "%" PRIu64 " tensor%s". */
static inline const char *ggld_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#endif /* GGLD_BASE_PLURAL_H */
