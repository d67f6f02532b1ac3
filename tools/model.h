/* SPDX-License-Identifier: MIT */
/* A file as the commands look at it: open, or open as far as it is there. */
#ifndef TOOLS_MODEL_H
#define TOOLS_MODEL_H

#include <ggld/file.h>
#include <ggld/tensor.h>

#include "text.h"

typedef struct model {
    const char *path;
    ggld_file *file;
    ggld_file_info info;
    bool whole;              /* false: tensor data is missing */
    uint64_t n_whole;        /* tensors whose data is all there */
    uint64_t data_all_bytes; /* that the table asks for */
    uint64_t missing_bytes;  /* of them past the end of the file */
    uint64_t first_missing;  /* tensor whose data is the first to be cut off */
} model;

/* Exit status; what is wrong has been reported. model_open wants a file that
 * is whole, model_open_partial takes one whose data is not, and notes it. */
int model_open(model *m, const char *path);
int model_open_partial(model *m, const char *path);
/* Whatever is there of a file's records, without a word: is any? */
bool model_peek(model *m, const char *path);
/* What was said of a file that changes meanwhile is said of no file at all:
 * STATUS_FAULT, and reported. */
int model_unchanged(const model *m);
void model_close(model *m);

ggld_tensor_info model_tensor(const model *m, uint64_t index);
ggld_tensor_info model_tensor_info(const ggld_tensor *tensor);
/* "q4_0", or "type 99" where the type has no name. */
text_number model_type_text(uint32_t type);
/* "4096 x 128256"; "scalar" for no dimensions. */
text_number model_shape_text(const ggld_tensor_info *info);

#endif /* TOOLS_MODEL_H */
