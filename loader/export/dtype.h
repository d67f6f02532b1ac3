/* SPDX-License-Identifier: MIT */
/* The element types of safetensors. */
#ifndef GGLD_EXPORT_DTYPE_H
#define GGLD_EXPORT_DTYPE_H

#include <stdint.h>

#include "source.h"

typedef struct ggld_dtype {
    const char *name;
    uint32_t bits; /* of an element */
    uint32_t type; /* GGUF's for the same bytes, or GGLD_NO_TYPE */
    /* Of an element of 8 bits that is a float, or NULL. Exact. */
    float (*decode)(uint8_t byte);
} ggld_dtype;

/* NULL where there is none of that name. */
const ggld_dtype *ggld_dtype_of_name(ggld_string name);
/* NULL where safetensors has none for it. */
const ggld_dtype *ggld_dtype_of_type(uint32_t type);

#endif /* GGLD_EXPORT_DTYPE_H */
