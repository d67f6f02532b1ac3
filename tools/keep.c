/* SPDX-License-Identifier: MIT */
/* See keep.h. */
#include "keep.h"

#include <stdio.h>
#include <string.h>

#include <ggld/types.h>

#include "ftype.h"

#define TYPES "f32, f16, bf16, q8_0, q4_0, q4_1, q5_0 or q5_1"
/* Of a text that is quoted. */
#define QUOTED_MAX 80

static const char *dots(const char *text)
{
    return strlen(text) > QUOTED_MAX ? "..." : "";
}

bool keep_read_type(const char *name, uint32_t *out,
                    char why[static KEEP_WHY_MAX])
{
    const ggld_type_traits *traits;
    uint32_t type, file_type;

    if (!ggld_type_from_name(name, &type)) {
        snprintf(why, KEEP_WHY_MAX, "unknown type '%.*s%s'", QUOTED_MAX, name,
                 dots(name));
        return false;
    }
    traits = ggld_type_traits_of(type);
    if (!traits->can_quantize || !ftype_of_tensor_type(type, &file_type)) {
        snprintf(why, KEEP_WHY_MAX, "type '%s' can't be written: " TYPES,
                 traits->name);
        return false;
    }
    *out = type;
    return true;
}

bool keep_read(const char *text, size_t *glob_bytes, uint32_t *type,
               char why[static KEEP_WHY_MAX])
{
    const char *equals = strrchr(text, '=');

    if (equals == NULL || equals == text) {
        snprintf(why, KEEP_WHY_MAX,
                 "--keep is '%.*s%s': GLOB=TYPE is wanted, as 'output.*=f16'",
                 QUOTED_MAX, text, dots(text));
        return false;
    }
    *glob_bytes = (size_t)(equals - text);
    return keep_read_type(equals + 1, type, why);
}
