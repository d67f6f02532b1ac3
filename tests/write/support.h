/* SPDX-License-Identifier: MIT */
/* What the tests of the writer share: bytes built by hand, independent of the
 * library's own encoder, files and folders to write in. */
#ifndef TESTS_WRITE_SUPPORT_H
#define TESTS_WRITE_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/ggld.h>

/* A GGUF image under construction, in any version and order. */
typedef struct image {
    uint8_t *data;
    size_t size;
    size_t cap;
    uint32_t version;
    bool big_endian;
} image;

image image_new(uint32_t version, bool big_endian);
void image_free(image *im);
void image_bytes(image *im, const void *data, size_t size);
void image_number(image *im, uint64_t value, unsigned width);
/* A length, count or dimension, as wide as the version has it. */
void image_len(image *im, uint64_t value);
void image_string(image *im, const char *text);
void image_string_n(image *im, const void *text, size_t len);
/* Magic, version, counts. */
void image_header(image *im, uint64_t n_tensors, uint64_t n_kvs);
/* Key and type; the value is to follow. */
void image_key(image *im, const char *key, uint32_t type);
void image_tensor(image *im, const char *name, uint32_t n_dims,
                  const uint64_t *dims, uint32_t type, uint64_t offset);
void image_pad(image *im, size_t alignment);

/* The file's bytes; size 0 and data NULL where it can't be read. */
image file_load(const char *path);
void file_save(const char *path, const void *data, size_t size);
bool file_exists(const char *path);

/* NULL where both are the same; else what differs, in a static buffer. */
const char *bytes_differ(const void *got, size_t got_size, const void *want,
                         size_t want_size);

/* A new empty folder; its path is to be given to folder_remove. */
char *folder_new(void);
/* folder/name, in one of eight static buffers that take turns. */
const char *folder_path(const char *folder, const char *name);
/* Entries of the folder, "." and ".." not counted. */
int folder_count(const char *folder);
/* With everything in it. */
void folder_remove(char *folder);

/* Numbers that look random and are the same in every run. */
uint32_t random_next(uint32_t *state);

/* An allocator that fails at its n-th call and counts what is not freed. */
typedef struct faulty {
    long calls;
    long fail_at; /* counted from 0; negative: never */
    long live;
    ggld_allocator allocator;
} faulty;
void faulty_init(faulty *f, long fail_at);

#endif /* TESTS_WRITE_SUPPORT_H */
