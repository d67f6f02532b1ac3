/* SPDX-License-Identifier: MIT */
/* Every way to read a part of a tensor gives what slicing of the whole,
 * dequantised at once, gives: each type, wherever the range begins and ends,
 * however the file was opened, and nothing is written beside it. A plain main,
 * to run under an emulator too: with an argument, one of so many ranges. */
#include "check.h"
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 16 /* elements before and behind a buffer */
#define FILL  0xA5
/* Past the size from which on output is streamed. */
#define LARGE_BYTES (12u << 20)

int n_failed;

typedef struct subject {
    const char *type_name;
    uint64_t block_elems;
    uint64_t row_elems;
    model_tensor tensor;
    float *whole;     /* dequantised by the kernel at once */
    uint16_t *halves; /* the nearest to these, or NULL */
    const char *way;
    const ggld_tensor *opened;
} subject;

static void *must_alloc(size_t size)
{
    void *p = malloc(size);
    if (p == NULL)
        abort();
    return p;
}

/* The nearest half by double arithmetic, ties to even: exact, as a float has
 * fewer digits than a double. Any NaN is 0x7E00. */
static uint16_t nearest_half(float value)
{
    double magnitude = fabs((double)value);
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent;

    if (isnan(value))
        return 0x7E00;
    if (magnitude >= 65520)
        return sign | 0x7C00;
    if (magnitude == 0)
        return sign;
    frexp(magnitude, &exponent);
    if (exponent < -13)
        exponent = -13; /* subnormal: units of 2^-24 */
    double units = nearbyint(ldexp(magnitude, 11 - exponent));
    return (uint16_t)(sign + (exponent + 13) * 1024 + (int)units);
}

/* n_rows rows of row_blocks blocks with random bytes. */
static subject subject_new(uint32_t type, uint64_t row_blocks, uint64_t n_rows)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    uint64_t n_blocks = row_blocks * n_rows;
    subject s = { traits->name, traits->block_elems,
                  row_blocks * traits->block_elems };
    size_t size = (size_t)(n_blocks * traits->block_bytes);
    void *data = must_alloc(size);
    model_tensor tensor = { "t", type, 2, { s.row_elems, n_rows }, data, size };
    ggld_error err = { 0 };

    fill_random(data, size, type + n_blocks);
    s.tensor = tensor;
    s.whole = must_alloc((size_t)(n_blocks * s.block_elems) * sizeof(float));
    CHECK_OK(ggld_dequantize_f32(type, data, size, s.whole,
                                 n_blocks * s.block_elems, &err),
             err, s.type_name);
    return s;
}

static void subject_add_halves(subject *s)
{
    uint64_t n = s->row_elems * s->tensor.dims[1];
    s->halves = must_alloc((size_t)n * sizeof *s->halves);
    for (uint64_t i = 0; i < n; i++)
        s->halves[i] = nearest_half(s->whole[i]);
}

static void subject_free(subject *s)
{
    free((void *)s->tensor.data);
    free(s->whole);
    free(s->halves);
}

/* A buffer of n elements of width bytes, every byte around and in it FILL,
 * shift elements behind a multiple of 64. */
typedef struct guarded {
    uint8_t *memory;
    uint8_t *base;
    uint8_t *data;
    size_t size;
    size_t total;
} guarded;

static guarded guarded_new(uint64_t n, size_t width, size_t shift)
{
    guarded g = { 0 };
    g.size = (size_t)n * width;
    g.total = g.size + (2 * GUARD + shift) * width;
    g.memory = must_alloc(g.total + 64);
    g.base = g.memory + (64 - (uintptr_t)g.memory % 64) % 64;
    g.data = g.base + (GUARD + shift) * width;
    memset(g.base, FILL, g.total);
    return g;
}

/* Are the bytes beside the buffer as they were? Frees it. */
static bool guarded_end(guarded *g)
{
    const uint8_t *end = g->base + g->total;
    bool intact = true;
    for (const uint8_t *p = g->base; p < g->data; p++)
        intact = intact && *p == FILL;
    for (const uint8_t *p = g->data + g->size; p < end; p++)
        intact = intact && *p == FILL;
    free(g->memory);
    return intact;
}

static bool same_half(uint16_t got, uint16_t expected)
{
    bool is_nan = (expected & 0x7FFF) > 0x7C00;
    return is_nan ? (got & 0x7FFF) > 0x7C00 : got == expected;
}

/* Bit for bit, but that any NaN is as good as another. */
static bool same_floats(const float *got, const float *expected, uint64_t n)
{
    if (memcmp(got, expected, (size_t)n * sizeof *got) == 0)
        return true;
    for (uint64_t i = 0; i < n; i++)
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0 &&
            !(isnan(got[i]) && isnan(expected[i])))
            return false;
    return true;
}

static void check_f32(const subject *s, uint64_t first, uint64_t n,
                      size_t shift)
{
    ggld_view view = ggld_tensor_view(s->opened);
    ggld_error err = { 0 };
    guarded dst = guarded_new(n, sizeof(float), shift);

    CHECK_OK(ggld_view_elems(&view, &view, first, n, &err), err, s->type_name);
    CHECK_OK(ggld_view_read_f32(&view, (float *)dst.data, n, &err), err,
             s->type_name);
    CHECK(same_floats((const float *)dst.data, s->whole + first, n),
          "%s, %s: f32 of %llu + %llu: expected the whole's slice, got others",
          s->type_name, s->way, (unsigned long long)first,
          (unsigned long long)n);
    CHECK(guarded_end(&dst),
          "%s, %s: f32 of %llu + %llu: expected no write beside the buffer",
          s->type_name, s->way, (unsigned long long)first,
          (unsigned long long)n);
}

static void check_f16(const subject *s, uint64_t first, uint64_t n)
{
    ggld_view view = ggld_tensor_view(s->opened);
    ggld_error err = { 0 };
    guarded dst = guarded_new(n, sizeof(uint16_t), (size_t)first % 4);
    const uint16_t *got = (const uint16_t *)dst.data;

    CHECK_OK(ggld_view_elems(&view, &view, first, n, &err), err, s->type_name);
    CHECK_OK(ggld_view_read_f16(&view, (uint16_t *)dst.data, n, &err), err,
             s->type_name);
    for (uint64_t i = 0; i < n; i++)
        CHECK(same_half(got[i], s->halves[first + i]),
              "%s, %s: f16 of %llu + %llu: element %llu: expected %04X of %a, "
              "got %04X",
              s->type_name, s->way, (unsigned long long)first,
              (unsigned long long)n, (unsigned long long)i,
              s->halves[first + i], (double)s->whole[first + i], got[i]);
    CHECK(guarded_end(&dst),
          "%s, %s: f16 of %llu + %llu: expected no write beside the buffer",
          s->type_name, s->way, (unsigned long long)first,
          (unsigned long long)n);
}

/* Is it a place where a block or a part of one begins or ends? All places are
 * where there are few. */
static bool is_place(const subject *s, uint64_t at, uint64_t n_elems)
{
    uint64_t b = s->block_elems;
    uint64_t in = at % b;
    if (n_elems <= 200 || at == n_elems)
        return true;
    return in < 3 || in + 2 >= b || in % (b / 2) == 1 || in % (b / 2) == b - 1;
}

static void check_ranges(const subject *s, unsigned step)
{
    uint64_t n_elems = s->row_elems * s->tensor.dims[1];
    unsigned n = 0;
    for (uint64_t first = 0; first <= n_elems; first++)
        for (uint64_t end = first; end <= n_elems; end++)
            if (is_place(s, first, n_elems) && is_place(s, end, n_elems) &&
                n++ % step == 0) {
                check_f32(s, first, end - first, (size_t)first % 8);
                check_f16(s, first, end - first);
            }
}

static void check_gather(const subject *s, const ggld_view *view,
                         uint64_t first_row, const uint64_t *rows, uint64_t n)
{
    guarded dst = guarded_new(n * s->row_elems, sizeof(float), 1);
    const float *got = (const float *)dst.data;
    ggld_error err = { 0 };

    CHECK_OK(ggld_view_gather_f32(view, rows, n, (float *)dst.data,
                                  n * s->row_elems, &err),
             err, s->type_name);
    for (uint64_t i = 0; i < n; i++)
        CHECK(same_floats(got + i * s->row_elems,
                          s->whole + (first_row + rows[i]) * s->row_elems,
                          s->row_elems),
              "%s, %s: gather: expected row %llu at %llu, got others",
              s->type_name, s->way, (unsigned long long)(first_row + rows[i]),
              (unsigned long long)i);
    CHECK(guarded_end(&dst),
          "%s, %s: gather: expected no write beside the buffer", s->type_name,
          s->way);
}

static void check_gathers(const subject *s)
{
    static const uint64_t rows[] = { 2, 0, 0, 1, 2, 1 };
    static const uint64_t fewer[] = { 1, 0, 1 };
    ggld_view view = ggld_tensor_view(s->opened);
    ggld_error err = { 0 };

    check_gather(s, &view, 0, NULL, 0);
    check_gather(s, &view, 0, rows, 6);
    CHECK_OK(ggld_view_rows(&view, &view, 1, 2, &err), err, s->type_name);
    check_gather(s, &view, 1, fewer, 3);
}

/* Stored bytes are the file's, in its order. */
static void check_bytes(const subject *s, const model *m)
{
    const uint8_t *expected = m->bytes + m->data_offset;
    size_t size = s->tensor.size;
    guarded dst = guarded_new(size - 1, 1, 0);
    ggld_error err = { 0 };
    const void *mapped = NULL;
    size_t mapped_size = 0;

    CHECK_OK(ggld_tensor_read_bytes(s->opened, 1, dst.data, size - 1, &err),
             err, s->type_name);
    CHECK(memcmp(dst.data, expected + 1, size - 1) == 0,
          "%s, %s: expected the stored bytes, got others", s->type_name,
          s->way);
    CHECK(guarded_end(&dst), "%s, %s: expected no write beside the buffer",
          s->type_name, s->way);

    ggld_status status =
        ggld_tensor_map(s->opened, &mapped, &mapped_size, &err);
    if (strstr(s->way, "pread") != NULL)
        CHECK(status == GGLD_E_UNSUPPORTED && mapped == NULL,
              "%s, %s: expected no map, got one", s->type_name, s->way);
    else
        CHECK(status == GGLD_OK && mapped_size == size &&
                  memcmp(mapped, expected, size) == 0,
              "%s, %s: expected the stored bytes in the map, got others",
              s->type_name, s->way);
}

static ggld_file *subject_open(subject *s, model *m, open_way way,
                               const ggld_open_options *options)
{
    ggld_file *file = model_open(m, way, &s->tensor, 1, options);
    s->way = open_way_names[way];
    s->opened = ggld_tensor_find(file, "t");
    CHECK(s->opened != NULL, "%s, %s: expected tensor t, got none",
          s->type_name, s->way);
    return file;
}

static void check_long_ranges(const subject *s)
{
    uint64_t n = s->row_elems, b = s->block_elems;
    check_f32(s, 0, n, 0);
    check_f32(s, b - 1, n - b, 1);
    check_f32(s, n / 2 + 1, n / 3, 3);
    check_f16(s, 0, n);
    check_f16(s, b - 1, n - b);
}

/* Three rows of a block or eleven, by all ranges, and a row several times what
 * a reader can hold at once, by few; in every way to open. */
static void check_ways(uint32_t type, unsigned step)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    subject small = subject_new(type, traits->block_elems == 1 ? 11 : 1, 3);
    subject longer = subject_new(type, 50000 / traits->block_bytes, 1);

    subject_add_halves(&small);
    subject_add_halves(&longer);

    for (int way = 0; way < N_OPEN_WAYS; way++) {
        model m;
        ggld_file *file = subject_open(&small, &m, (open_way)way, NULL);
        check_ranges(&small, step);
        check_gathers(&small);
        check_bytes(&small, &m);
        ggld_close(file);
        model_free(&m);

        file = subject_open(&longer, &m, (open_way)way, NULL);
        check_long_ranges(&longer);
        ggld_close(file);
        model_free(&m);
    }
    subject_free(&small);
    subject_free(&longer);
}

/* Output larger than most caches, where stores may pass them by. (What they do
 * at each alignment of dst is tested at the kernels' door, in tests/unit.) */
static void check_large(uint32_t type)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    uint64_t n_rows = LARGE_BYTES / sizeof(float) / traits->block_elems / 8 + 1;
    subject s = subject_new(type, 8, n_rows);
    uint64_t n = n_rows * s.row_elems, b = s.block_elems;
    model m;
    ggld_file *file = subject_open(&s, &m, OPEN_MEMORY, NULL);
    ggld_view view = ggld_tensor_view(s.opened);
    uint64_t *rows = must_alloc((size_t)n_rows * sizeof *rows);

    check_f32(&s, 0, n, 0);
    check_f32(&s, b - 1, n - b - 1, type % 7 + 1);
    for (uint64_t i = 0; i < n_rows; i++)
        rows[i] = n_rows - 1 - i;
    check_gather(&s, &view, 0, rows, n_rows);
    free(rows);
    ggld_close(file);
    model_free(&m);
    subject_free(&s);
}

/* The instruction set that is asked for makes no difference. */
static void check_plain_set(uint32_t type)
{
    ggld_open_options options = ggld_open_options_init();
    subject s = subject_new(type, 3, 3);
    model m;

    subject_add_halves(&s);
    options.cpu_disable = GGLD_CPU_AVX2 | GGLD_CPU_NEON;
    ggld_file *file = subject_open(&s, &m, OPEN_MEMORY, &options);
    check_f32(&s, 0, 9 * s.block_elems, 1);
    check_f16(&s, 0, 9 * s.block_elems);
    ggld_close(file);
    model_free(&m);
    subject_free(&s);
}

int main(int argc, char **argv)
{
    unsigned step = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int n_types = 0;
    for (uint32_t type = 0; type < 256; type++) {
        const ggld_type_traits *traits = ggld_type_traits_of(type);
        if (traits == NULL || !traits->can_dequantize)
            continue;
        check_ways(type, step == 0 ? 1 : step);
        if (type == GGLD_TYPE_F32 || type == GGLD_TYPE_Q4_0)
            check_large(type);
        check_plain_set(type);
        n_types++;
    }
    CHECK(n_types >= 11, "expected 11 types or more, got %d", n_types);
    printf("values: %d types, %d ways to open, set %s: %d failed\n", n_types,
           N_OPEN_WAYS, ggld_instruction_set(), n_failed);
    return n_failed != 0;
}
