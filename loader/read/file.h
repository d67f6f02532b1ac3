/* SPDX-License-Identifier: MIT */
/* The open file, as the layers above read/ see it. Immutable once open. */
#ifndef GGLD_READ_FILE_H
#define GGLD_READ_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ggld/file.h>
#include <ggld/tensor.h>

#include "../base/error.h"
#include "../base/index.h"
#include "../base/span.h"

struct ggld_kv {
    const ggld_file *file; /* never a set */
    ggld_string key;
    uint32_t type;
    uint64_t value_offset; /* in the metadata, behind the type */
    uint64_t value_bytes;
};

struct ggld_tensor {
    const ggld_file *file; /* never a set: the one that has the bytes */
    ggld_string name;
    uint64_t dims[4]; /* 1 past n_dims */
    uint32_t n_dims;
    uint32_t type;
    uint64_t n_elems;
    /* In the file, of the first byte; UINT64_MAX where that would wrap, which
     * only GGLD_OPEN_METADATA lets through. */
    uint64_t offset;
    uint64_t size_bytes;
    uint64_t info_offset; /* of its record in the table, for errors */
    /* The one thing that changes while a file is open; decides over advice to
     * the system, never over a result. */
    _Atomic bool was_read;
};

/* Of a set there is one of these for each shard, and one for the set: that has
 * the tensors of all, the first one's key-values, and no bytes. */
struct ggld_file {
    _Atomic uint32_t holders; /* of a shard: the set's count */
    char *path;               /* NULL: not opened by one */
    ggld_file *set;           /* that it is a shard of; NULL: of none */
    uint32_t shard;           /* its number there */
    uint32_t n_shards;        /* of a set; otherwise 1 */
    ggld_file **shards;       /* NULL: no set */
    ggld_allocator allocator;
    ggld_source source;
    ggld_verifier verifier; /* all zero where there is none */
    uint32_t flags;         /* GGLD_OPEN_... */
    uint32_t cpu_features;  /* that may be used: GGLD_CPU_... */

    uint32_t version;
    bool big_endian;
    uint64_t alignment_bytes;
    uint64_t data_offset; /* where the data section starts, or would start:
                             it may lie past the end where there is no data */
    uint64_t n_elems;
    uint64_t heap_bytes;

    ggld_span map;          /* of the whole file; data NULL where not mapped */
    ggld_span metadata;     /* from 0; in the map, or private memory */
    void *private_metadata; /* to be freed, or NULL; with GGLD_OPEN_COPY the
                               whole file, which is then the map too */

    ggld_kv *kvs;
    uint64_t n_kvs;
    ggld_tensor *tensors;
    uint64_t n_tensors;
    ggld_index *kv_index;
    ggld_index *tensor_index;
    uint64_t table_heap_bytes; /* of tensors and their index */
};

/* Reads exactly size bytes at offset, through the map or pread. Asks no
 * verifier. place names the record in errors. */
ggld_status ggld_file_read(const ggld_file *file, uint64_t offset, void *dst,
                           uint64_t size, ggld_place place, ggld_error *err);

/* Is it mapped, and has a descriptor that the same bytes can be read by? */
bool ggld_file_has_both(const ggld_file *file);
/* The same by pread, where it has both: no signal comes of bytes that are gone,
 * and no zeros. */
ggld_status ggld_file_pread(const ggld_file *file, uint64_t offset, void *dst,
                            uint64_t size, ggld_place place, ggld_error *err);

/* Asks the verifier, where there is one, about a range of tensor data. */
ggld_status ggld_file_verify(const ggld_file *file, uint64_t offset,
                             uint64_t size, ggld_error *err);

/* Number of the tensor in the table, of a set in the set's. */
uint64_t ggld_tensor_index_of(const ggld_tensor *tensor);

#endif /* GGLD_READ_FILE_H */
