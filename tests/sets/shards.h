/* SPDX-License-Identifier: MIT */
/* Sets of shards on disk, made field by field, so that tests can make what no
 * splitter would. Stands on nothing of the library. */
#ifndef TESTS_SETS_SHARDS_H
#define TESTS_SETS_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

#define MAX_SHARDS  12
#define MAX_TENSORS 4

/* A key-value of an integer type; type NONE: it is left out. */
#define NONE UINT32_MAX
typedef struct shard_number {
    uint32_t type; /* U16 and so on, or TEXT: then the value is "3" */
    uint64_t value;
} shard_number;
enum { U8, S8, U16, S16, U32, S32, F32, BOOL, TEXT, ARRAY, U64, S64 };

typedef struct shard_made {
    bool absent; /* there is no such file */
    uint32_t version;
    bool big_endian;
    uint32_t alignment; /* 0: no key */
    shard_number no, count, total;
    uint32_t n_tensors;
    const char *names[MAX_TENSORS];
    size_t cut;       /* bytes that are missing at the end */
    const char *name; /* of the file, where it is another than should be */
} shard_made;

typedef struct shards {
    uint32_t n;
    uint32_t n_elems; /* of each tensor: 8 */
    shard_made at[MAX_SHARDS];
    const char *base; /* of the names: "m" */
    char folder[256];
} shards;

/* n good shards of one f32 tensor of 8 elements each, "t0", "t1" and so on;
 * the first one has general.architecture and "only.first" besides. */
shards shards_new(uint32_t n);
/* Three: "a" and "b"; "c", in version 2 with an alignment of 64; and "d" and
 * "e", of which one is big-endian and of version 1. */
shards shards_mixed(void);

/* What tensor number t of shard s has in element i. */
float shards_value(uint32_t s, uint32_t t, uint32_t i);

/* Writes them into a new folder, of /tmp or the one that TMPDIR names. */
void shards_write(shards *set);
/* Removes the files and the folder. */
void shards_remove(const shards *set);
/* The path of shard s, in a buffer that the next calls but three use again. */
const char *shards_path(const shards *set, uint32_t s);
image shards_image(const shards *set, uint32_t s);

#endif /* TESTS_SETS_SHARDS_H */
