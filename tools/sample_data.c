/* SPDX-License-Identifier: MIT */
/* The values of a sample: seeded, in integer arithmetic up to the last step,
 * so that every machine makes the same file; see sample.h. */
#include "bits.h"
#include "sample.h"
#include "scales.h"

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The sum of four uniform numbers: near enough to a gaussian, of deviation
 * 0.02 or so. */
static float next_weight(uint64_t *state)
{
    uint64_t r = next_random(state);
    int32_t sum = (int32_t)((r & 0xFFFF) + (r >> 16 & 0xFFFF) +
                            (r >> 32 & 0xFFFF) + (r >> 48)) -
                  131070;
    return (float)sum * 0x1p-21f;
}

static ggld_status put_floats(ggld_writer *w, const sample_tensor *tensor,
                              uint64_t n_elems, uint64_t *rng, float *chunk,
                              ggld_error *err)
{
    /* Norms are about one. */
    float middle = tensor->n_dims == 1 ? 1.0f : 0.0f;

    for (uint64_t i = 0; i < n_elems; i++)
        chunk[i] = middle + next_weight(rng);
    return ggld_writer_put_f32(w, chunk, n_elems, err);
}

/* For types that have no quantiser here: any codes, and scales of a sensible
 * size. */
static ggld_status put_blocks(ggld_writer *w, const ggld_type_traits *traits,
                              const scale_row *scales, uint64_t n_elems,
                              uint64_t *rng, uint8_t *chunk, ggld_error *err)
{
    uint64_t n_blocks = n_elems / traits->block_elems;
    size_t size = (size_t)(n_blocks * traits->block_bytes);

    for (size_t i = 0; i < size; i += 8) {
        unsigned n = size - i < 8 ? (unsigned)(size - i) : 8;
        bits_store_le(chunk + i, n, next_random(rng));
    }
    for (uint64_t i = 0; i < n_blocks && scales != NULL; i++)
        scale_put(scales, chunk + i * traits->block_bytes,
                  (uint32_t)next_random(rng));
    return ggld_writer_put_bytes(w, chunk, size, err);
}

ggld_status sample_put_data(ggld_writer *w, const sample_tensor *tensor,
                            uint64_t n_elems, uint64_t *rng, void *chunk,
                            ggld_error *err)
{
    const ggld_type_traits *traits = ggld_type_traits_of(tensor->type);

    if (traits->can_quantize)
        return put_floats(w, tensor, n_elems, rng, chunk, err);
    return put_blocks(w, traits, scale_row_of(tensor->type), n_elems, rng,
                      chunk, err);
}
