/* SPDX-License-Identifier: MIT */
/* The kernels from buffer to buffer. An input is a tensor type, how far the
 * rest is off any alignment, and the rest: blocks of that type, and floats to
 * quantise to it. Blocks never fail; what a quantiser takes comes out finite. */
#include <math.h>
#include <string.h>

#include <ggld/ggld.h>

#include "fuzz.h"

static void dequantize(uint32_t type, const ggld_type_traits *traits,
                       const uint8_t *blocks, size_t size)
{
    uint64_t n = size / traits->block_bytes * traits->block_elems;
    float *floats = fuzz_alloc((size_t)n * sizeof *floats);
    uint16_t *halves = fuzz_alloc((size_t)n * sizeof *halves);
    ggld_status want = traits->can_dequantize ? GGLD_OK : GGLD_E_UNSUPPORTED;
    ggld_error err;

    ggld_status status =
        ggld_dequantize_f32(type, blocks, size, floats, n, &err);
    FUZZ_REQUIRE(status == want, "f32: %s", ggld_status_name(status));
    status = ggld_dequantize_f16(type, blocks, size, halves, n, &err);
    FUZZ_REQUIRE(status == want, "f16: %s", ggld_status_name(status));
    status = ggld_dequantize_f32(type, blocks, size, floats,
                                 n + traits->block_elems, &err);
    FUZZ_REQUIRE(status != GGLD_OK, "more than there is");
    free(floats);
    free(halves);
}

static void quantize(uint32_t type, const ggld_type_traits *traits,
                     const float *floats, size_t n_floats)
{
    uint64_t n_blocks = n_floats / traits->block_elems;
    uint64_t n = n_blocks * traits->block_elems;
    size_t size = (size_t)n_blocks * traits->block_bytes;
    uint8_t *blocks = fuzz_alloc(size);
    float *back = fuzz_alloc((size_t)n * sizeof *back);
    ggld_error err;

    ggld_status status = ggld_quantize_f32(type, floats, n, blocks, size, &err);
    FUZZ_REQUIRE(status == GGLD_OK || status == GGLD_E_VALUE ||
                     (status == GGLD_E_UNSUPPORTED && !traits->can_quantize),
                 "%s", ggld_status_name(status));
    if (status == GGLD_OK && traits->can_dequantize) {
        status = ggld_dequantize_f32(type, blocks, size, back, n, &err);
        FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
        for (uint64_t i = 0; i < n; i++)
            FUZZ_REQUIRE(isfinite(back[i]), "%s, element %d: %g became %g",
                         traits->name, (int)i, (double)floats[i],
                         (double)back[i]);
    }
    free(blocks);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const ggld_type_traits *traits = ggld_type_traits_of(data[0]);
    float nothing = 0;
    ggld_error err;
    if (traits == NULL) {
        FUZZ_REQUIRE(ggld_dequantize_f32(data[0], data, size, &nothing, 1,
                                         &err) == GGLD_E_TENSOR_TYPE,
                     "type %d", data[0]);
        return 0;
    }
    size_t off = data[1] % 64;
    size_t left = size - 2;
    uint8_t *moved = fuzz_alloc(off + left);
    float *floats = fuzz_alloc(left / sizeof *floats * sizeof *floats);
    memcpy(moved + off, data + 2, left);
    memcpy(floats, data + 2, left / sizeof *floats * sizeof *floats);
    dequantize(data[0], traits, moved + off, left);
    quantize(data[0], traits, floats, left / sizeof *floats);
    free(moved);
    free(floats);
    return 0;
}
