/* SPDX-License-Identifier: MIT */
/* Models for the tests and measurements of digests: made by the library's own
 * writer, of seeded data that is not zero. */
#ifndef TEST_INTEGRITY_MODEL_H
#define TEST_INTEGRITY_MODEL_H

#include <ggld/ggld.h>

typedef struct model_tensor {
    const char *name;
    size_t name_len; /* 0: up to the NUL */
    uint32_t type;
    uint32_t n_dims;
    uint64_t dims[4];
    uint64_t seed; /* of its data; 0: its number plus one */
} model_tensor;

/* A file at path with these tensors, and key-values n_extra_kv more than one.
 * Exits where it can't be made. */
void model_write(const char *path, const model_tensor *tensors, size_t n,
                 uint32_t n_extra_kv);
/* About so many bytes in the shape of a llama: embeddings, layers, norms. */
void model_write_llama(const char *path, uint64_t n_bytes);

/* A new name in TMPDIR, or /tmp; to be freed. */
char *model_path(const char *name);
/* Reads a whole file; exits where it can't. To be freed; has a NUL behind. */
char *model_read(const char *path, size_t *size);
void model_save(const char *path, const void *data, size_t size);
/* Flips a bit of one byte. */
void model_flip(const char *path, uint64_t offset);

#endif /* TEST_INTEGRITY_MODEL_H */
