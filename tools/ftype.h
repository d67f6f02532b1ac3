/* SPDX-License-Identifier: MIT */
/* File types: the numbers of general.file_type, the names that people use for
 * them (Q4_K_M), and which one a mix of tensors looks like. */
#ifndef TOOLS_FTYPE_H
#define TOOLS_FTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* NULL for a number that is not known. */
const char *ftype_name(uint64_t file_type);
/* The number of a model that is mostly of one tensor type; false where there
 * is none. */
bool ftype_of_tensor_type(uint32_t tensor_type, uint32_t *out);

typedef struct ftype_verdict {
    const char *name; /* NULL: there is nothing to go by */
    bool declared;    /* by general.file_type, not guessed from the tensors */
} ftype_verdict;

ftype_verdict ftype_of_model(const model *m);

#endif /* TOOLS_FTYPE_H */
