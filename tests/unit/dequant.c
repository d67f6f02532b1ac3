/* SPDX-License-Identifier: MIT */
/* Streamed output is what plain output is, wherever it begins, and nothing is
 * written beside it. The public calls stream only what no cache holds, and
 * that may be more than a test should have. A plain main, to run under an
 * emulator too. */
#include "../views/check.h"
#include "../views/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "lazy/dequant.h"

#define MAX_ELEMS 8192
#define GUARD     32
#define FILL      0xA5A5A5A5u

int n_failed;

static uint8_t blocks[MAX_ELEMS * 8];
static float whole[MAX_ELEMS];

static bool is_nan(float value)
{
    return (ggld_bits_of_float(value) & 0x7FFFFFFF) > 0x7F800000;
}

/* n elements from first on, streamed to shift floats behind a cache line. */
static void check_range(const ggld_tensor *t, const char *name, uint64_t first,
                        uint64_t n, uint64_t shift)
{
    static _Alignas(64) uint32_t buffer[MAX_ELEMS + 4 * GUARD];
    uint32_t *dst = buffer + GUARD + shift;
    ggld_error err = { 0 };
    ggld_view view = ggld_tensor_view(t);
    ggld_dequant d;

    for (size_t i = 0; i < sizeof buffer / sizeof buffer[0]; i++)
        buffer[i] = FILL;
    CHECK_OK(ggld_dequant_init(&d, &view, true, &err), err, name);
    CHECK_OK(ggld_dequant_seek(&d, first, n, &err), err, name);
    CHECK_OK(ggld_dequant_next(&d, n, (float *)dst, &err), err, name);

    for (uint64_t i = 0; i < n; i++) {
        float expected = whole[first + i];
        CHECK(dst[i] == ggld_bits_of_float(expected) ||
                  (is_nan(expected) && is_nan(ggld_float_of_bits(dst[i]))),
              "%s, %u + %u, shift %u: element %u: expected %08X, got %08X",
              name, (unsigned)first, (unsigned)n, (unsigned)shift, (unsigned)i,
              ggld_bits_of_float(expected), dst[i]);
    }
    for (uint32_t *p = buffer; p < buffer + sizeof buffer / sizeof *p; p++)
        CHECK((p >= dst && p < dst + n) || *p == FILL,
              "%s, %u + %u, shift %u: expected no write beside the output",
              name, (unsigned)first, (unsigned)n, (unsigned)shift);
}

static void check_type(uint32_t type, const ggld_type_traits *traits,
                       open_way way)
{
    uint64_t b = traits->block_elems;
    uint64_t n = MAX_ELEMS / b * b;
    model_tensor tensor = {
        "t", type, 1, { n }, blocks, (size_t)(n / b * traits->block_bytes)
    };
    ggld_error err = { 0 };
    model m;
    ggld_file *file = model_open(&m, way, &tensor, 1, NULL);
    const ggld_tensor *t = ggld_tensor_at(file, 0);

    CHECK_OK(ggld_dequantize_f32(type, blocks, tensor.size, whole, n, &err),
             err, traits->name);
    for (uint64_t shift = 0; shift < 16; shift++) {
        check_range(t, traits->name, 0, n, shift);
        check_range(t, traits->name, b - 1, n - b, shift);
        check_range(t, traits->name, b * (shift % 3), b, shift);
    }
    ggld_close(file);
    model_free(&m);
}

int main(void)
{
    int n_types = 0;

    fill_random(blocks, sizeof blocks, 4);
    for (uint32_t type = 0; type < GGLD_TYPE_LIMIT; type++) {
        const ggld_type_traits *traits = ggld_type_traits_of(type);
        if (traits == NULL || !traits->can_dequantize)
            continue;
        check_type(type, traits, OPEN_MEMORY);
        check_type(type, traits, OPEN_BIG_MEMORY);
        n_types++;
    }
    CHECK(n_types > 0, "expected types that can be dequantised, got none");
    printf("dequant: %d types streamed: %d failed\n", n_types, n_failed);
    return n_failed != 0;
}
