/* SPDX-License-Identifier: MIT */
/* Key-values as text and as JSON, whatever their type. */
#ifndef TOOLS_VALUE_H
#define TOOLS_VALUE_H

#include <ggld/file.h>

#include "js.h"
#include "out.h"
#include "text.h"

typedef struct value_limits {
    uint64_t max_elems; /* shown of an array, of each nested one too */
    uint64_t max_chars; /* shown of a string */
} value_limits;

/* In one line, arrays in brackets, strings in quotes. */
void value_print(output *o, const ggld_kv *kv, value_limits limits);
/* In full, for a person or a script: a string as it is (made safe where the
 * output is a terminal), an array one element a line. */
void value_print_full(output *o, const ggld_kv *kv);

/* {"key", "type", "value"}; of an array also "elem_type" and "count", and
 * "shortened" where max_elems cut it. */
json_object *value_json_row(const ggld_kv *kv, uint64_t max_elems);

/* "u32", "string[512]". */
text_number value_type_text(const ggld_kv *kv);

#endif /* TOOLS_VALUE_H */
