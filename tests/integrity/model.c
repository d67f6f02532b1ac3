/* SPDX-License-Identifier: MIT */
/* Making models, and handling files, where failing means that the test can't
 * be run. */
#include "model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static void must_ggld(ggld_status status, const ggld_error *err)
{
    if (status == GGLD_OK)
        return;
    fprintf(stderr, "model: %s\n", err->message);
    exit(1);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t tensor_bytes(const model_tensor *t)
{
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    return n / traits->block_elems * traits->block_bytes;
}

static void put_data(ggld_writer *w, const model_tensor *t, uint64_t seed)
{
    static uint64_t words[128 << 10];
    uint64_t left = tensor_bytes(t);
    uint64_t state = seed * 0x9E3779B97F4A7C15u;
    ggld_error err;
    while (left != 0) {
        size_t n = left < sizeof words ? (size_t)left : sizeof words;
        for (size_t i = 0; i * 8 < n; i++)
            words[i] = next_random(&state);
        must_ggld(ggld_writer_put_bytes(w, words, n, &err), &err);
        left -= n;
    }
}

static size_t name_len(const model_tensor *t)
{
    return t->name_len != 0 ? t->name_len : strlen(t->name);
}

void model_write(const char *path, const model_tensor *tensors, size_t n,
                 uint32_t n_extra_kv)
{
    ggld_writer *w;
    ggld_error err;
    char key[32];
    must_ggld(ggld_writer_new(&w, NULL, &err), &err);
    must_ggld(
        ggld_writer_set_string(w, "general.architecture", "llama", 5, &err),
        &err);
    for (uint32_t i = 0; i < n_extra_kv; i++) {
        snprintf(key, sizeof key, "test.extra.%u", i);
        must_ggld(ggld_writer_set_u32(w, key, i, &err), &err);
    }
    for (size_t i = 0; i < n; i++)
        must_ggld(ggld_writer_declare_tensor(w, tensors[i].name,
                                             name_len(&tensors[i]),
                                             tensors[i].type, tensors[i].dims,
                                             tensors[i].n_dims, &err),
                  &err);
    must_ggld(ggld_writer_begin(w, path, &err), &err);
    for (size_t i = 0; i < n; i++)
        put_data(w, &tensors[i],
                 tensors[i].seed != 0 ? tensors[i].seed : i + 1);
    must_ggld(ggld_writer_finish(w, &err), &err);
    ggld_writer_free(w);
}

#define N_LAYERS 32u

/* In units of rows of 4096: what a layer's tensors are to one another. */
static const struct {
    const char *name;
    uint32_t rows;
} layer[] = {
    { "attn_q", 8 },      { "attn_k", 2 },    { "attn_v", 2 },
    { "attn_output", 8 }, { "ffn_gate", 28 }, { "ffn_up", 28 },
    { "ffn_down", 28 },
};

#define N_OF_LAYER (sizeof layer / sizeof layer[0])

void model_write_llama(const char *path, uint64_t n_bytes)
{
    static model_tensor tensors[N_LAYERS * (N_OF_LAYER + 1) + 2];
    static char names[N_LAYERS * (N_OF_LAYER + 1)][32];
    /* A layer has 104 units, embeddings and output 250 each. */
    uint64_t unit = n_bytes / (N_LAYERS * 104 + 500) / 4352 + 1;
    size_t n = 0;
    model_tensor embd = { .name = "token_embd.weight",
                          .type = GGLD_TYPE_Q8_0,
                          .n_dims = 2,
                          .dims = { 4096, unit * 250 } };
    tensors[n++] = embd;
    for (uint32_t i = 0; i < N_LAYERS; i++) {
        for (size_t j = 0; j < N_OF_LAYER; j++, n++) {
            char *name = names[n - 1];
            snprintf(name, sizeof names[0], "blk.%u.%s.weight", i,
                     layer[j].name);
            tensors[n] = embd;
            tensors[n].name = name;
            tensors[n].dims[1] = unit * layer[j].rows;
        }
        char *name = names[n - 1];
        snprintf(name, sizeof names[0], "blk.%u.attn_norm.weight", i);
        model_tensor norm = {
            .name = name, .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 4096 }
        };
        tensors[n++] = norm;
    }
    tensors[n] = embd;
    tensors[n++].name = "output.weight";
    model_write(path, tensors, n, 0);
}

char *model_path(const char *name)
{
    const char *folder = getenv("TMPDIR");
    char *path;
    must(asprintf(&path, "%s/ggld-integrity-%d-%s",
                  folder != NULL ? folder : "/tmp", (int)getpid(), name) >= 0,
         "asprintf");
    return path;
}

char *model_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    must(f != NULL, path);
    must(fseek(f, 0, SEEK_END) == 0, path);
    long end = ftell(f);
    must(end >= 0 && fseek(f, 0, SEEK_SET) == 0, path);
    char *data = malloc((size_t)end + 1);
    must(data != NULL, "malloc");
    must(fread(data, 1, (size_t)end, f) == (size_t)end, path);
    fclose(f);
    data[end] = '\0';
    *size = (size_t)end;
    return data;
}

void model_save(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    must(f != NULL, path);
    must(fwrite(data, 1, size, f) == size, path);
    must(fclose(f) == 0, path);
}

void model_flip(const char *path, uint64_t offset)
{
    uint8_t byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    must(fd >= 0, path);
    must(pread(fd, &byte, 1, (off_t)offset) == 1, path);
    byte ^= 0x10;
    must(pwrite(fd, &byte, 1, (off_t)offset) == 1, path);
    must(close(fd) == 0, path);
}
