/* SPDX-License-Identifier: MIT */
/* One chunk of a tensor, from the source's values to the output's bytes. */
#ifndef GGLD_EXPORT_CONVERT_H
#define GGLD_EXPORT_CONVERT_H

#include "plan.h"

/* An I64 or F64 has so many. */
#define GGLD_MAX_ELEM_BYTES 8

typedef struct ggld_convert_slot {
    float values[GGLD_CHUNK_ELEMS];
    uint8_t bytes[GGLD_CHUNK_ELEMS * GGLD_MAX_ELEM_BYTES]; /* the result */
    size_t size_bytes;                                     /* of it */
} ggld_convert_slot;

/* On any thread. */
ggld_status ggld_convert_chunk(const ggld_export_plan *p,
                               const ggld_planned_chunk *c,
                               ggld_convert_slot *slot, ggld_error *err);

#endif /* GGLD_EXPORT_CONVERT_H */
