/* SPDX-License-Identifier: MIT */
/* Where everything in the file goes, from sizes alone. */
#ifndef GGLD_WRITE_PLAN_H
#define GGLD_WRITE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/tensor.h>

/* A tensor of the file to be written. */
typedef struct ggld_out_tensor {
    ggld_string name; /* the writer's copy */
    uint64_t dims[4];
    uint32_t n_dims;
    uint32_t type;
    uint64_t size_bytes;
    uint64_t offset;           /* from the start of the data section */
    const ggld_tensor *source; /* of a tensor that is copied; else NULL */
} ggld_out_tensor;

typedef struct ggld_plan {
    uint64_t data_offset; /* in the file, of the data section */
    uint64_t file_bytes;
    uint64_t n_laid; /* tensors whose place is known */
} ggld_plan;

/* Sets the tensors' offsets: one behind the other, each on the alignment (a
 * power of two). padded_end: the alignment holds for the file's end too.
 * false where the file would be longer than INT64_MAX, the most that a file
 * system counts: n_laid is then the tensor that is too much (n_tensors: the
 * end's padding). */
bool ggld_plan_make(ggld_plan *plan, ggld_out_tensor *tensors,
                    uint64_t n_tensors, uint64_t metadata_bytes,
                    uint64_t alignment_bytes, bool padded_end);

#endif /* GGLD_WRITE_PLAN_H */
