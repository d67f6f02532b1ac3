/* SPDX-License-Identifier: MIT */
/* How far the values of two tensors are apart. */
#ifndef GGLD_CHANGE_MEASURE_H
#define GGLD_CHANGE_MEASURE_H

#include <ggld/diff.h>

#include "meter.h"

#define GGLD_MEASURE_ELEMS 16384u

typedef struct ggld_measure_room {
    float a[GGLD_MEASURE_ELEMS];
    float b[GGLD_MEASURE_ELEMS];
} ggld_measure_room;

/* Sets the fields of out that are about values. Both have one shape, and types
 * that can be dequantised. The meter moves by 4 bytes an element. */
ggld_status ggld_measure(const ggld_tensor *a, const ggld_tensor *b,
                         ggld_measure_room *room, ggld_meter *meter,
                         ggld_difference *out, ggld_error *err);

#endif /* GGLD_CHANGE_MEASURE_H */
