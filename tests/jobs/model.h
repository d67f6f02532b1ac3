/* SPDX-License-Identifier: MIT */
/* Files to run jobs on, written here and not by the library's writer: tensors
 * of seeded, non-zero data, of any size, in bounded memory. Public interface
 * only. */
#ifndef TEST_JOBS_MODEL_H
#define TEST_JOBS_MODEL_H

#include <ggld/ggld.h>

typedef struct model_tensor {
    uint32_t type;
    uint64_t n_rows;
    uint64_t row_elems;
} model_tensor;

/* A new file of tensors t0, t1, ..., in the folder that TMPDIR names or, if it
 * is not set, /var/tmp, which is on a disk where /tmp may be memory. Data is on
 * multiples of 32. Exits where it can't be made. The name is to be freed. */
char *model_write(const model_tensor *tensors, size_t n);
/* The same, where the first n_holes tensors are a hole in the file. */
char *model_write_holed(const model_tensor *tensors, size_t n, size_t n_holes);
/* n tensors of n_bytes each, about, of q4_0, with small f32 ones between. */
char *model_write_layers(size_t n, uint64_t n_bytes);
/* The same in either byte order; data has the same bytes in both. */
char *model_write_in(bool big, const model_tensor *tensors, size_t n);
char *model_write_layers_in(bool big, size_t n, uint64_t n_bytes);
/* Removes the file and frees the name. */
void model_remove(char *path);

/* What is stored at an offset of the data section. */
uint8_t model_byte(uint64_t offset);

ggld_file *model_open(const char *path, uint32_t flags);

#endif /* TEST_JOBS_MODEL_H */
