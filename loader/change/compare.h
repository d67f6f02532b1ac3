/* SPDX-License-Identifier: MIT */
/* Are two records the same, whatever versions and byte orders they are in? */
#ifndef GGLD_CHANGE_COMPARE_H
#define GGLD_CHANGE_COMPARE_H

#include <stdbool.h>

#include <ggld/file.h>
#include <ggld/tensor.h>

#include "meter.h"

#define GGLD_COMPARE_BYTES (256u << 10)

/* Of both sides, as they are compared. */
typedef struct ggld_compare_room {
    uint8_t a[GGLD_COMPARE_BYTES];
    uint8_t b[GGLD_COMPARE_BYTES];
} ggld_compare_room;

/* Type and value. */
ggld_status ggld_compare_kvs(const ggld_kv *a, const ggld_kv *b, bool *same,
                             ggld_error *err);
bool ggld_same_shape(const ggld_tensor_info *a, const ggld_tensor_info *b);
/* Can ggld_compare_data say something of two tensors? Their types are the same
 * and their shapes too, and they are of one byte order or of a known type. */
bool ggld_comparable(const ggld_tensor_info *a, const ggld_tensor_info *b);
/* *first is the first stored byte that differs, or UINT64_MAX. Of an unknown
 * type, whose extent may have padding at its end, what one has more than the
 * other must be zeros. The meter moves by a's bytes where all are gone
 * through. */
ggld_status ggld_compare_data(const ggld_tensor *a, const ggld_tensor *b,
                              ggld_compare_room *room, ggld_meter *meter,
                              uint64_t *first, ggld_error *err);

#endif /* GGLD_CHANGE_COMPARE_H */
