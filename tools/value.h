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
/* The same of what is no array, and nothing else: no newline, and a string's
 * bytes whatever they are and wherever they go. */
void value_print_raw(output *o, const ggld_kv *kv);

/* Of texts that are shown to be known by, not to be used. */
#define VALUE_SHORT_BYTES 4096u

static inline value_limits value_limits_none(void)
{
    value_limits all = { UINT64_MAX, UINT64_MAX };
    return all;
}

/* {"key", "type", "value"}; of an array also "elem_type" and "count", and
 * "shortened": whether the limits cut it or a text in it. Of a text that is cut
 * (after max_chars bytes at most) also "shortened" and "bytes". */
void value_json_row(js *w, const char *key, const ggld_kv *kv,
                    value_limits limits);

/* "u32", "string[512]". */
text_number value_type_text(const ggld_kv *kv);

#endif /* TOOLS_VALUE_H */
