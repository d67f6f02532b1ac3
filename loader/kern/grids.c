/* SPDX-License-Identifier: MIT */
/* The codebooks' data. A row never crosses a cache line. */
#include "grids.h"

#define TABLE(name, rows, width, ...) \
    _Alignas(64) const int8_t ggld_grid_##name[rows][width] = { __VA_ARGS__ };
#include "grids.inc"
