/* SPDX-License-Identifier: MIT */
/* What a model is by its tensors: see ftype.h. The guess goes by what llama.cpp's
 * recipes mix: a base type for most matrices, and a better one for attention
 * values and the like in the M and L variants. */
#include "ftype.h"

#include <string.h>

#include <ggld/types.h>

#define NO_TYPE UINT32_MAX

/* Types beyond this number are not counted in a mix. */
#define N_TYPES 64

/* Elements of each type in the matrices between input and output: the
 * embeddings and the output are often of another type than the rest. */
static void mix_count(const model *m, uint64_t elems[N_TYPES])
{
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_tensor_info info = model_tensor(m, i);
        bool in_block =
            info.name.len > 4 && memcmp(info.name.data, "blk.", 4) == 0;
        if (info.n_dims >= 2 && info.type < N_TYPES && info.supported)
            elems[info.type] += in_block ? info.n_elems : info.n_elems / 64;
    }
}

static uint32_t mix_main_type(const uint64_t elems[N_TYPES])
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < N_TYPES; i++)
        if (elems[i] > elems[best])
            best = i;
    return elems[best] > 0 ? best : NO_TYPE;
}

/* A type that takes part, not one that only the output has. */
static bool mix_has(const uint64_t elems[N_TYPES], uint32_t type,
                    uint32_t main_type)
{
    return elems[type] > elems[main_type] / 32;
}

static const char *mix_name(const uint64_t elems[N_TYPES])
{
    uint32_t type = mix_main_type(elems);
    uint32_t file_type = 0;

    switch (type) {
    case NO_TYPE:
        return NULL;
    case GGLD_TYPE_Q2_K:
        return mix_has(elems, GGLD_TYPE_Q3_K, type) ? "Q2_K" : "Q2_K_S";
    case GGLD_TYPE_Q3_K:
        return mix_has(elems, GGLD_TYPE_Q4_K, type)   ? "Q3_K_M"
               : mix_has(elems, GGLD_TYPE_Q5_K, type) ? "Q3_K_L"
                                                      : "Q3_K_S";
    case GGLD_TYPE_Q4_K:
        return mix_has(elems, GGLD_TYPE_Q6_K, type) ? "Q4_K_M" : "Q4_K_S";
    case GGLD_TYPE_Q5_K:
        return mix_has(elems, GGLD_TYPE_Q6_K, type) ? "Q5_K_M" : "Q5_K_S";
    default:
        return ftype_of_tensor_type(type, &file_type) ? ftype_name(file_type)
                                                      : NULL;
    }
}

ftype_verdict ftype_of_model(const model *m)
{
    ftype_verdict verdict = { NULL, false };
    const ggld_kv *kv = ggld_kv_find(m->file, "general.file_type");
    uint64_t elems[N_TYPES] = { 0 };
    uint64_t file_type;

    if (kv != NULL && ggld_kv_get_u64(kv, &file_type))
        verdict.name = ftype_name(file_type);
    verdict.declared = verdict.name != NULL;
    if (verdict.declared)
        return verdict;
    mix_count(m, elems);
    verdict.name = mix_name(elems);
    return verdict;
}
