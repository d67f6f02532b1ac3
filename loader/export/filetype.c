/* SPDX-License-Identifier: MIT */
/* See filetype.h. */
#include "filetype.h"

#include <stddef.h>

#include <ggld/types.h>

bool ggld_file_type_of(uint32_t tensor_type, uint32_t *out)
{
    static const struct {
        uint32_t file_type;
        uint32_t tensor_type;
    } rows[] = {
        { 0, GGLD_TYPE_F32 },  { 1, GGLD_TYPE_F16 },   { 2, GGLD_TYPE_Q4_0 },
        { 3, GGLD_TYPE_Q4_1 }, { 7, GGLD_TYPE_Q8_0 },  { 8, GGLD_TYPE_Q5_0 },
        { 9, GGLD_TYPE_Q5_1 }, { 32, GGLD_TYPE_BF16 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].tensor_type == tensor_type) {
            *out = rows[i].file_type;
            return true;
        }
    }
    return false;
}
