/* SPDX-License-Identifier: MIT */
/* Codebooks of the IQ types: rows of signed bytes in element order, the same on
 * machines of either byte order. Every index that a block can hold is within
 * its table: 8, 9, 10, 8, 9 and 11 bits. */
#ifndef GGLD_KERN_GRIDS_H
#define GGLD_KERN_GRIDS_H

#include <stdint.h>

extern const int8_t ggld_grid_iq2xxs[256][8];
extern const int8_t ggld_grid_iq2xs[512][8];
extern const int8_t ggld_grid_iq2s[1024][8];
extern const int8_t ggld_grid_iq3xxs[256][4];
extern const int8_t ggld_grid_iq3s[512][4];
extern const int8_t ggld_grid_iq1s[2048][8];

#endif /* GGLD_KERN_GRIDS_H */
