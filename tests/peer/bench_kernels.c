/* SPDX-License-Identifier: MIT */
/* Rates of both dequantisers and quantisers, one thread, in one run. Blocks are
 * random but for their scales, which are ordinary numbers: subnormals would
 * time the processor's microcode. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/ggld.h>

#include "peer.h"
#include "race.h"
#include "random.h"

/* In cache, past the second level, and past every cache. */
static const uint64_t sizes[] = { 4096, 1 << 20, 64 << 20 };
#define N_SIZES   (sizeof sizes / sizeof sizes[0])
#define MAX_ELEMS (64 << 20)

#define QUANTISE_ELEMS (4 << 20)

/* Where blocks of a type keep half-float scales, and a filler for others. */
static const struct {
    uint32_t type;
    uint16_t offset, count;
} half_scales[] = {
    { GGLD_TYPE_Q4_0, 0, 1 },    { GGLD_TYPE_Q4_1, 0, 2 },
    { GGLD_TYPE_Q5_0, 0, 1 },    { GGLD_TYPE_Q5_1, 0, 2 },
    { GGLD_TYPE_Q8_0, 0, 1 },    { GGLD_TYPE_Q2_K, 80, 2 },
    { GGLD_TYPE_Q3_K, 108, 1 },  { GGLD_TYPE_Q4_K, 0, 2 },
    { GGLD_TYPE_Q5_K, 0, 2 },    { GGLD_TYPE_Q6_K, 208, 1 },
    { GGLD_TYPE_IQ2_XXS, 0, 1 }, { GGLD_TYPE_IQ2_XS, 0, 1 },
    { GGLD_TYPE_IQ3_XXS, 0, 1 }, { GGLD_TYPE_IQ1_S, 0, 1 },
    { GGLD_TYPE_IQ4_NL, 0, 1 },  { GGLD_TYPE_IQ3_S, 0, 1 },
    { GGLD_TYPE_IQ2_S, 0, 1 },   { GGLD_TYPE_IQ4_XS, 0, 1 },
    { GGLD_TYPE_TQ1_0, 52, 1 },  { GGLD_TYPE_TQ2_0, 64, 1 },
    { GGLD_TYPE_Q1_0, 0, 1 },    { GGLD_TYPE_Q2_0, 0, 1 },
};

/* A half between 1/64 and 1/32, of either sign. */
static void store_scale(random_state *r, uint8_t *dst)
{
    uint16_t half = (uint16_t)(0x2400 | (random_u64(r) & 0x83FF));
    dst[0] = (uint8_t)half;
    dst[1] = (uint8_t)(half >> 8);
}

static void tame_block(random_state *r, uint32_t type, uint8_t *block)
{
    for (size_t i = 0; i < sizeof half_scales / sizeof half_scales[0]; i++)
        for (int k = 0; k < half_scales[i].count; k++)
            if (half_scales[i].type == type)
                store_scale(r, block + half_scales[i].offset + 2 * k);
    if (type == GGLD_TYPE_F16)
        store_scale(r, block);
    if (type == GGLD_TYPE_BF16) /* 2^-7 to 2^1 */
        block[1] = (uint8_t)((block[1] & 0x80) | 0x3C | (block[1] & 3));
    if (type == GGLD_TYPE_IQ1_M) /* top nibbles of four u16 are the half */
        block[55] = (uint8_t)((block[55] & 0x8F) | 0x20);
    if (type == GGLD_TYPE_MXFP4) /* 2^-16 to 2^-1 */
        block[0] = (uint8_t)(0x70 | (block[0] & 0x0F));
}

/* Blocks that are random up to a mebi of elements, then the same again. */
static uint8_t *make_blocks(uint32_t type, uint64_t n_elems)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    size_t size = (size_t)(n_elems / traits->block_elems) * traits->block_bytes;
    size_t unique =
        (size_t)((1 << 20) / traits->block_elems) * traits->block_bytes;
    uint8_t *blocks = peer_alloc(size);
    random_state r = { type };

    if (unique > size)
        unique = size;
    random_bytes(&r, blocks, unique);
    for (size_t at = 0; at < unique; at += traits->block_bytes)
        tame_block(&r, type, blocks + at);
    for (size_t at = unique; at < size; at += unique)
        memcpy(blocks + at, blocks, size - at < unique ? size - at : unique);
    return blocks;
}

typedef struct job {
    uint32_t type;
    const ggml_traits *theirs;
    const void *src;
    size_t src_bytes;
    void *dst;
    size_t dst_bytes;
    uint64_t n_elems;
} job;

static void dequantise_ours(void *ctx)
{
    job *j = ctx;
    if (ggld_dequantize_f32(j->type, j->src, j->src_bytes, j->dst, j->n_elems,
                            NULL) != GGLD_OK)
        abort();
}

static void dequantise_theirs(void *ctx)
{
    job *j = ctx;
    j->theirs->to_float(j->src, j->dst, (int64_t)j->n_elems);
}

/* Called through a volatile pointer: a store nobody reads would be dropped. */
static void *(*volatile plain_memset)(void *, int, size_t) = memset;

static void set_memory(void *ctx)
{
    job *j = ctx;
    plain_memset(j->dst, 0, j->dst_bytes);
}

static void quantise_ours(void *ctx)
{
    job *j = ctx;
    if (ggld_quantize_f32(j->type, j->src, j->n_elems, j->dst, j->dst_bytes,
                          NULL) != GGLD_OK)
        abort();
}

static void quantise_theirs(void *ctx)
{
    job *j = ctx;
    j->theirs->from_float(j->src, j->dst, (int64_t)j->n_elems);
}

typedef struct totals {
    double log_ratios;
    int n;
} totals;

static void print_dequantise(const job *j, const contender *c, bool json,
                             totals *sum)
{
    const char *name = ggld_type_traits_of(j->type)->name;
    double elems = (double)j->n_elems * 1e-9;
    double ratio = c[1].seconds / c[0].seconds;
    double memset_rate = (double)j->dst_bytes / c[2].seconds;
    double rate = (double)(j->src_bytes + j->dst_bytes) / c[0].seconds;

    sum->log_ratios += log(ratio);
    sum->n++;
    printf(json
               ? "{\"bench\":\"dequantize\",\"type\":\"%s\",\"elems\":%llu,"
                 "\"ggld_gelems_s\":%.3f,\"ggml_gelems_s\":%.3f,"
                 "\"ratio\":%.3f,\"memset_gb_s\":%.2f,"
                 "\"of_memset\":%.3f}\n"
               : "| %-7s | %10llu | %9.2f | %9.2f | %6.2f | %11.1f | %9.2f |\n",
           name, (unsigned long long)j->n_elems, elems / c[0].seconds,
           elems / c[1].seconds, ratio, memset_rate * 1e-9, rate / memset_rate);
    fflush(stdout);
}

static void bench_type(const ggml_api *ggml, uint32_t type, uint64_t n_elems,
                       float *dst, bool json, totals *sum)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    uint8_t *blocks = make_blocks(type, n_elems);
    job j = {
        type,   ggml->traits_of((int)type),
        blocks, (size_t)(n_elems / traits->block_elems) * traits->block_bytes,
        dst,    (size_t)n_elems * sizeof(float),
        n_elems
    };
    contender c[] = {
        { dequantise_ours, NULL, &j, 0 },
        { dequantise_theirs, NULL, &j, 0 },
        { set_memory, NULL, &j, 0 },
    };

    race(c, 3);
    print_dequantise(&j, c, json, sum);
    free(blocks);
}

static bool is_wanted(const char *wanted, const ggld_type_traits *traits)
{
    return traits != NULL &&
           (wanted == NULL || strcmp(wanted, traits->name) == 0);
}

bool bench_dequantise(const ggml_api *ggml, const bench_options *options)
{
    float *dst = peer_alloc(MAX_ELEMS * sizeof *dst);

    if (!options->json)
        printf("\n### Dequantise to f32, one thread (ggld: %s)\n\n"
               "| type    |   elements | ggld Ge/s | ggml Ge/s |  ratio | "
               "memset GB/s | of memset |\n"
               "| ------- | ---------: | --------: | --------: | -----: | "
               "----------: | --------: |\n",
               ggld_instruction_set());
    for (size_t i = 0; i < N_SIZES; i++) {
        totals sum = { 0, 0 };
        for (uint32_t type = 0; type < GGML_N_TYPES; type++)
            if (is_wanted(options->type, ggld_type_traits_of(type)) &&
                ggml->traits_of((int)type)->to_float != NULL)
                bench_type(ggml, type, sizes[i], dst, options->json, &sum);
        if (!options->json && sum.n > 1)
            printf("| %d types | %10llu | | | %6.2f (geometric mean) | | |\n",
                   sum.n, (unsigned long long)sizes[i],
                   exp(sum.log_ratios / sum.n));
    }
    free(dst);
    return true;
}

static void bench_quantiser(const ggml_api *ggml, uint32_t type,
                            const float *src, void *dst, bool json)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    job j = { type,
              ggml->traits_of((int)type),
              src,
              4 * QUANTISE_ELEMS,
              dst,
              QUANTISE_ELEMS / traits->block_elems * traits->block_bytes,
              QUANTISE_ELEMS };
    contender c[] = {
        { quantise_ours, NULL, &j, 0 },
        { quantise_theirs, NULL, &j, 0 },
    };
    double megabytes = (double)j.src_bytes * 1e-6;

    race(c, 2);
    printf(json ? "{\"bench\":\"quantize\",\"type\":\"%s\","
                  "\"ggld_mb_s\":%.0f,\"ggml_mb_s\":%.0f,\"ratio\":%.3f}\n"
                : "| %-5s | %9.0f | %9.0f | %6.2f |\n",
           traits->name, megabytes / c[0].seconds, megabytes / c[1].seconds,
           c[1].seconds / c[0].seconds);
    fflush(stdout);
}

bool bench_quantise(const ggml_api *ggml, const bench_options *options)
{
    float *src = peer_alloc(QUANTISE_ELEMS * sizeof *src);
    void *dst = peer_alloc(QUANTISE_ELEMS * sizeof *src);
    random_state r = { 1 };

    for (size_t i = 0; i < QUANTISE_ELEMS; i++)
        src[i] = random_gaussian(&r);
    if (!options->json)
        puts("\n### Quantise from f32, one thread, MB/s of f32 read\n\n"
             "| type  | ggld MB/s | ggml MB/s |  ratio |\n"
             "| ----- | --------: | --------: | -----: |");
    for (uint32_t type = 0; type < GGML_N_TYPES; type++) {
        const ggld_type_traits *traits = ggld_type_traits_of(type);
        if (is_wanted(options->type, traits) && traits->can_quantize &&
            ggml->traits_of((int)type)->from_float != NULL)
            bench_quantiser(ggml, type, src, dst, options->json);
    }
    free(src);
    free(dst);
    return true;
}
