/* SPDX-License-Identifier: MIT */
/* Tensors in the order of their data. */
#ifndef GGLD_READ_ORDER_H
#define GGLD_READ_ORDER_H

#include <stdint.h>

#include "file.h"

/* Fills order with the numbers of n tensors, sorted by offset; at one offset
 * those without bytes come first, then the lower number. */
void ggld_order_sort(uint32_t *order, const ggld_tensor *tensors, uint64_t n);

#endif /* GGLD_READ_ORDER_H */
