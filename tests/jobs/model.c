/* SPDX-License-Identifier: MIT */
/* Writes test models. Bytes are a function of their offset, so that readers
 * can check any of them; every 16-bit word is a half of moderate size, so that
 * scales are numbers. */
#include "model.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(99);
}

/* splitmix64's finaliser. */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

/* Exponents of 8 to 15 of 31, never all ones. */
static uint64_t word_at(uint64_t offset)
{
    return (mix(offset / 8) & 0x9FFF9FFF9FFF9FFF) | 0x2000200020002000;
}

uint8_t model_byte(uint64_t offset)
{
    return (uint8_t)(word_at(offset) >> offset % 8 * 8);
}

static void put(FILE *f, bool big, uint64_t value, size_t n)
{
    uint8_t bytes[8] = { 0 };
    for (size_t i = 0; i < n; i++)
        bytes[big ? n - 1 - i : i] = (uint8_t)(value >> 8 * i);
    if (fwrite(bytes, 1, n, f) != n)
        die("fwrite");
}

static uint64_t tensor_bytes(const model_tensor *t)
{
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    if (traits == NULL)
        return t->n_rows * t->row_elems; /* a type that is not known */
    return t->n_rows * (t->row_elems / traits->block_elems) *
           traits->block_bytes;
}

static uint64_t pad(uint64_t n)
{
    return (n + 31) / 32 * 32;
}

static uint64_t put_table(FILE *f, bool big, const model_tensor *tensors,
                          size_t n)
{
    uint64_t offset = 0;
    fwrite("GGUF", 1, 4, f);
    put(f, big, 3, 4);
    put(f, big, n, 8);
    put(f, big, 0, 8);
    for (size_t i = 0; i < n; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "t%zu", i);
        put(f, big, (uint64_t)len, 8);
        fwrite(name, 1, (size_t)len, f);
        put(f, big, 2, 4);
        put(f, big, tensors[i].row_elems, 8);
        put(f, big, tensors[i].n_rows, 8);
        put(f, big, tensors[i].type, 4);
        put(f, big, offset, 8);
        offset += pad(tensor_bytes(&tensors[i]));
    }
    while (ftell(f) % 32 != 0)
        put(f, big, 0, 1);
    return offset;
}

static void put_data(FILE *f, uint64_t from, uint64_t size)
{
    enum { CHUNK = 1 << 16 };
    static uint64_t words[CHUNK];
    if (fseeko(f, (off_t)from, SEEK_CUR) != 0)
        die("seeking in a test model");
    for (uint64_t at = from; at < size; at += sizeof words) {
        uint64_t n = size - at < sizeof words ? size - at : sizeof words;
        for (uint64_t i = 0; i < (n + 7) / 8; i++)
            words[i] = htole64(word_at(at + i * 8));
        if (fwrite(words, 1, n, f) != n)
            die("writing a test model");
    }
}

/* The first n_holes tensors are a hole. */
static char *write_model(bool big, const model_tensor *tensors, size_t n,
                         size_t n_holes)
{
    uint64_t from = 0;
    const char *folder = getenv("TMPDIR");
    char *path = malloc(4096);
    if (path == NULL)
        die("malloc");
    snprintf(path, 4096, "%s/ggld-jobs-XXXXXX",
             folder != NULL ? folder : "/var/tmp");
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (f == NULL)
        die(path);
    for (size_t i = 0; i < n_holes; i++)
        from += pad(tensor_bytes(&tensors[i]));
    put_data(f, from, put_table(f, big, tensors, n));
    /* Dirty pages can't be dropped, and direct reads would write them first. */
    if (fflush(f) != 0 || fdatasync(fd) != 0 || fclose(f) != 0)
        die(path);
    return path;
}

char *model_write_in(bool big, const model_tensor *tensors, size_t n)
{
    return write_model(big, tensors, n, 0);
}

char *model_write_holed(const model_tensor *tensors, size_t n, size_t n_holes)
{
    return write_model(false, tensors, n, n_holes);
}

char *model_write(const model_tensor *tensors, size_t n)
{
    return model_write_in(false, tensors, n);
}

char *model_write_layers(size_t n, uint64_t n_bytes)
{
    return model_write_layers_in(false, n, n_bytes);
}

char *model_write_layers_in(bool big, size_t n, uint64_t n_bytes)
{
    model_tensor *tensors = calloc(2 * n, sizeof *tensors);
    if (tensors == NULL)
        die("calloc");
    for (size_t i = 0; i < n; i++) {
        tensors[2 * i] = (model_tensor){ GGLD_TYPE_F32, 1, 512 };
        tensors[2 * i + 1] =
            (model_tensor){ GGLD_TYPE_Q4_0, n_bytes / (16 * 18), 512 };
    }
    char *path = model_write_in(big, tensors, 2 * n);
    free(tensors);
    return path;
}

void model_remove(char *path)
{
    unlink(path);
    free(path);
}

ggld_file *model_open(const char *path, uint32_t flags)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_error err;
    ggld_file *file;
    options.flags = flags;
    if (ggld_open_path(&file, path, &options, &err) != GGLD_OK) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        exit(99);
    }
    return file;
}
