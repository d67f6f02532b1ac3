/* SPDX-License-Identifier: MIT */
/* Random blocks through both dequantisers. All bytes are random, scales too,
 * so that they are zero, subnormal, infinite and NaN as well. Ours reads and
 * writes at odd addresses, in buffers that end where the blocks do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/ggld.h>

#include "peer.h"
#include "random.h"

#define N_SEEDS    512
#define MAX_BLOCKS 67

typedef struct buffers {
    uint8_t *src;   /* blocks, at an address that is a multiple of nothing */
    uint8_t *ours;  /* floats or halves, likewise */
    float *theirs;  /* aligned, as the peer wants it */
    void *src_base; /* what to free */
    void *ours_base;
    void *aligned_src;
    size_t src_bytes;
    size_t n_elems;
} buffers;

static buffers buffers_new(const ggld_type_traits *traits, size_t n_blocks,
                           random_state *r)
{
    buffers b = { 0 };
    size_t src_skew = random_below(r, 32);
    size_t dst_skew = random_below(r, 32);

    b.src_bytes = n_blocks * traits->block_bytes;
    b.n_elems = n_blocks * traits->block_elems;
    b.src_base = peer_alloc(b.src_bytes + src_skew);
    b.ours_base = peer_alloc(b.n_elems * sizeof(float) + dst_skew);
    b.aligned_src = peer_alloc(b.src_bytes);
    b.theirs = peer_alloc(b.n_elems * sizeof(float));
    b.src = (uint8_t *)b.src_base + src_skew;
    b.ours = (uint8_t *)b.ours_base + dst_skew;
    random_bytes(r, b.aligned_src, b.src_bytes);
    memcpy(b.src, b.aligned_src, b.src_bytes);
    return b;
}

static void buffers_free(buffers *b)
{
    free(b->src_base);
    free(b->ours_base);
    free(b->aligned_src);
    free(b->theirs);
}

static bool floats_differ(uint32_t a, uint32_t b)
{
    bool a_nan = (a & 0x7FFFFFFF) > 0x7F800000;
    bool b_nan = (b & 0x7FFFFFFF) > 0x7F800000;
    return a_nan || b_nan ? a_nan != b_nan : a != b;
}

static bool halves_differ(uint16_t a, uint16_t b)
{
    bool a_nan = (a & 0x7FFF) > 0x7C00;
    bool b_nan = (b & 0x7FFF) > 0x7C00;
    return a_nan || b_nan ? a_nan != b_nan : a != b;
}

static bool same_floats(tally *t, const buffers *b, const char *type,
                        uint64_t seed)
{
    for (size_t i = 0; i < b->n_elems; i++) {
        uint32_t ours, theirs;
        memcpy(&ours, b->ours + 4 * i, 4);
        memcpy(&theirs, &b->theirs[i], 4);
        if (floats_differ(ours, theirs))
            return tally_tell(
                t, "%s, seed %llu, element %zu: ggml %08x, ggld %08x", type,
                (unsigned long long)seed, i, theirs, ours);
    }
    return true;
}

/* Our halves against their floats, rounded by them. */
static bool same_halves(const ggml_api *ggml, tally *t, const buffers *b,
                        const char *type, uint64_t seed)
{
    const ggml_traits *half = ggml->traits_of(GGLD_TYPE_F16);

    for (size_t i = 0; i < b->n_elems; i++) {
        uint16_t ours, theirs;
        memcpy(&ours, b->ours + 2 * i, 2);
        half->from_float(&b->theirs[i], &theirs, 1);
        if (halves_differ(ours, theirs))
            return tally_tell(
                t, "%s to f16, seed %llu, element %zu: ggml %04x, ggld %04x",
                type, (unsigned long long)seed, i, theirs, ours);
    }
    return true;
}

static bool to_f32_is_same(tally *t, const buffers *b, uint32_t type,
                           uint64_t seed)
{
    const char *name = ggld_type_traits_of(type)->name;
    ggld_error err;

    if (ggld_dequantize_f32(type, b->src, b->src_bytes,
                            (float *)(void *)b->ours, b->n_elems,
                            &err) != GGLD_OK)
        return tally_tell(t, "%s: %s", name, err.message);
    return same_floats(t, b, name, seed);
}

static bool to_f16_is_same(const ggml_api *ggml, tally *t, const buffers *b,
                           uint32_t type, uint64_t seed)
{
    const char *name = ggld_type_traits_of(type)->name;
    ggld_error err;

    if (ggld_dequantize_f16(type, b->src, b->src_bytes,
                            (uint16_t *)(void *)b->ours, b->n_elems,
                            &err) != GGLD_OK)
        return tally_tell(t, "%s to f16: %s", name, err.message);
    return same_halves(ggml, t, b, name, seed);
}

static void check_values(const ggml_api *ggml, tally *t, uint32_t type,
                         ggml_to_float to_float)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    bool f32_same = true, f16_same = true;

    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        random_state r = { seed << 8 | type };
        buffers b = buffers_new(traits, 1 + random_below(&r, MAX_BLOCKS), &r);
        to_float(b.aligned_src, b.theirs, (int64_t)b.n_elems);
        f32_same &= to_f32_is_same(t, &b, type, seed);
        f16_same &= to_f16_is_same(ggml, t, &b, type, seed);
        buffers_free(&b);
    }
    tally_case(t, f32_same);
    tally_case(t, f16_same);
}

/* ggml makes blocks of Q8_1 but never reads them. Ours of theirs are within half
 * a step of what they were made of; and a bit of the step, which is a half
 * float. */
static bool q8_1_is_near(const ggml_api *ggml, tally *t, uint64_t seed)
{
    enum { N = 32 * 32 };
    const ggld_type_traits *traits = ggld_type_traits_of(GGLD_TYPE_Q8_1);
    uint8_t blocks[N / 32 * 36];
    float in[N], out[N];
    random_state r = { seed };
    ggld_error err;

    for (size_t i = 0; i < N; i++) {
        size_t block = i / 32;
        in[i] = ((float)random_below(&r, 1u << 20) - 0x1p19f) *
                (float)(1 + block * 5) * 0x1p-10f;
    }
    ggml->from_float_q8_1(in, blocks, N);
    if (sizeof blocks != N / traits->block_elems * traits->block_bytes ||
        ggld_dequantize_f32(GGLD_TYPE_Q8_1, blocks, sizeof blocks, out, N,
                            &err) != GGLD_OK)
        return tally_tell(t, "q8_1 cannot be dequantised");
    for (size_t block = 0; block < N; block += 32) {
        float most = 0;
        for (size_t i = block; i < block + 32; i++)
            most = fmaxf(most, fabsf(in[i]));
        for (size_t i = block; i < block + 32; i++)
            if (!(fabsf(out[i] - in[i]) <=
                  most / 127 * 0.5f * 1.001f + most * 0x1p-11f))
                return tally_tell(t, "q8_1, seed %llu, element %zu: %g from %g",
                                  (unsigned long long)seed, i, (double)out[i],
                                  (double)in[i]);
    }
    return true;
}

/* Known to both or neither, with the same block. */
static bool layout_is_same(const ggml_api *ggml, tally *t, uint32_t type)
{
    const ggld_type_traits *ours = ggld_type_traits_of(type);
    const ggml_traits *theirs = ggml->traits_of((int)type);
    uint32_t elems = ours != NULL ? ours->block_elems : 0;
    uint32_t bytes = ours != NULL ? ours->block_bytes : 0;

    if (elems == theirs->block_elems && bytes == theirs->block_bytes)
        return true;
    return tally_tell(t,
                      "type %u: ggml has %lld elements in %zu bytes, ggld %u "
                      "in %u",
                      type, (long long)theirs->block_elems, theirs->block_bytes,
                      elems, bytes);
}

static ggml_to_float to_float_of(const ggml_api *ggml, uint32_t type)
{
    return type == GGLD_TYPE_Q8_K ? ggml->to_float_q8_k
                                  : ggml->traits_of((int)type)->to_float;
}

void check_blocks(const ggml_api *ggml, tally *t)
{
    bool q8_1_near = true;

    for (uint32_t type = 0; type < GGML_N_TYPES; type++) {
        bool same = layout_is_same(ggml, t, type);
        tally_case(t, same);
        if (same && to_float_of(ggml, type) != NULL)
            check_values(ggml, t, type, to_float_of(ggml, type));
    }
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
        q8_1_near &= q8_1_is_near(ggml, t, seed);
    tally_case(t, q8_1_near);
}
