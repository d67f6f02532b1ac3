/* SPDX-License-Identifier: MIT */
/* Values through both quantisers, the bytes compared. Input is finite: of NaN
 * and infinity the reference's conversion to integers is undefined, as it is
 * where one over the scale is infinite, which is why the smallest block of the
 * edge patterns has a largest magnitude of 2^-110. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/ggld.h>

#include "peer.h"
#include "random.h"

#define N_SEEDS 512
#define N_ELEMS (32 * 64)

typedef void (*fill)(random_state *r, float *dst, size_t n);

static void fill_gaussian(random_state *r, float *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = random_gaussian(r);
}

/* Each block of 32 has a magnitude of its own, from what a half's scale makes
 * zero to what it makes infinite. */
static void fill_magnitudes(random_state *r, float *dst, size_t n)
{
    for (size_t i = 0; i < n; i += 32) {
        int exponent = (int)random_below(r, 140) - 100;
        for (size_t j = i; j < i + 32; j++)
            dst[j] = ldexpf(random_gaussian(r), exponent);
        dst[i + random_below(r, 32)] = ldexpf(1.0f, exponent - 8);
    }
}

/* Multiples of a half of the step between codes: every rounding is a tie. */
static void fill_ties(random_state *r, float *dst, size_t n)
{
    static const float largest[] = { 127.0f, -127.0f, 8.0f,  -8.0f,
                                     16.0f,  -16.0f,  15.0f, 31.0f };
    for (size_t i = 0; i < n; i += 32) {
        float top = largest[random_below(r, 8)];
        int64_t steps = (int64_t)(2 * fabsf(top)) + 1;
        for (size_t j = i; j < i + 32; j++) {
            int64_t step = (int64_t)random_below(r, (uint64_t)steps);
            dst[j] = (float)(2 * step - steps + 1) / 4.0f;
        }
        dst[i + random_below(r, 32)] = top;
    }
}

/* Just off the ties, where a fused or a doubled rounding shows. */
static void fill_near_ties(random_state *r, float *dst, size_t n)
{
    fill_ties(r, dst, n);
    for (size_t i = 0; i < n; i++)
        dst[i] =
            nextafterf(dst[i], random_below(r, 2) ? HUGE_VALF : -HUGE_VALF);
}

/* Few values: zeros of both signs, the same largest magnitude twice. */
static void fill_few(random_state *r, float *dst, size_t n)
{
    static const float values[] = { 0.0f,        -0.0f,        1.0f, -1.0f,
                                    0.49999997f, -0.49999997f, 6e4f, -6e4f };
    for (size_t i = 0; i < n; i += 32) {
        uint64_t n_values = 1 + random_below(r, 8);
        for (size_t j = i; j < i + 32; j++)
            dst[j] = values[random_below(r, n_values)];
    }
}

/* Any finite bits. Of the types with scales only blocks that are large enough
 * can be compared, so each gets one large element. */
static void fill_bits(random_state *r, float *dst, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        do {
            uint32_t bits = (uint32_t)random_u64(r);
            memcpy(&dst[i], &bits, 4);
        } while (!isfinite(dst[i]) || fabsf(dst[i]) > 1e37f);
        if (i % 32 == 0)
            dst[i] = 1e30f;
    }
}

static const struct {
    const char *name;
    fill fill;
} patterns[] = {
    { "gaussian", fill_gaussian }, { "magnitudes", fill_magnitudes },
    { "ties", fill_ties },         { "near ties", fill_near_ties },
    { "few values", fill_few },    { "any bits", fill_bits },
};
#define N_PATTERNS (sizeof patterns / sizeof patterns[0])

static bool same_bytes(tally *t, const ggld_type_traits *traits,
                       const char *pattern, uint64_t seed, const uint8_t *ours,
                       const uint8_t *theirs, size_t size)
{
    size_t i = 0;
    while (i < size && ours[i] == theirs[i])
        i++;
    if (i == size)
        return true;
    return tally_tell(
        t, "%s of %s, seed %llu, block %zu, byte %zu: ggml %02x, ggld %02x",
        traits->name, pattern, (unsigned long long)seed,
        i / traits->block_bytes, i % traits->block_bytes, theirs[i], ours[i]);
}

static bool seed_is_same(const ggml_api *ggml, tally *t, uint32_t type,
                         size_t pattern, uint64_t seed)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    size_t size = N_ELEMS / traits->block_elems * traits->block_bytes;
    float *src = peer_alloc(N_ELEMS * sizeof(float));
    uint8_t *ours = peer_alloc(size);
    uint8_t *theirs = peer_alloc(size);
    random_state r = { seed << 16 | pattern << 8 | type };
    ggld_error err;
    bool same;

    patterns[pattern].fill(&r, src, N_ELEMS);
    ggml->traits_of((int)type)->from_float(src, theirs, N_ELEMS);
    ggld_status status =
        ggld_quantize_f32(type, src, N_ELEMS, ours, size, &err);
    /* GGLD_E_VALUE: a scale past a half's range; the bytes are there. */
    if (status == GGLD_OK || status == GGLD_E_VALUE)
        same = same_bytes(t, traits, patterns[pattern].name, seed, ours, theirs,
                          size);
    else
        same = tally_tell(t, "%s: %s", traits->name, err.message);
    free(src);
    free(ours);
    free(theirs);
    return same;
}

static void check_pattern(const ggml_api *ggml, tally *t, uint32_t type,
                          size_t pattern)
{
    bool same = true;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
        same &= seed_is_same(ggml, t, type, pattern, seed);
    tally_case(t, same);
}

void check_quantisers(const ggml_api *ggml, tally *t)
{
    for (uint32_t type = 0; type < GGML_N_TYPES; type++) {
        const ggld_type_traits *ours = ggld_type_traits_of(type);
        if (ours == NULL || !ours->can_quantize ||
            ggml->traits_of((int)type)->from_float == NULL)
            continue;
        for (size_t pattern = 0; pattern < N_PATTERNS; pattern++)
            check_pattern(ggml, t, type, pattern);
    }
}
