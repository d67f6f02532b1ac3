/* SPDX-License-Identifier: MIT */
/* Where the data of a safetensors file's tensors lies: they have to fill it. */
#ifndef GGLD_EXPORT_PLACE_H
#define GGLD_EXPORT_PLACE_H

#include "header.h"

/* Sorts the tensors by their data, and refuses what overlaps or leaves bytes
 * that belong to none. Each lies within the data_bytes at data_offset. */
ggld_status ggld_st_place(ggld_st_header *h, uint64_t data_offset,
                          uint64_t data_bytes, const char *label,
                          ggld_error *err);

#endif /* GGLD_EXPORT_PLACE_H */
