/* SPDX-License-Identifier: MIT */
/* The tables of value and tensor types, for the layers above. */
#ifndef GGLD_SPEC_TYPES_H
#define GGLD_SPEC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/types.h>

#define GGLD_MAX_FIELDS 3

/* count numbers of width bytes each, from offset in a block. width 0: none. */
typedef struct ggld_block_field {
    uint16_t width;
    uint16_t offset;
    uint16_t count;
} ggld_block_field;

typedef struct ggld_type_row {
    uint32_t id;
    ggld_type_traits traits;
    ggld_block_field fields[GGLD_MAX_FIELDS];
} ggld_type_row;

/* One past the highest id there is. */
#define GGLD_TYPE_LIMIT 43

/* NULL where the type is unknown or was removed. */
const ggld_type_row *ggld_type_row_of(uint32_t tensor_type);
/* The name of a type that was removed, or NULL. */
const char *ggld_removed_type_name(uint32_t tensor_type);

/* Bytes of one value; 0 for strings, arrays and what is no type. */
uint32_t ggld_value_size(uint32_t value_type);
bool ggld_value_type_known(uint32_t value_type);

/* Reverses the byte order of the numbers in n_blocks blocks, in place. */
void ggld_swap_blocks(const ggld_type_row *row, void *blocks,
                      uint64_t n_blocks);
/* Reverses each of count numbers of width bytes (1, 2, 4, 8), in place. */
void ggld_swap_numbers(void *numbers, uint32_t width, uint64_t count);

#endif /* GGLD_SPEC_TYPES_H */
