/* SPDX-License-Identifier: MIT */
/* What the tests of export share: a folder of their own, safetensors files made
 * by hand, counting. Plain mains, so that the thread sanitizer can watch. */
#ifndef TESTS_EXPORT_SUPPORT_H
#define TESTS_EXPORT_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ggld/export.h>

extern int n_passed, n_failed;

#define CHECK(condition, ...)                      \
    do {                                           \
        if (condition) {                           \
            n_passed++;                            \
        } else {                                   \
            n_failed++;                            \
            printf("%s:%d: ", __FILE__, __LINE__); \
            printf(__VA_ARGS__);                   \
            printf("\n");                          \
        }                                          \
    } while (0)

/* A path in the test's folder; of the last four calls. */
const char *in_folder(const char *name);
/* Files in it, temporary ones too. */
int count_files(void);
void make_folder(void);
void remove_folder(void);

void save(const char *path, const void *data, size_t size);
/* To be freed. NULL where it is not there. */
void *load(const char *path, size_t *size);

/* A file of this header, padded to 8 bytes or as it is, and this data; NULL:
 * data bytes that count up. */
void save_safetensors(const char *path, const char *json, const void *data,
                      size_t data_bytes);
/* Header and data where they are not what they should be. */
void save_raw(const char *path, uint64_t length, const char *json,
              size_t json_bytes, const void *data, size_t data_bytes);

/* Opens one path and exports it. */
ggld_status export_file(const char *in, const char *out,
                        const ggld_export_options *options, ggld_error *err);
ggld_file *must_open(const char *path);
/* All stored bytes of a tensor; to be freed. NULL: there is none. */
void *tensor_bytes(const ggld_file *file, const char *name,
                   ggld_tensor_info *info);

/* Prints the counts; the exit status. */
int finish(void);

#endif /* TESTS_EXPORT_SUPPORT_H */
