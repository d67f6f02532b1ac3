/* SPDX-License-Identifier: MIT */
/* Digests of fixed-size chunks, and the one digest that stands for all of them
 * and for the metadata.
 *
 * Level 0 is the chunks' digests, by any algo. A node of the next level is the
 * sha256 of up to 256 digests of the level below, one behind the other; levels
 * are added until there is one node. The root is the sha256 of the text
 *     ggsum root 1
 *     metadata BYTES ALGO:HEX
 *     data BYTES
 *     chunks ALGO BYTES COUNT
 *     top sha256:HEX
 * each line with its newline, where top is that node (of no chunks: the sha256
 * of nothing). */
#ifndef GGLD_INTEGRITY_TREE_H
#define GGLD_INTEGRITY_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/integrity.h>

#define GGLD_CHUNK_MIN_BYTES 4096u
#define GGLD_CHUNK_MAX_BYTES (1u << 30)

typedef struct ggld_tree {
    uint32_t algo; /* 0: there is no tree */
    uint32_t leaf_bytes;
    uint64_t chunk_bytes;
    uint64_t n_chunks;
    uint64_t data_bytes; /* that the chunks cover */
    uint8_t *leaves;     /* n_chunks * leaf_bytes; malloc's */
    ggld_digest root;    /* algo 0: not computed */
} ggld_tree;

/* A chunk size for so many bytes of data: small enough for reads on access,
 * large enough that reading the manifest at open takes a millisecond or two. */
uint64_t ggld_chunk_bytes_for(uint32_t algo, uint64_t data_bytes);
/* Is it a size that trees can have? */
bool ggld_chunk_bytes_valid(uint64_t chunk_bytes);

/* Sets up a tree with room for its leaves, all zero. */
GGLD_MUST_CHECK
ggld_status ggld_tree_init(ggld_tree *tree, uint32_t algo, uint64_t chunk_bytes,
                           uint64_t data_bytes, ggld_error *err);
GGLD_MUST_CHECK
ggld_status ggld_tree_copy(ggld_tree *out, const ggld_tree *tree,
                           ggld_error *err);
void ggld_tree_free(ggld_tree *tree);

void ggld_tree_leaf(const ggld_tree *tree, uint64_t chunk, ggld_digest *out);
void ggld_tree_set_leaf(ggld_tree *tree, uint64_t chunk,
                        const ggld_digest *digest);
/* Bytes of that chunk: the last one may be short. */
uint64_t ggld_tree_chunk_size(const ggld_tree *tree, uint64_t chunk);

/* The root, of the leaves as they are. */
GGLD_MUST_CHECK
ggld_status ggld_tree_root(const ggld_tree *tree, uint64_t metadata_bytes,
                           const ggld_digest *metadata, ggld_digest *out,
                           ggld_error *err);

#endif /* GGLD_INTEGRITY_TREE_H */
