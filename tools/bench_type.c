/* SPDX-License-Identifier: MIT */
/* Dequantising one tensor on one thread, in cache and through memory, beside
 * memset on the same floats; see bench.h. */
#include "bench.h"

#include <string.h>

#include "progress.h"
#include "report.h"

#define CACHE_ELEMS   4096
#define CACHE_BATCHES 15
#define BATCH_SECONDS 0.01
#define MEMORY_ROUNDS 5

static int read_failed(const model *m, const ggld_error *err)
{
    return report_error(m->path, err);
}

/* Reads the view again and again for one batch: seconds of one read. */
static ggld_status time_batch(const ggld_view *view, float *dst,
                              double *seconds, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    double start = progress_clock(), now = start;
    uint64_t n = 0;

    while (status == GGLD_OK && now - start < BATCH_SECONDS) {
        for (int i = 0; i < 16 && status == GGLD_OK; i++)
            status = ggld_view_read_f32(view, dst, view->n_elems, err);
        n += 16;
        now = progress_clock();
    }
    *seconds = (now - start) / (double)n;
    return status;
}

static ggld_status time_cache(const ggld_view *view, bench_type *b, float *dst,
                              ggld_error *err)
{
    double times[CACHE_BATCHES];
    ggld_status status = GGLD_OK;

    for (size_t i = 0; i < CACHE_BATCHES && status == GGLD_OK; i++)
        status = time_batch(view, dst, &times[i], err);
    if (status == GGLD_OK)
        b->cache_seconds = bench_median(times, CACHE_BATCHES);
    return status;
}

/* The first round, which brings file and buffer into memory, is not counted. */
static ggld_status time_memory(const ggld_view *view, bench_type *b, float *dst,
                               ggld_error *err)
{
    double reads[MEMORY_ROUNDS + 1], sets[MEMORY_ROUNDS + 1];
    ggld_status status = GGLD_OK;

    for (size_t i = 0; i <= MEMORY_ROUNDS && status == GGLD_OK; i++) {
        double start = progress_clock();
        memset(dst, (int)i, (size_t)view->n_elems * sizeof *dst);
        /* The compiler must not see that these bytes are overwritten. */
        __asm__ volatile("" : : "r"(dst) : "memory");
        sets[i] = progress_clock() - start;
        start = progress_clock();
        status = ggld_view_read_f32(view, dst, view->n_elems, err);
        reads[i] = progress_clock() - start;
    }
    if (status != GGLD_OK)
        return status;
    b->memory_seconds = bench_median(reads + 1, MEMORY_ROUNDS);
    b->memset_seconds = bench_median(sets + 1, MEMORY_ROUNDS);
    return GGLD_OK;
}

int bench_run_type(const model *m, bench_type *b, float *dst,
                   uint64_t max_elems)
{
    ggld_view whole = ggld_tensor_view(ggld_tensor_at(m->file, b->tensor));
    const ggld_type_traits *traits = ggld_type_traits_of(b->type);
    uint64_t n = whole.n_elems < max_elems ? whole.n_elems : max_elems;
    ggld_view cache, memory;
    ggld_error err;

    b->cache_elems = n < CACHE_ELEMS ? n : CACHE_ELEMS;
    b->memory_elems = n < BENCH_MEMORY_MIN_ELEMS ? 0 : n;
    b->memory_read_bytes =
        b->memory_elems / traits->block_elems * traits->block_bytes;
    if (ggld_view_elems(&cache, &whole, 0, b->cache_elems, &err) != GGLD_OK ||
        time_cache(&cache, b, dst, &err) != GGLD_OK)
        return read_failed(m, &err);
    if (b->memory_elems == 0)
        return STATUS_GOOD;
    if (ggld_view_elems(&memory, &whole, 0, n, &err) != GGLD_OK ||
        time_memory(&memory, b, dst, &err) != GGLD_OK)
        return read_failed(m, &err);
    return STATUS_GOOD;
}
