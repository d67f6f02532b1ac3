/* SPDX-License-Identifier: MIT */
/* Small files shaped as real ones are, with a list of where each of their
 * fields, records and tensors lies: for sweeps, which change or cut them
 * everywhere. Stands on nothing of the library. */
#ifndef TESTS_MALFORMED_SHAPED_H
#define TESTS_MALFORMED_SHAPED_H

#include "image.h"

typedef enum field_kind {
    FIELD_COUNT, /* of tensors, key-values, elements, dimensions */
    FIELD_LENGTH,
    FIELD_DIM,
    FIELD_TYPE, /* of a value, an element, a tensor */
    FIELD_OFFSET,
    FIELD_VALUE
} field_kind;

typedef struct field {
    field_kind kind;
    size_t at;
    size_t width;
} field;

typedef struct extent {
    size_t begin, end;
} extent;

#define SHAPED_MAX_FIELDS  1200
#define SHAPED_MAX_RECORDS 128

typedef struct shaped {
    const char *name;
    image img;
    field fields[SHAPED_MAX_FIELDS];
    size_t n_fields;
    extent records[SHAPED_MAX_RECORDS]; /* key-values, then tensors */
    size_t n_kvs;
    size_t n_tensors;
    extent data[SHAPED_MAX_RECORDS]; /* of tensors, in the file */
    size_t table_end;
    bool strict; /* ggml takes it, when whole */
} shaped;

/* A language model: vocabulary, template, tensors of four types. */
void shaped_language(shaped *s, uint32_t version, bool big_endian);
/* The same, with a last tensor that makes it just 4096 bytes. */
void shaped_4096(shaped *s);
/* No architecture, long names, alignment 64, a scalar, a tensor of nothing. */
void shaped_diffusion(shaped *s);
/* Key-values alone, with an array of arrays. */
void shaped_vocabulary(shaped *s);
/* Many records: 1500 key-values and as many tensors without a value. Its
 * fields are those of the header, its records are not listed. */
void shaped_long(shaped *s);
/* A header, and zeros: as many records as a file can have. Likewise. */
void shaped_dense(shaped *s);
void shaped_free(shaped *s);

#endif /* TESTS_MALFORMED_SHAPED_H */
