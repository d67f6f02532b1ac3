/* SPDX-License-Identifier: MIT */
/* Binds ggml's functions with dlsym. Whoever finds a function missing has
 * another release than the one that this program is made for. */
#include "ggml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void log_nothing(int level, const char *text, void *user)
{
    (void)level;
    (void)text;
    (void)user;
}

typedef struct binding {
    const char *symbol;
    size_t slot; /* of a function pointer in ggml_api */
} binding;

#define BIND(symbol, member)               \
    {                                      \
        symbol, offsetof(ggml_api, member) \
    }

static const binding bindings[] = {
    BIND("ggml_log_set", log_set),
    BIND("ggml_free", free),
    BIND("ggml_get_type_traits", traits_of),
    BIND("dequantize_row_q8_K", to_float_q8_k),
    BIND("quantize_row_q8_1_ref", from_float_q8_1),
    BIND("gguf_init_from_file", open_file),
    BIND("gguf_init_from_buffer", open_buffer),
    BIND("gguf_free", close),
    BIND("gguf_get_data_offset", data_offset),
    BIND("gguf_get_n_kv", n_kv),
    BIND("gguf_get_key", key),
    BIND("gguf_get_kv_type", kv_type),
    BIND("gguf_get_n_tensors", n_tensors),
    BIND("gguf_get_tensor_name", tensor_name),
    BIND("gguf_get_tensor_type", tensor_type),
    BIND("gguf_get_tensor_offset", tensor_offset),
    BIND("gguf_get_tensor_size", tensor_size),
    BIND("gguf_get_tensor_ne", tensor_dims),
};

bool ggml_load(ggml_api *out, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "peer: %s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++) {
        void *symbol = dlsym(library, bindings[i].symbol);
        if (symbol == NULL) {
            fprintf(stderr, "peer: %s has no %s\n", path, bindings[i].symbol);
            return false;
        }
        /* POSIX has function pointers fit into those of objects. */
        memcpy((char *)out + bindings[i].slot, &symbol, sizeof symbol);
    }
    out->log_set(log_nothing, NULL);
    /* Where it aborts it would start a debugger for a backtrace. */
    setenv("GGML_NO_BACKTRACE", "1", 1);
    return true;
}
