/* SPDX-License-Identifier: MIT */
/* GGUF images built field by field, so that tests can write what no writer
 * would. Stands on nothing of the library. */
#ifndef TESTS_UNIT_IMAGE_H
#define TESTS_UNIT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct image {
    uint8_t *data;
    size_t size;
    size_t room;
    uint32_t version;
    bool big_endian;
} image;

/* Magic, version and counts. */
image image_new(uint32_t version, bool big_endian, uint64_t n_tensors,
                uint64_t n_kvs);
void image_free(image *img);

void image_bytes(image *img, const void *data, size_t size);
void image_number(image *img, uint64_t value, size_t width);
void image_u32(image *img, uint32_t value);
void image_u64(image *img, uint64_t value);
/* As wide as the version has it. */
void image_len(image *img, uint64_t value);
void image_string(image *img, const char *data, size_t size);

/* A key and its value's type; the value is to follow. */
void image_kv(image *img, const char *key, uint32_t type);
void image_kv_u32(image *img, const char *key, uint32_t value);
void image_kv_text(image *img, const char *key, const char *value);
/* Of up to four dimensions; F32 is 0. */
void image_tensor(image *img, const char *name, uint32_t n_dims,
                  const uint64_t *dims, uint32_t type, uint64_t offset);
/* Zeros up to a multiple of alignment; bytes 1, 2, 3, ... */
void image_pad(image *img, size_t alignment);
void image_data(image *img, size_t size);

/* A small whole file: three key-values, an array of strings, tensors 'a' (f32,
 * 8), 'b' (q4_0, 32 x 2) and 'c' (f16, 3), data 1, 2, 3, ... */
image image_sample(uint32_t version, bool big_endian);

#endif /* TESTS_UNIT_IMAGE_H */
