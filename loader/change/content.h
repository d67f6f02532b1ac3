/* SPDX-License-Identifier: MIT */
/* A number for what tensors hold, the same in whatever file they lie: by it a
 * file is known again whose times, or whose inode, are others. */
#ifndef GGLD_CHANGE_CONTENT_H
#define GGLD_CHANGE_CONTENT_H

#include <ggld/tensor.h>

#include "compare.h"

/* A number for some bytes: against damage, not against ill will. */
uint64_t ggld_content_number(const void *data, size_t size);

/* Of n tensors of the file from number first on: their records, and their data
 * as it is in the byte order. Zeros at the end of data do not count, as an
 * unknown type's extent may have them or not. */
ggld_status ggld_content_digest(const ggld_file *file, uint64_t first,
                                uint64_t n, bool big_endian,
                                ggld_compare_room *room, ggld_meter *meter,
                                uint64_t *out, ggld_error *err);

#endif /* GGLD_CHANGE_CONTENT_H */
