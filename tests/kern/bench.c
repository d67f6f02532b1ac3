/* SPDX-License-Identifier: MIT */
/* How fast the kernels are on 4096 elements, which stay in the first cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kcheck.h"
#include "patterns.h"

#define ELEMS  4096
#define ROUNDS 9
#define CALLS  400

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Elements a second, in the median round. */
static double measure(const ggld_kern_set *set, uint32_t type, kernel which,
                      const void *src, void *dst, uint64_t n_blocks)
{
    double seconds[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start = seconds_now();
        for (int i = 0; i < CALLS; i++)
            (void)kernel_run(set, type, which, src, dst, n_blocks);
        seconds[r] = seconds_now() - start;
    }
    qsort(seconds, ROUNDS, sizeof seconds[0], compare_doubles);
    return (double)ELEMS * CALLS / seconds[ROUNDS / 2];
}

static void print_rate(const options *o, const char *type, const char *set,
                       kernel which, double rate, bool *first)
{
    if (o->json)
        printf("%s  {\"type\": \"%s\", \"set\": \"%s\", \"kernel\": \"%s\", "
               "\"elements_per_second\": %.0f}",
               *first ? "" : ",\n", type, set, kernel_names[which], rate);
    else
        printf("%-8s %-7s %-14s %7.2f Gelem/s\n", type, set,
               kernel_names[which], rate * 1e-9);
    *first = false;
}

void bench_kernels(const sets *all, const options *o)
{
    static _Alignas(64) uint8_t blocks[ELEMS * 8];
    static _Alignas(64) float floats[ELEMS], output[ELEMS * 2];
    rng r = rng_of(o->seed);
    bool first = true;

    fill_floats(floats, ELEMS, FLOATS_LIKE_WEIGHTS, &r);
    if (o->json)
        printf("[\n");
    for (uint32_t id = 0; id < GGLD_TYPE_LIMIT; id++) {
        const ggld_type_row *type = ggld_type_row_of(id);
        if (type == NULL ||
            (o->type != NULL && strcmp(o->type, type->traits.name) != 0))
            continue;
        uint64_t n_blocks = ELEMS / type->traits.block_elems;
        fill_blocks(blocks, type, (size_t)n_blocks, BLOCKS_RANDOM, &r);
        for (size_t s = 0; s < all->n; s++) {
            if (o->set != NULL && strcmp(o->set, all->at[s]->name) != 0)
                continue;
            for (int k = 0; k < KERNELS; k++) {
                kernel which = (kernel)k;
                if (which == KERNEL_STREAM ||
                    !kernel_exists(all->at[s], id, which))
                    continue;
                const void *src =
                    which == KERNEL_FROM_F32 ? (const void *)floats : blocks;
                print_rate(
                    o, type->traits.name, all->at[s]->name, which,
                    measure(all->at[s], id, which, src, output, n_blocks),
                    &first);
            }
        }
    }
    if (o->json)
        printf("\n]\n");
}
