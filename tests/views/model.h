/* SPDX-License-Identifier: MIT */
/* Small models as bytes, made here and not by the library's writer, in either
 * byte order, and every way to open them. Public interface only. */
#ifndef TEST_VIEWS_MODEL_H
#define TEST_VIEWS_MODEL_H

#include <ggld/ggld.h>

typedef struct model_tensor {
    const char *name;
    uint32_t type;
    uint32_t n_dims;
    uint64_t dims[4];
    const void *data; /* little-endian */
    size_t size;
} model_tensor;

typedef struct model {
    uint8_t *bytes; /* to be freed by model_free */
    size_t size;
    size_t data_offset; /* of the data section */
} model;

/* Version 3, data on multiples of 32. big_endian: the tensors' numbers are
 * brought to that order too. */
model model_encode(const model_tensor *tensors, size_t n, bool big_endian);
void model_free(model *m);

/* n bytes, the same for the same seed. */
void fill_random(void *dst, size_t n, uint64_t seed);

typedef enum open_way {
    OPEN_MEMORY,
    OPEN_MAP,
    OPEN_COPY,
    OPEN_PREAD,
    OPEN_RANGE,     /* at an odd offset of a larger file */
    OPEN_APP_MAP,   /* the app's source, mapped, without pread */
    OPEN_APP_PREAD, /* the app's source, reads come short */
    OPEN_BIG_MEMORY,
    OPEN_BIG_PREAD,
    N_OPEN_WAYS
} open_way;

extern const char *const open_way_names[N_OPEN_WAYS];

/* Opens the model that the tensors make, in that way; exits where it fails.
 * options may be NULL; flags are added to. The opened file needs nothing but
 * m, which the caller frees after closing. */
ggld_file *model_open(model *m, open_way way, const model_tensor *tensors,
                      size_t n, const ggld_open_options *options);

#endif /* TEST_VIEWS_MODEL_H */
