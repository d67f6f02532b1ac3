/* SPDX-License-Identifier: MIT */
/* The part of ggml's C interface that the peer program calls, declared anew
 * from its public documentation and bound with dlsym, so that neither its
 * headers nor its library are needed to build. */
#ifndef GGLD_PEER_GGML_H
#define GGLD_PEER_GGML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tensor types of the release that the program is made for: ids below this. */
#define GGML_N_TYPES 43

typedef void (*ggml_to_float)(const void *blocks, float *dst, int64_t n);
typedef void (*ggml_from_float)(const float *src, void *blocks, int64_t n);

typedef struct ggml_traits {
    const char *name;
    int64_t block_elems;
    int64_t block_elems_interleaved;
    size_t block_bytes;
    bool quantized;
    ggml_to_float to_float;     /* NULL: none */
    ggml_from_float from_float; /* the reference quantiser; NULL: none */
} ggml_traits;

typedef struct gguf_context gguf_context;
typedef struct ggml_context ggml_context;

typedef struct gguf_params {
    bool no_alloc;      /* metadata only */
    ggml_context **ctx; /* where tensors go; NULL: nowhere */
} gguf_params;

typedef void (*ggml_log_fn)(int level, const char *text, void *user);

typedef struct ggml_api {
    void (*log_set)(ggml_log_fn log, void *user);
    void (*free)(ggml_context *ctx);
    const ggml_traits *(*traits_of)(int type);
    /* What has no row in the table of types: these are of computation. */
    ggml_to_float to_float_q8_k;
    ggml_from_float from_float_q8_1;
    gguf_context *(*open_file)(const char *path, gguf_params params);
    gguf_context *(*open_buffer)(const void *data, size_t size,
                                 gguf_params params);
    void (*close)(gguf_context *gguf);
    size_t (*data_offset)(const gguf_context *gguf);
    int64_t (*n_kv)(const gguf_context *gguf);
    const char *(*key)(const gguf_context *gguf, int64_t i);
    int (*kv_type)(const gguf_context *gguf, int64_t i);
    int64_t (*n_tensors)(const gguf_context *gguf);
    const char *(*tensor_name)(const gguf_context *gguf, int64_t i);
    int (*tensor_type)(const gguf_context *gguf, int64_t i);
    size_t (*tensor_offset)(const gguf_context *gguf, int64_t i);
    size_t (*tensor_size)(const gguf_context *gguf, int64_t i);
    /* Four dimensions, 1 where there are fewer. */
    const int64_t *(*tensor_dims)(const gguf_context *gguf, int64_t i);
} ggml_api;

/* Loads the library at path; false and a line on stderr where that fails. It
 * stays loaded, and is silent from then on. */
bool ggml_load(ggml_api *out, const char *path);

#endif /* GGLD_PEER_GGML_H */
