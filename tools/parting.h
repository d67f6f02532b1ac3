/* SPDX-License-Identifier: MIT */
/* Where two values part: the first number, text or length of them whose stored
 * bits differ, whatever the files' versions and byte orders. */
#ifndef TOOLS_PARTING_H
#define TOOLS_PARTING_H

#include <ggld/file.h>

/* Deeper arrays than the format allows. */
#define PARTING_DEPTH 16

typedef struct parting {
    /* Of the element, from the outermost array on; 0: the value is no array. */
    unsigned depth;
    uint64_t index[PARTING_DEPTH];
    /* Of both elements; those of arrays where these differ, and GGLD_VALUE_ARRAY
     * where one array ends and the other goes on. */
    uint32_t type_a, type_b;
    /* Of numbers and bools. */
    unsigned width;
    uint64_t bits_a, bits_b;
    /* Of strings. */
    ggld_string text_a, text_b;
} parting;

/* Of two values of one type; false: they are the same. */
bool parting_find(const ggld_kv *a, const ggld_kv *b, parting *out);

#endif /* TOOLS_PARTING_H */
