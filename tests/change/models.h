/* SPDX-License-Identifier: MIT */
/* A small model in any version and byte order, made by hand, with one thing
 * about it that is odd or another. */
#ifndef TESTS_CHANGE_MODELS_H
#define TESTS_CHANGE_MODELS_H

#include "../write/support.h"

#define F32_ELEMS 300

typedef struct model_made {
    uint32_t version;
    bool big_endian;
    uint32_t alignment; /* 0: no key, and 32 */
    bool key_again;     /* general.name is there twice */
    bool unknown;       /* a tensor of type 99, last */
    bool other_order;   /* of key-values and tensors */
    /* Each of these makes it another model. */
    bool no_name;        /* general.name is not there */
    uint64_t count_type; /* of "count": u32, or what is said */
    const char *text;    /* of "text" */
    uint32_t token;      /* number 5 of the array "tokens" */
    bool no_q;           /* tensor "q" is not there */
    uint32_t f_dims[2];  /* of tensor "f"; 0: 100 x 3 */
    uint32_t q_type;     /* Q8_0, or Q5_1 */
    uint32_t value_at;   /* of tensor "f" */
    uint32_t value_bits; /* that stand there; 0: as usual */
    uint32_t second_at;  /* and there */
    uint32_t second_bits;
    uint8_t unknown_byte; /* first of the unknown tensor */
} model_made;

image model_image(const model_made *m);
/* Opens a file; where that fails, the test ends. */
ggld_file *must_open(const char *path);
/* The model under that name in a folder, open. */
ggld_file *model_open(const char *folder, const char *name,
                      const model_made *m);

#endif /* TESTS_CHANGE_MODELS_H */
