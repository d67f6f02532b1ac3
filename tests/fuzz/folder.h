/* SPDX-License-Identifier: MIT */
/* A folder for the files of a fuzzer, and what is in them. Where TMPDIR does not
 * say otherwise it is in memory, if that can be had: syncs take no time there. */
#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Made by the first call, and removed, with what is in it, when the process
 * ends by itself. The path has no slash at its end. */
const char *folder_path(void);
/* Path of a file in it, to be kept as long as is wanted. */
char *folder_file(const char *name);
/* Removes all files in it; how many there were. */
unsigned folder_empty(void);

void file_put(const char *path, const void *data, size_t size);
/* Of the caller, to be freed; NULL: there is none. */
uint8_t *file_get(const char *path, size_t *size);
/* Are there these bytes, and no more? */
bool file_has(const char *path, const void *data, size_t size);

#endif /* TESTS_FUZZ_FOLDER_H */
