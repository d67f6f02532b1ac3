/* SPDX-License-Identifier: MIT */
/* Rows of a tensor in the formats that ggld dump offers. */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include <ggld/tensor.h>

#include "model.h"

#include "out.h"

typedef enum dump_format {
    DUMP_TEXT,
    DUMP_F32,
    DUMP_F16,
    DUMP_NPY,
    DUMP_RAW
} dump_format;

typedef struct dump_job {
    model *m;
    const ggld_tensor *tensor;
    ggld_tensor_info info;
    dump_format format;
    uint64_t row_elems;
    uint64_t n_rows;    /* of the tensor */
    uint64_t first_row; /* to dump */
    uint64_t end_row;
} dump_job;

/* Exit status; what is wrong has been reported, but errors of o not. Memory is
 * bounded whatever the tensor's size. */
int dump_run_job(const dump_job *job, output *o);

#endif /* TOOLS_DUMP_H */
