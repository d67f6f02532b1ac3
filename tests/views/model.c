/* SPDX-License-Identifier: MIT */
/* The encoder knows the format from its description, so that it can be wrong
 * in other ways than the library. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGNMENT  32
#define MAX_FIELDS 3

/* What a block has of numbers of more than a byte: width, offset, count. Words
 * that are loaded as one number count as such. */
typedef struct field {
    unsigned width, offset, count;
} field;

static const struct {
    uint32_t type;
    field fields[MAX_FIELDS];
} layouts[] = {
    { GGLD_TYPE_F32, { { 4, 0, 1 } } },
    { GGLD_TYPE_F16, { { 2, 0, 1 } } },
    { GGLD_TYPE_Q4_0, { { 2, 0, 1 } } },
    { GGLD_TYPE_Q4_1, { { 2, 0, 1 }, { 2, 2, 1 } } },
    { GGLD_TYPE_Q5_0, { { 2, 0, 1 }, { 4, 2, 1 } } },
    { GGLD_TYPE_Q5_1, { { 2, 0, 1 }, { 2, 2, 1 }, { 4, 4, 1 } } },
    { GGLD_TYPE_Q8_0, { { 2, 0, 1 } } },
    { GGLD_TYPE_Q8_1, { { 2, 0, 1 }, { 2, 2, 1 } } },
    { GGLD_TYPE_Q2_K, { { 2, 80, 1 }, { 2, 82, 1 } } },
    { GGLD_TYPE_Q3_K, { { 2, 108, 1 } } },
    { GGLD_TYPE_Q4_K, { { 2, 0, 1 }, { 2, 2, 1 } } },
    { GGLD_TYPE_Q5_K, { { 2, 0, 1 }, { 2, 2, 1 } } },
    { GGLD_TYPE_Q6_K, { { 2, 208, 1 } } },
    { GGLD_TYPE_Q8_K, { { 4, 0, 1 }, { 2, 260, 16 } } },
    { GGLD_TYPE_IQ2_XXS, { { 2, 0, 1 }, { 2, 2, 32 } } },
    { GGLD_TYPE_IQ2_XS, { { 2, 0, 1 }, { 2, 2, 32 } } },
    { GGLD_TYPE_IQ3_XXS, { { 2, 0, 1 }, { 4, 66, 8 } } },
    { GGLD_TYPE_IQ1_S, { { 2, 0, 1 }, { 2, 34, 8 } } },
    { GGLD_TYPE_IQ4_NL, { { 2, 0, 1 } } },
    { GGLD_TYPE_IQ3_S, { { 2, 0, 1 } } },
    { GGLD_TYPE_IQ2_S, { { 2, 0, 1 } } },
    { GGLD_TYPE_IQ4_XS, { { 2, 0, 1 }, { 2, 2, 1 } } },
    { GGLD_TYPE_I16, { { 2, 0, 1 } } },
    { GGLD_TYPE_I32, { { 4, 0, 1 } } },
    { GGLD_TYPE_I64, { { 8, 0, 1 } } },
    { GGLD_TYPE_F64, { { 8, 0, 1 } } },
    { GGLD_TYPE_IQ1_M, { { 2, 48, 4 } } },
    { GGLD_TYPE_BF16, { { 2, 0, 1 } } },
    { GGLD_TYPE_TQ1_0, { { 2, 52, 1 } } },
    { GGLD_TYPE_TQ2_0, { { 2, 64, 1 } } },
    { GGLD_TYPE_Q1_0, { { 2, 0, 1 } } },
    { GGLD_TYPE_Q2_0, { { 2, 0, 1 } } },
    /* I8, MXFP4 and NVFP4 are bytes throughout. */
};

static void reverse(uint8_t *p, unsigned width)
{
    for (unsigned i = 0; i < width / 2; i++) {
        uint8_t byte = p[i];
        p[i] = p[width - 1 - i];
        p[width - 1 - i] = byte;
    }
}

static void reverse_block(uint8_t *block, const field *fields)
{
    for (int f = 0; f < MAX_FIELDS; f++)
        for (unsigned i = 0; i < fields[f].count; i++)
            reverse(block + fields[f].offset + i * fields[f].width,
                    fields[f].width);
}

static void reverse_tensor(uint8_t *data, const model_tensor *t)
{
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i].type == t->type)
            for (size_t at = 0; at < t->size; at += traits->block_bytes)
                reverse_block(data + at, layouts[i].fields);
}

/* ---- the encoder ---- */

typedef struct output {
    uint8_t *at;
    bool big_endian;
} output;

static void put_number(output *out, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        unsigned byte = out->big_endian ? width - 1 - i : i;
        *out->at++ = (uint8_t)(value >> 8 * byte);
    }
}

static void put_bytes(output *out, const void *data, size_t size)
{
    if (size > 0)
        memcpy(out->at, data, size);
    out->at += size;
}

static size_t padded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_info(output *out, const model_tensor *t, size_t offset)
{
    put_number(out, strlen(t->name), 8);
    put_bytes(out, t->name, strlen(t->name));
    put_number(out, t->n_dims, 4);
    for (uint32_t d = 0; d < t->n_dims; d++)
        put_number(out, t->dims[d], 8);
    put_number(out, t->type, 4);
    put_number(out, offset, 8);
}

model model_encode(const model_tensor *tensors, size_t n, bool big_endian)
{
    size_t head = 24;
    size_t data = 0;
    for (size_t i = 0; i < n; i++) {
        head += 8 + strlen(tensors[i].name) + 4 + 8 * tensors[i].n_dims + 12;
        data += padded(tensors[i].size);
    }

    model m = { NULL, padded(head) + data, padded(head) };
    m.bytes = calloc(1, m.size);
    if (m.bytes == NULL)
        abort();
    output out = { m.bytes, big_endian };
    put_bytes(&out, "GGUF", 4);
    put_number(&out, 3, 4);
    put_number(&out, n, 8);
    put_number(&out, 0, 8);
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        put_info(&out, &tensors[i], offset);
        uint8_t *at = m.bytes + m.data_offset + offset;
        if (tensors[i].size > 0)
            memcpy(at, tensors[i].data, tensors[i].size);
        if (big_endian)
            reverse_tensor(at, &tensors[i]);
        offset += padded(tensors[i].size);
    }
    return m;
}

void model_free(model *m)
{
    free(m->bytes);
    m->bytes = NULL;
}

void fill_random(void *dst, size_t n, uint64_t seed)
{
    uint8_t *p = dst;
    uint64_t state = seed * 2862933555777941757u + 3037000493u;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        p[i] = (uint8_t)(state >> 56);
    }
}

/* ---- opening ---- */

const char *const open_way_names[N_OPEN_WAYS] = {
    "memory",
    "map",
    "copy",
    "pread",
    "range",
    "app's map",
    "app's pread",
    "big-endian memory",
    "big-endian pread",
};

static int64_t short_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const model *m = ctx;
    if (offset >= m->size)
        return 0;
    size_t left = m->size - (size_t)offset;
    size_t some = n > 5 ? n - n / 3 : n;
    some = some < left ? some : left;
    memcpy(dst, m->bytes + offset, some);
    return (int64_t)some;
}

static ggld_status open_app(ggld_file **file, model *m, bool mapped,
                            const ggld_open_options *options, ggld_error *err)
{
    ggld_source source = { sizeof source,
                           m->size,
                           mapped ? NULL : short_pread,
                           mapped ? m->bytes : NULL,
                           NULL,
                           m };
    return ggld_open_source(file, &source, options, err);
}

/* A file without a name, with before bytes of something else around m. */
static int spill(const model *m, size_t before)
{
    char path[] = "/tmp/ggld-views-XXXXXX";
    char other[64] = "something else";
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path) != 0 ||
        write(fd, other, before) != (ssize_t)before ||
        write(fd, m->bytes, m->size) != (ssize_t)m->size ||
        write(fd, other, before) != (ssize_t)before) {
        perror("a temporary file");
        exit(1);
    }
    return fd;
}

static ggld_status open_spilled(ggld_file **file, const model *m, bool range,
                                const ggld_open_options *options,
                                ggld_error *err)
{
    size_t before = range ? 37 : 0;
    int fd = spill(m, before);
    ggld_status status =
        range ? ggld_open_range(file, fd, before, m->size, options, err)
              : ggld_open_fd(file, fd, options, err);
    close(fd);
    return status;
}

ggld_file *model_open(model *m, open_way way, const model_tensor *tensors,
                      size_t n, const ggld_open_options *options)
{
    ggld_open_options o = options != NULL ? *options : ggld_open_options_init();
    ggld_error err = { 0 };
    ggld_file *file = NULL;
    ggld_status status;

    *m = model_encode(tensors, n,
                      way == OPEN_BIG_MEMORY || way == OPEN_BIG_PREAD);
    if (way == OPEN_COPY)
        o.flags |= GGLD_OPEN_COPY;
    if (way == OPEN_PREAD || way == OPEN_BIG_PREAD)
        o.flags |= GGLD_OPEN_PREAD;
    if (way == OPEN_MEMORY || way == OPEN_BIG_MEMORY)
        status = ggld_open_memory(&file, m->bytes, m->size, &o, &err);
    else if (way == OPEN_APP_MAP || way == OPEN_APP_PREAD)
        status = open_app(&file, m, way == OPEN_APP_MAP, &o, &err);
    else
        status = open_spilled(&file, m, way == OPEN_RANGE, &o, &err);
    if (status != GGLD_OK) {
        printf("expected: the model opens (%s); got: %s\n", open_way_names[way],
               err.message);
        exit(1);
    }
    return file;
}
