/* SPDX-License-Identifier: MIT */
/* The model that the tests of editing begin with, in any version and order,
 * built by hand. */
#ifndef TESTS_EDIT_MODEL_H
#define TESTS_EDIT_MODEL_H

#include "../write/support.h"

/* What of it a test may want to be other. The rest: an array of three texts
 * under "words", tensors "a" (f32), "odd" (of an unknown type) and "last" (i8,
 * its end not padded). */
typedef struct model_form {
    uint32_t version;
    bool big_endian;
    const char *name; /* under general.name */
    uint32_t count;   /* under "count" */
    const char *count_key;
    const char *extra;  /* text under "extra", last; NULL: none */
    long padding;       /* bytes of ggld.padding, last; negative: none */
    const char *tensor; /* first tensor's name */
    size_t long_bytes;  /* of a text of 'x' under "long"; 0: none */
} model_form;

model_form model_plain(uint32_t version, bool big_endian);
image model_build(const model_form *form);
/* Bytes in front of its data. */
size_t model_data_offset(const model_form *form);
#define MODEL_DATA_BYTES 69

#endif /* TESTS_EDIT_MODEL_H */
