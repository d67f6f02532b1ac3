/* SPDX-License-Identifier: MIT */
/* Views of every tensor of any file that opens: whole, parts, rows by number,
 * halves and stored bytes. What comes through a map, through a source that
 * reads a few bytes at a time, and from the scalar kernels must be the same,
 * and every part must be what the whole has there. */
#include <inttypes.h>
#include <string.h>

#include <ggld/ggld.h>

#include "fuzz.h"

#define MAX_TENSORS 32
#define MAX_ELEMS   (1u << 18)
#define N_PARTS     4

typedef struct input {
    const uint8_t *data;
    size_t size;
    uint64_t random;
    ggld_file *mapped, *read, *scalar;
} input;

static int64_t short_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const input *in = ctx;
    if (offset >= in->size)
        return 0;
    uint64_t left = in->size - offset;
    size_t some = n < 509 ? n : 509;
    if (some > left)
        some = (size_t)left;
    memcpy(dst, in->data + offset, some);
    return (int64_t)some;
}

static bool open_all(input *in)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_source source = {
        sizeof source, in->size, short_pread, NULL, NULL, in
    };
    ggld_error err;

    if (ggld_open_memory(&in->mapped, in->data, in->size, &options, NULL) !=
        GGLD_OK) {
        options.flags = GGLD_OPEN_METADATA;
        if (ggld_open_memory(&in->mapped, in->data, in->size, &options, NULL) !=
            GGLD_OK)
            return false;
    }
    ggld_status status = ggld_open_source(&in->read, &source, &options, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    options.cpu_disable = GGLD_CPU_AVX2 | GGLD_CPU_NEON;
    status = ggld_open_memory(&in->scalar, in->data, in->size, &options, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    return true;
}

static bool same_value(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static void require_values(const float *got, const float *want, uint64_t n,
                           const char *what)
{
    for (uint64_t i = 0; i < n; i++)
        FUZZ_REQUIRE(same_value(got[i], want[i]), "%s, element %" PRIu64, what,
                     i);
}

/* The other two ways to the same values, of any view. */
static void compare_ways(const input *in, const ggld_view *view,
                         ggld_status status, const float *want)
{
    uint64_t index = 0;
    ggld_tensor_info info = { .struct_size = sizeof info };
    size_t size = (size_t)view->n_elems * sizeof(float);
    float *got = fuzz_alloc(size);
    ggld_view other = *view;

    ggld_tensor_get_info(view->tensor, &info);
    index = info.index;
    other.tensor = ggld_tensor_at(in->read, index);
    FUZZ_REQUIRE(ggld_view_read_f32(&other, got, view->n_elems, NULL) == status,
                 "pread, tensor %" PRIu64, index);
    if (status == GGLD_OK)
        require_values(got, want, view->n_elems, "pread");
    other.tensor = ggld_tensor_at(in->scalar, index);
    FUZZ_REQUIRE(ggld_view_read_f32(&other, got, view->n_elems, NULL) == status,
                 "scalar, tensor %" PRIu64, index);
    if (status == GGLD_OK)
        require_values(got, want, view->n_elems, "scalar");
    free(got);
}

static void read_halves(const input *in, const ggld_view *view,
                        ggld_status status)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    size_t size = (size_t)view->n_elems * sizeof(uint16_t);
    uint16_t *mapped = fuzz_alloc(size);
    uint16_t *scalar = fuzz_alloc(size);
    ggld_view other = *view;

    ggld_tensor_get_info(view->tensor, &info);
    other.tensor = ggld_tensor_at(in->scalar, info.index);
    FUZZ_REQUIRE(ggld_view_read_f16(view, mapped, view->n_elems, NULL) ==
                     status,
                 "halves");
    FUZZ_REQUIRE(ggld_view_read_f16(&other, scalar, view->n_elems, NULL) ==
                     status,
                 "halves, scalar");
    for (uint64_t i = 0; status == GGLD_OK && i < view->n_elems; i++)
        FUZZ_REQUIRE(mapped[i] == scalar[i] || ((mapped[i] & 0x7FFF) > 0x7C00 &&
                                                (scalar[i] & 0x7FFF) > 0x7C00),
                     "halves, element %" PRIu64, i);
    free(mapped);
    free(scalar);
}

static void read_part(input *in, const ggld_view *whole, const float *values)
{
    ggld_view part;
    uint64_t first = fuzz_next(&in->random) % whole->n_elems;
    uint64_t n = fuzz_next(&in->random) % (whole->n_elems - first) + 1;
    float *got = fuzz_alloc((size_t)n * sizeof *got);
    ggld_error err;

    ggld_status status = ggld_view_elems(&part, whole, first, n, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    status = ggld_view_read_f32(&part, got, n, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    require_values(got, values + first, n, "part");
    compare_ways(in, &part, GGLD_OK, got);
    free(got);
}

static void read_rows(input *in, const ggld_view *whole, uint64_t row_elems,
                      const float *values)
{
    uint64_t rows[N_PARTS];
    uint64_t n_rows = whole->n_elems / row_elems;
    float *got = fuzz_alloc((size_t)row_elems * N_PARTS * sizeof *got);
    ggld_error err;

    for (int i = 0; i < N_PARTS; i++)
        rows[i] = fuzz_next(&in->random) % n_rows;
    ggld_status status = ggld_view_gather_f32(whole, rows, N_PARTS, got,
                                              row_elems * N_PARTS, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    for (int i = 0; i < N_PARTS; i++)
        require_values(got + (uint64_t)i * row_elems,
                       values + rows[i] * row_elems, row_elems, "row");
    rows[N_PARTS - 1] = n_rows;
    FUZZ_REQUIRE(ggld_view_gather_f32(whole, rows, N_PARTS, got,
                                      row_elems * N_PARTS,
                                      &err) == GGLD_E_INVALID,
                 "a row past the end");
    free(got);
}

/* Views with numbers of their own, which may be anything. */
static void read_wild(input *in, const ggld_view *whole)
{
    float got[64];
    ggld_view wild = *whole;
    ggld_error err;

    wild.first_elem = fuzz_next(&in->random) << (fuzz_next(&in->random) % 33);
    wild.n_elems = fuzz_next(&in->random) % 65;
    wild.n_dims = (uint32_t)(fuzz_next(&in->random) % 6);
    ggld_status status = ggld_view_read_f32(&wild, got, 64, &err);
    FUZZ_REQUIRE(status != GGLD_OK ||
                     (wild.first_elem <= whole->n_elems &&
                      wild.n_elems <= whole->n_elems - wild.first_elem),
                 "a view past the end");
    wild.n_elems = UINT64_MAX - fuzz_next(&in->random) % 64;
    FUZZ_REQUIRE(ggld_view_read_f32(&wild, got, 64, &err) != GGLD_OK,
                 "a view of 2^64 elements in 64");
}

static void read_bytes(const input *in, const ggld_tensor_info *info)
{
    const ggld_tensor *t = ggld_tensor_at(in->mapped, info->index);
    const void *map;
    size_t map_size;
    uint64_t size = info->size_bytes;
    if (size > in->size)
        size = in->size;
    uint8_t *got = fuzz_alloc((size_t)size);

    ggld_status status = ggld_tensor_map(t, &map, &map_size, NULL);
    ggld_status read = ggld_tensor_read_bytes(
        ggld_tensor_at(in->read, info->index), 0, got, (size_t)size, NULL);
    if (status == GGLD_OK) {
        FUZZ_REQUIRE(read == GGLD_OK && map_size == size,
                     "mapped, and pread says %d", read);
        FUZZ_REQUIRE(size == 0 || memcmp(map, got, map_size) == 0, "bytes");
    }
    free(got);
}

static void try_tensor(input *in, const ggld_tensor *t)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_view whole = ggld_tensor_view(t);

    ggld_tensor_get_info(t, &info);
    read_bytes(in, &info);
    read_wild(in, &whole);
    if (whole.n_elems > MAX_ELEMS)
        return;
    float *values = fuzz_alloc((size_t)whole.n_elems * sizeof *values);
    ggld_status status =
        ggld_view_read_f32(&whole, values, whole.n_elems, NULL);
    compare_ways(in, &whole, status, values);
    read_halves(in, &whole, status);
    for (int i = 0; i < N_PARTS && status == GGLD_OK && whole.n_elems > 0; i++)
        read_part(in, &whole, values);
    if (status == GGLD_OK && whole.n_elems > 0)
        read_rows(in, &whole, info.n_dims > 0 ? info.dims[0] : 1, values);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = { data, size, fuzz_hash(data, size), NULL, NULL, NULL };

    if (!open_all(&in))
        return 0;
    uint64_t n = ggld_tensor_count(in.mapped);
    for (uint64_t i = 0; i < n && i < MAX_TENSORS; i++)
        try_tensor(&in, ggld_tensor_at(in.mapped, i));
    ggld_close(in.mapped);
    ggld_close(in.read);
    ggld_close(in.scalar);
    return 0;
}
