/* SPDX-License-Identifier: MIT */
/* Blocks and what ggml's own library makes of them, on every instruction set
 * that is here: vectors FOLDER. NAME.blocks and NAME.f32 for each type,
 * quantize.f32 and quantize.NAME for each quantiser. Where the expected value
 * is NaN any NaN will do. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sets.h"

typedef struct blob {
    uint8_t *data;
    size_t size;
} blob;

static const char *folder;
static int n_failures;

static blob read_file(const char *name, const char *suffix)
{
    char path[4096];
    blob b = { NULL, 0 };

    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return b;
    b.data = malloc(1 << 20);
    b.size = b.data != NULL ? fread(b.data, 1, 1 << 20, f) : 0;
    fclose(f);
    return b;
}

static void fail(const char *set, const char *type, const char *what)
{
    printf("FAIL %s %s: %s\n", set, type, what);
    n_failures++;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > 0x7F800000;
}

static void compare_floats(const char *set, const ggld_type_row *type,
                           const uint8_t *expected, const float *got, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t want = ggld_load_le32(expected + 4 * i);
        uint32_t have = ggld_bits_of_float(got[i]);
        if (want == have || (is_nan(want) && is_nan(have)))
            continue;
        printf("FAIL %s %s: block %zu, element %zu: expected %08" PRIx32
               ", got %08" PRIx32 "\n",
               set, type->traits.name, i / type->traits.block_elems,
               i % type->traits.block_elems, want, have);
        n_failures++;
        return;
    }
}

/* Types that are not met in files, or whose values are the numbers as they
 * stand. */
static bool has_no_vectors(uint32_t id)
{
    return id == GGLD_TYPE_F32 || id == GGLD_TYPE_Q8_1 ||
           id == GGLD_TYPE_Q8_K || (id >= GGLD_TYPE_I8 && id <= GGLD_TYPE_F64);
}

static void check_type(const sets *all, const ggld_type_row *type)
{
    const char *name = type->traits.name;
    blob blocks = read_file(name, ".blocks");
    blob floats = read_file(name, ".f32");
    size_t n = floats.size / 4;
    float *got = malloc(floats.size + 1);

    if (blocks.size == 0 || got == NULL ||
        n / type->traits.block_elems * type->traits.block_bytes !=
            blocks.size) {
        fail("any", name, "there are no vectors of the right size");
    } else {
        for (size_t s = 0; s < all->n; s++) {
            const ggld_kern_row *row = &all->at[s]->rows[type->id];
            memset(got, 0x5A, floats.size);
            row->to_f32(blocks.data, got, n / type->traits.block_elems);
            compare_floats(all->at[s]->name, type, floats.data, got, n);
            memset(got, 0x5A, floats.size);
            row->to_f32_stream(blocks.data, got, n / type->traits.block_elems);
            compare_floats(all->at[s]->name, type, floats.data, got, n);
        }
    }
    free(got);
    free(blocks.data);
    free(floats.data);
}

/* The floats of a file, in this machine's order. */
static float *floats_of(blob b)
{
    float *floats = malloc(b.size + 1);
    for (size_t i = 0; floats != NULL && i < b.size / 4; i++)
        floats[i] = ggld_float_of_bits(ggld_load_le32(b.data + 4 * i));
    return floats;
}

static void compare_bytes(const char *set, const ggld_type_row *type,
                          const uint8_t *expected, const uint8_t *got, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (expected[i] == got[i])
            continue;
        printf("FAIL %s to %s: block %zu, byte %zu: expected %02x, got %02x\n",
               set, type->traits.name, i / type->traits.block_bytes,
               i % type->traits.block_bytes, expected[i], got[i]);
        n_failures++;
        return;
    }
}

static void check_quantizer(const sets *all, const ggld_type_row *type,
                            const float *src, size_t n)
{
    const char *name = type->traits.name;
    blob expected = read_file("quantize.", name);
    size_t n_blocks = n / type->traits.block_elems;
    uint8_t *got = malloc(expected.size + 1);

    if (src == NULL || got == NULL ||
        expected.size != n_blocks * type->traits.block_bytes) {
        fail("any", name, "there are no vectors of its quantiser");
    } else {
        for (size_t s = 0; s < all->n; s++) {
            memset(got, 0x5A, expected.size);
            (void)all->at[s]->rows[type->id].from_f32(src, got, n_blocks);
            compare_bytes(all->at[s]->name, type, expected.data, got,
                          expected.size);
        }
    }
    free(got);
    free(expected.data);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: vectors FOLDER\n");
        return 2;
    }
    folder = argv[1];

    sets all = sets_here();
    blob numbers = read_file("quantize", ".f32");
    float *src = floats_of(numbers);
    for (uint32_t id = 0; id < GGLD_TYPE_LIMIT; id++) {
        const ggld_type_row *type = ggld_type_row_of(id);
        if (type == NULL)
            continue;
        if (type->traits.can_dequantize && !has_no_vectors(id))
            check_type(&all, type);
        if (type->traits.can_quantize)
            check_quantizer(&all, type, src, numbers.size / 4);
    }
    for (size_t s = 0; s < all.n; s++)
        printf("%s ", all.at[s]->name);
    printf("- %d failures\n", n_failures);
    free(src);
    free(numbers.data);
    return n_failures != 0;
}
