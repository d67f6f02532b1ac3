/* SPDX-License-Identifier: MIT */
/* The format's own numbers: value types, tensor types, strings. */
#ifndef GGLD_TYPES_H
#define GGLD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of text out of a file. It lies in the file's map (or in the private
 * copy of its metadata), is not NUL-terminated, may hold NULs and need not be
 * UTF-8. Valid until the file's last ggld_close(). */
typedef struct ggld_string {
    const char *data; /* never NULL, for an empty string neither */
    uint64_t len;     /* bytes */
} ggld_string;

/* Types of key-values, as they stand in the file. */
typedef enum ggld_value_type {
    GGLD_VALUE_U8 = 0,
    GGLD_VALUE_I8 = 1,
    GGLD_VALUE_U16 = 2,
    GGLD_VALUE_I16 = 3,
    GGLD_VALUE_U32 = 4,
    GGLD_VALUE_I32 = 5,
    GGLD_VALUE_F32 = 6,
    GGLD_VALUE_BOOL = 7, /* one byte; 0 is false, anything else true */
    GGLD_VALUE_STRING = 8,
    GGLD_VALUE_ARRAY = 9,
    GGLD_VALUE_U64 = 10,
    GGLD_VALUE_I64 = 11,
    GGLD_VALUE_F64 = 12
} ggld_value_type;

/* "u8", "string", "array" and so on; NULL for a number that is no type. The
 * string is static. Any thread. */
GGLD_API const char *ggld_value_type_name(uint32_t value_type);

/* Types of tensors, as they stand in the file. Numbers between that are not
 * here were removed from the format (4, 5, 31-33, 36-38). */
typedef enum ggld_tensor_type {
    GGLD_TYPE_F32 = 0,
    GGLD_TYPE_F16 = 1,
    GGLD_TYPE_Q4_0 = 2,
    GGLD_TYPE_Q4_1 = 3,
    GGLD_TYPE_Q5_0 = 6,
    GGLD_TYPE_Q5_1 = 7,
    GGLD_TYPE_Q8_0 = 8,
    GGLD_TYPE_Q8_1 = 9,
    GGLD_TYPE_Q2_K = 10,
    GGLD_TYPE_Q3_K = 11,
    GGLD_TYPE_Q4_K = 12,
    GGLD_TYPE_Q5_K = 13,
    GGLD_TYPE_Q6_K = 14,
    GGLD_TYPE_Q8_K = 15,
    GGLD_TYPE_IQ2_XXS = 16,
    GGLD_TYPE_IQ2_XS = 17,
    GGLD_TYPE_IQ3_XXS = 18,
    GGLD_TYPE_IQ1_S = 19,
    GGLD_TYPE_IQ4_NL = 20,
    GGLD_TYPE_IQ3_S = 21,
    GGLD_TYPE_IQ2_S = 22,
    GGLD_TYPE_IQ4_XS = 23,
    GGLD_TYPE_I8 = 24,
    GGLD_TYPE_I16 = 25,
    GGLD_TYPE_I32 = 26,
    GGLD_TYPE_I64 = 27,
    GGLD_TYPE_F64 = 28,
    GGLD_TYPE_IQ1_M = 29,
    GGLD_TYPE_BF16 = 30,
    GGLD_TYPE_TQ1_0 = 34,
    GGLD_TYPE_TQ2_0 = 35,
    GGLD_TYPE_MXFP4 = 39,
    GGLD_TYPE_NVFP4 = 40,
    GGLD_TYPE_Q1_0 = 41,
    GGLD_TYPE_Q2_0 = 42
} ggld_tensor_type;

typedef struct ggld_type_traits {
    const char *name; /* lower case, as the field writes it: "q4_0", "q4_K" */
    uint32_t block_elems;
    uint32_t block_bytes;
    bool can_dequantize;
    bool can_quantize;
} ggld_type_traits;

/* NULL for a number that is unknown or was removed. The traits are static.
 * Any thread. */
GGLD_API const ggld_type_traits *ggld_type_traits_of(uint32_t tensor_type);

/* The type with that name, in any case ("Q4_K" too): true and its number in
 * *out, or false and *out untouched. Any thread. */
GGLD_API bool ggld_type_from_name(const char *name, uint32_t *out);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_TYPES_H */
