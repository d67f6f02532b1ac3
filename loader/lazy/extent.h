/* SPDX-License-Identifier: MIT */
/* The stored bytes of a tensor, on the way in. */
#ifndef GGLD_LAZY_EXTENT_H
#define GGLD_LAZY_EXTENT_H

#include <ggld/tensor.h>

/* Before bytes of a tensor are used: are they in the file (opened with
 * GGLD_OPEN_METADATA they may be missing), and does the verifier agree? The
 * range is inside the tensor. On success *file_offset is where it begins; of
 * no bytes nothing is asked. */
ggld_status ggld_extent_admit(const ggld_tensor *tensor, uint64_t first_byte,
                              uint64_t size_bytes, uint64_t *file_offset,
                              ggld_error *err);

/* Copies bytes that were admitted, mapped or not; pread: past the map. */
ggld_status ggld_extent_read(const ggld_tensor *tensor, uint64_t file_offset,
                             void *dst, uint64_t size_bytes, bool pread,
                             ggld_error *err);

#endif /* GGLD_LAZY_EXTENT_H */
