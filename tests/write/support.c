/* SPDX-License-Identifier: MIT */
/* Bytes by hand and files for the tests of the writer. Ends the process where
 * the test's own surroundings fail. */
#include "support.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what, const char *path)
{
    fprintf(stderr, "test set-up: %s %s\n", what, path);
    exit(99);
}

image image_new(uint32_t version, bool big_endian)
{
    image im = { .version = version, .big_endian = big_endian };
    return im;
}

void image_free(image *im)
{
    free(im->data);
    memset(im, 0, sizeof *im);
}

void image_bytes(image *im, const void *data, size_t size)
{
    if (im->size + size > im->cap) {
        im->cap = 2 * (im->size + size);
        im->data = realloc(im->data, im->cap);
        if (im->data == NULL)
            die("no memory", "");
    }
    if (size != 0)
        memcpy(im->data + im->size, data, size);
    im->size += size;
}

void image_number(image *im, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        unsigned shift = 8 * (im->big_endian ? width - 1 - i : i);
        uint8_t byte = (uint8_t)(value >> shift);
        image_bytes(im, &byte, 1);
    }
}

void image_len(image *im, uint64_t value)
{
    image_number(im, value, im->version == 1 ? 4 : 8);
}

void image_string_n(image *im, const void *text, size_t len)
{
    image_len(im, len);
    image_bytes(im, text, len);
}

void image_string(image *im, const char *text)
{
    image_string_n(im, text, strlen(text));
}

void image_header(image *im, uint64_t n_tensors, uint64_t n_kvs)
{
    image_bytes(im, "GGUF", 4);
    image_number(im, im->version, 4);
    image_len(im, n_tensors);
    image_len(im, n_kvs);
}

void image_key(image *im, const char *key, uint32_t type)
{
    image_string(im, key);
    image_number(im, type, 4);
}

void image_tensor(image *im, const char *name, uint32_t n_dims,
                  const uint64_t *dims, uint32_t type, uint64_t offset)
{
    image_string(im, name);
    image_number(im, n_dims, 4);
    for (uint32_t i = 0; i < n_dims; i++)
        image_len(im, dims[i]);
    image_number(im, type, 4);
    image_number(im, offset, 8);
}

void image_pad(image *im, size_t alignment)
{
    while (im->size % alignment != 0)
        image_bytes(im, "", 1);
}

image file_load(const char *path)
{
    image im = image_new(3, false);
    uint8_t chunk[4096];
    size_t n;

    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return im;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        image_bytes(&im, chunk, n);
    fclose(f);
    return im;
}

void file_save(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        die("can't write", path);
}

bool file_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

const char *bytes_differ(const void *got, size_t got_size, const void *want,
                         size_t want_size)
{
    static char text[160];
    const uint8_t *g = got;
    const uint8_t *w = want;

    for (size_t i = 0; i < got_size && i < want_size; i++)
        if (g[i] != w[i]) {
            snprintf(text, sizeof text,
                     "byte %zu: expected %02x, got %02x (sizes %zu, %zu)", i,
                     w[i], g[i], want_size, got_size);
            return text;
        }
    if (got_size == want_size)
        return NULL;
    snprintf(text, sizeof text, "expected %zu bytes, got %zu", want_size,
             got_size);
    return text;
}

char *folder_new(void)
{
    const char *base = getenv("TMPDIR");
    char *path = malloc(512);
    if (path == NULL)
        die("no memory", "");
    snprintf(path, 512, "%s/ggld-write-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL)
        die("can't make", path);
    return path;
}

const char *folder_path(const char *folder, const char *name)
{
    static char paths[8][1024];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

int folder_count(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    if (d == NULL)
        die("can't list", folder);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static int remove_entry(const char *path, const struct stat *st, int flag,
                        struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void folder_remove(char *folder)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void *faulty_alloc(void *ctx, size_t size)
{
    faulty *f = ctx;
    if (f->calls++ == f->fail_at)
        return NULL;
    void *ptr = malloc(size);
    if (ptr != NULL) {
        /* Nothing may depend on what fresh memory holds. */
        memset(ptr, 0xA5, size);
        f->live++;
    }
    return ptr;
}

static void faulty_free(void *ctx, void *ptr)
{
    faulty *f = ctx;
    f->live--;
    free(ptr);
}

void faulty_init(faulty *f, long fail_at)
{
    f->calls = 0;
    f->live = 0;
    f->fail_at = fail_at;
    f->allocator.alloc = faulty_alloc;
    f->allocator.free = faulty_free;
    f->allocator.ctx = f;
}
