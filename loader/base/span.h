/* SPDX-License-Identifier: MIT */
/* A run of readable bytes, and the only gate from an offset to a pointer. */
#ifndef GGLD_BASE_SPAN_H
#define GGLD_BASE_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "checked.h"

typedef struct ggld_span {
    const uint8_t *data;
    uint64_t size;
} ggld_span;

/* size bytes from offset on, or NULL where they are not all inside. (Of no bytes
 * at NULL too: C has no NULL + 0.) */
static inline const uint8_t *ggld_span_at(ggld_span span, uint64_t offset,
                                          uint64_t size)
{
    return span.data != NULL && ggld_fits(offset, size, span.size)
               ? span.data + offset
               : NULL;
}

#endif /* GGLD_BASE_SPAN_H */
