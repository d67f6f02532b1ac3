/* SPDX-License-Identifier: MIT */
/* The llama-shaped models that ggld sample makes: all of it follows from these
 * numbers, the same on every machine. */
#ifndef TOOLS_SAMPLE_H
#define TOOLS_SAMPLE_H

#include <ggld/write.h>

typedef struct sample_shape {
    const char *name;
    uint64_t n_layers;
    uint64_t n_vocab;
    uint64_t n_special; /* the last tokens of the vocabulary */
    uint64_t n_merges;
    uint64_t n_embd;
    uint64_t n_ff;
    uint64_t n_heads;
    uint64_t n_kv_heads;
    uint64_t n_context;
    float rope_base;
    uint32_t type;        /* of the matrices */
    uint32_t output_type; /* of the last one */
    uint32_t file_type;
    uint64_t seed;
} sample_shape;

typedef struct sample_tensor {
    char name[48];
    uint32_t type;
    uint32_t n_dims;
    uint64_t dims[2];
    uint64_t n_elems;
    uint64_t size_bytes;
} sample_tensor;

uint64_t sample_tensor_count(const sample_shape *shape);
/* In the order of the file. */
sample_tensor sample_tensor_at(const sample_shape *shape, uint64_t index);
/* Bytes of all tensors. */
uint64_t sample_data_bytes(const sample_shape *shape);

/* Sets every key-value. */
ggld_status sample_put_kvs(ggld_writer *w, const sample_shape *shape,
                           ggld_error *err);
/* The tokenizer's part of them. */
ggld_status sample_put_vocab(ggld_writer *w, const sample_shape *shape,
                             ggld_error *err);
/* The smallest vocabulary there can be: a token for each byte, one syllable
 * each, and the special ones. */
#define SAMPLE_VOCAB_MIN 512

/* n_elems random values of a tensor, in its type; rng is the caller's state.
 * chunk has room for SAMPLE_CHUNK_BYTES. */
#define SAMPLE_CHUNK_BYTES (1u << 20)
ggld_status sample_put_data(ggld_writer *w, const sample_tensor *tensor,
                            uint64_t n_elems, uint64_t *rng, void *chunk,
                            ggld_error *err);

#endif /* TOOLS_SAMPLE_H */
