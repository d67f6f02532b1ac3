/* SPDX-License-Identifier: MIT */
/* Tables made from the .def files, and the look-ups over them. */
#include "types.h"

#include <strings.h>

/* By id; a row without a name is no type. */
static const ggld_type_row type_rows[GGLD_TYPE_LIMIT] = {
#define TYPE(id, NAME, name, elems, bytes, can_dequantize, can_quantize, ...) \
    [id] = { id,                                                              \
             { name, elems, bytes, can_dequantize, can_quantize },            \
             __VA_ARGS__ },
#include "tensor_types.def"
};

#define TYPE(id, NAME, ...) \
    _Static_assert((id) == GGLD_TYPE_##NAME, "the public number of " #NAME);
#include "tensor_types.def"

const ggld_type_row *ggld_type_row_of(uint32_t tensor_type)
{
    if (tensor_type >= GGLD_TYPE_LIMIT)
        return NULL;
    const ggld_type_row *row = &type_rows[tensor_type];
    return row->traits.name != NULL ? row : NULL;
}

const ggld_type_traits *ggld_type_traits_of(uint32_t tensor_type)
{
    const ggld_type_row *row = ggld_type_row_of(tensor_type);
    return row != NULL ? &row->traits : NULL;
}

bool ggld_type_from_name(const char *name, uint32_t *out)
{
    for (uint32_t id = 0; id < GGLD_TYPE_LIMIT; id++) {
        const ggld_type_row *row = ggld_type_row_of(id);
        if (row != NULL && strcasecmp(row->traits.name, name) == 0) {
            *out = id;
            return true;
        }
    }
    return false;
}

const char *ggld_removed_type_name(uint32_t tensor_type)
{
    static const struct {
        uint32_t id;
        const char *name;
    } removed[] = {
#define REMOVED(id, name) { id, name },
#include "removed_types.def"
    };
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++)
        if (removed[i].id == tensor_type)
            return removed[i].name;
    return NULL;
}

static const struct {
    const char *name;
    uint32_t size;
} value_rows[] = {
#define VALUE(id, NAME, name, size) [id] = { name, size },
#include "value_types.def"
};

#define VALUE(id, NAME, name, size) \
    _Static_assert((id) == GGLD_VALUE_##NAME, "the public number of " #NAME);
#include "value_types.def"

bool ggld_value_type_known(uint32_t value_type)
{
    return value_type < sizeof value_rows / sizeof value_rows[0];
}

const char *ggld_value_type_name(uint32_t value_type)
{
    return ggld_value_type_known(value_type) ? value_rows[value_type].name
                                             : NULL;
}

uint32_t ggld_value_size(uint32_t value_type)
{
    return ggld_value_type_known(value_type) ? value_rows[value_type].size : 0;
}

static void swap_number(uint8_t *p, uint32_t width)
{
    for (uint32_t i = 0; i < width / 2; i++) {
        uint8_t byte = p[i];
        p[i] = p[width - 1 - i];
        p[width - 1 - i] = byte;
    }
}

void ggld_swap_numbers(void *numbers, uint32_t width, uint64_t count)
{
    uint8_t *p = numbers;
    for (uint64_t i = 0; i < count; i++, p += width)
        swap_number(p, width);
}

void ggld_swap_blocks(const ggld_type_row *row, void *blocks, uint64_t n_blocks)
{
    uint8_t *block = blocks;
    for (uint64_t i = 0; i < n_blocks; i++, block += row->traits.block_bytes)
        for (int f = 0; f < GGLD_MAX_FIELDS; f++)
            ggld_swap_numbers(block + row->fields[f].offset,
                              row->fields[f].width, row->fields[f].count);
}
