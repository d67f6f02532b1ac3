/* SPDX-License-Identifier: MIT */
/* The table of ftype.h. */
#include "ftype.h"

#include <ggld/types.h>

/* Set by programs that guessed the number themselves. */
#define FTYPE_GUESSED 1024u
#define NO_TYPE       UINT32_MAX

static const struct {
    uint32_t file_type;
    uint32_t tensor_type; /* of a pure model; NO_TYPE: a mix, or removed */
    const char *name;
} ftypes[] = {
    { 0, GGLD_TYPE_F32, "F32" },
    { 1, GGLD_TYPE_F16, "F16" },
    { 2, GGLD_TYPE_Q4_0, "Q4_0" },
    { 3, GGLD_TYPE_Q4_1, "Q4_1" },
    { 4, NO_TYPE, "Q4_1_SOME_F16" },
    { 5, NO_TYPE, "Q4_2" },
    { 6, NO_TYPE, "Q4_3" },
    { 7, GGLD_TYPE_Q8_0, "Q8_0" },
    { 8, GGLD_TYPE_Q5_0, "Q5_0" },
    { 9, GGLD_TYPE_Q5_1, "Q5_1" },
    { 10, NO_TYPE, "Q2_K" },
    { 11, GGLD_TYPE_Q3_K, "Q3_K_S" },
    { 12, NO_TYPE, "Q3_K_M" },
    { 13, NO_TYPE, "Q3_K_L" },
    { 14, GGLD_TYPE_Q4_K, "Q4_K_S" },
    { 15, NO_TYPE, "Q4_K_M" },
    { 16, GGLD_TYPE_Q5_K, "Q5_K_S" },
    { 17, NO_TYPE, "Q5_K_M" },
    { 18, GGLD_TYPE_Q6_K, "Q6_K" },
    { 19, GGLD_TYPE_IQ2_XXS, "IQ2_XXS" },
    { 20, GGLD_TYPE_IQ2_XS, "IQ2_XS" },
    { 21, GGLD_TYPE_Q2_K, "Q2_K_S" },
    { 22, NO_TYPE, "IQ3_XS" },
    { 23, GGLD_TYPE_IQ3_XXS, "IQ3_XXS" },
    { 24, GGLD_TYPE_IQ1_S, "IQ1_S" },
    { 25, GGLD_TYPE_IQ4_NL, "IQ4_NL" },
    { 26, GGLD_TYPE_IQ3_S, "IQ3_S" },
    { 27, NO_TYPE, "IQ3_M" },
    { 28, GGLD_TYPE_IQ2_S, "IQ2_S" },
    { 29, NO_TYPE, "IQ2_M" },
    { 30, GGLD_TYPE_IQ4_XS, "IQ4_XS" },
    { 31, GGLD_TYPE_IQ1_M, "IQ1_M" },
    { 32, GGLD_TYPE_BF16, "BF16" },
    { 33, NO_TYPE, "Q4_0_4_4" },
    { 34, NO_TYPE, "Q4_0_4_8" },
    { 35, NO_TYPE, "Q4_0_8_8" },
    { 36, GGLD_TYPE_TQ1_0, "TQ1_0" },
    { 37, GGLD_TYPE_TQ2_0, "TQ2_0" },
    { 38, GGLD_TYPE_MXFP4, "MXFP4" },
    { 39, GGLD_TYPE_NVFP4, "NVFP4" },
    { 40, GGLD_TYPE_Q1_0, "Q1_0" },
    { 41, GGLD_TYPE_Q2_0, "Q2_0" },
};
#define N_FTYPES (sizeof ftypes / sizeof ftypes[0])

const char *ftype_name(uint64_t file_type)
{
    file_type &= ~(uint64_t)FTYPE_GUESSED;
    for (size_t i = 0; i < N_FTYPES; i++)
        if (ftypes[i].file_type == file_type)
            return ftypes[i].name;
    return NULL;
}

bool ftype_of_tensor_type(uint32_t tensor_type, uint32_t *out)
{
    for (size_t i = 0; i < N_FTYPES; i++) {
        if (ftypes[i].tensor_type == tensor_type) {
            *out = ftypes[i].file_type;
            return true;
        }
    }
    return false;
}
