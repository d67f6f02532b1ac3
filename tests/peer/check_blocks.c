/* SPDX-License-Identifier: MIT */
/* Random blocks through both dequantisers. All bytes are random, scales too,
 * so that they are zero, subnormal, infinite and NaN as well. Ours reads and
 * writes at odd addresses, in buffers that end where the blocks do. */
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

static void compare_floats(tally *t, const buffers *b, const char *type,
                           uint64_t seed)
{
    for (size_t i = 0; i < b->n_elems; i++) {
        uint32_t ours, theirs;
        memcpy(&ours, b->ours + 4 * i, 4);
        memcpy(&theirs, &b->theirs[i], 4);
        if (!floats_differ(ours, theirs))
            continue;
        tally_case(t, false, "%s, seed %llu, element %zu: ggml %08x, ggld %08x",
                   type, (unsigned long long)seed, i, theirs, ours);
        return;
    }
    tally_case(t, true, "%s", type);
}

/* Their floats rounded by them to halves, against our halves. */
static void compare_halves(const ggml_api *ggml, tally *t, const buffers *b,
                           const char *type, uint64_t seed)
{
    uint16_t *theirs = peer_alloc(b->n_elems * sizeof *theirs);

    ggml->traits_of(GGLD_TYPE_F16)
        ->from_float(b->theirs, theirs, (int64_t)b->n_elems);
    for (size_t i = 0; i < b->n_elems; i++) {
        uint16_t ours;
        memcpy(&ours, b->ours + 2 * i, 2);
        if (!halves_differ(ours, theirs[i]))
            continue;
        tally_case(t, false,
                   "%s to f16, seed %llu, element %zu: ggml %04x, ggld %04x",
                   type, (unsigned long long)seed, i, theirs[i], ours);
        free(theirs);
        return;
    }
    tally_case(t, true, "%s", type);
    free(theirs);
}

static void check_seed(const ggml_api *ggml, tally *t, uint32_t type,
                       uint64_t seed)
{
    random_state r = { seed << 8 | type };
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    buffers b = buffers_new(traits, 1 + random_below(&r, MAX_BLOCKS), &r);
    ggld_error err;

    ggml->traits_of((int)type)->to_float(b.aligned_src, b.theirs,
                                         (int64_t)b.n_elems);
    if (ggld_dequantize_f32(type, b.src, b.src_bytes, (float *)(void *)b.ours,
                            b.n_elems, &err) != GGLD_OK)
        tally_case(t, false, "%s: %s", traits->name, err.message);
    else
        compare_floats(t, &b, traits->name, seed);
    if (ggld_dequantize_f16(type, b.src, b.src_bytes,
                            (uint16_t *)(void *)b.ours, b.n_elems,
                            &err) != GGLD_OK)
        tally_case(t, false, "%s to f16: %s", traits->name, err.message);
    else
        compare_halves(ggml, t, &b, traits->name, seed);
    buffers_free(&b);
}

static void check_layout(const ggml_api *ggml, tally *t, uint32_t type)
{
    const ggld_type_traits *ours = ggld_type_traits_of(type);
    const ggml_traits *theirs = ggml->traits_of((int)type);

    tally_case(t,
               ours->block_elems == theirs->block_elems &&
                   ours->block_bytes == theirs->block_bytes,
               "type %u: ggml has %lld elements in %zu bytes, ggld %u in %u",
               type, (long long)theirs->block_elems, theirs->block_bytes,
               ours->block_elems, ours->block_bytes);
}

void check_blocks(const ggml_api *ggml, tally *t)
{
    for (uint32_t type = 0; type < GGML_N_TYPES; type++) {
        const ggld_type_traits *ours = ggld_type_traits_of(type);
        bool theirs = ggml->traits_of((int)type)->block_elems != 0;
        tally_case(t, (ours != NULL) == theirs,
                   "type %u: %s by ggml, %s by ggld", type,
                   theirs ? "known" : "unknown", ours ? "known" : "unknown");
        if (ours == NULL || !theirs)
            continue;
        check_layout(ggml, t, type);
        if (ggml->traits_of((int)type)->to_float == NULL)
            continue;
        for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
            check_seed(ggml, t, type, seed);
    }
}
