/* SPDX-License-Identifier: MIT */
/* Kernels against the scalar set's results on plain memory. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/half.h"
#include "guard.h"
#include "kcheck.h"
#include "patterns.h"

#define MAX_BLOCKS    64
#define MAX_ELEMS     (MAX_BLOCKS * 256)
#define MISALIGNMENTS 32

static const uint64_t block_counts[] = { 0,  1,  2,  3,  4,         5,  6,
                                         7,  8,  9,  10, 11,        12, 13,
                                         14, 15, 16, 17, MAX_BLOCKS };
#define COUNTS (sizeof block_counts / sizeof block_counts[0])

/* One run. The handler of SIGSEGV names it, so it can't be a local. */
static struct run {
    uint64_t seed;
    const ggld_kern_set *set;
    const ggld_type_row *type;
    kernel which;
    uint64_t n_blocks;
    int pattern;
    unsigned offset;
    bool at_end;
} now;

static void print_run(const char *what)
{
    printf("FAIL %s: seed %" PRIu64 ", type %s, set %s, %s, %" PRIu64
           " blocks, pattern %s, %u bytes %s\n",
           what, now.seed, now.type->traits.name, now.set->name,
           kernel_names[now.which], now.n_blocks,
           now.which == KERNEL_FROM_F32 ? floats_pattern_names[now.pattern]
                                        : blocks_pattern_names[now.pattern],
           now.offset,
           now.at_end ? "before the upper guard page"
                      : "behind the lower guard page");
}

static void on_fault(int signal_number)
{
    (void)signal_number;
    print_run("touched a guard page");
    fflush(stdout);
    _exit(1);
}

/* What a kernel reads and writes, and what the scalar one makes of it. */
typedef struct workbench {
    guard src, dst;
    uint8_t *input, *expected;
    uint64_t expected_elem;
} workbench;

typedef struct sizes {
    size_t src, dst;
} sizes;

static sizes sizes_of(void)
{
    size_t blocks = (size_t)now.n_blocks * now.type->traits.block_bytes;
    size_t floats =
        (size_t)now.n_blocks * now.type->traits.block_elems * sizeof(float);
    bool from = now.which == KERNEL_FROM_F32;
    sizes s = { from ? floats : blocks, from ? blocks : floats };
    return s;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > 0x7F800000;
}

/* The first float that is not as expected, or n. */
static size_t first_difference(const uint8_t *expected, const uint8_t *got,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t want, have;
        memcpy(&want, expected + 4 * i, sizeof want);
        memcpy(&have, got + 4 * i, sizeof have);
        if (want != have && !(is_nan(want) && is_nan(have)))
            return i;
    }
    return n;
}

static int compare_floats(const uint8_t *expected, const uint8_t *got,
                          size_t size)
{
    size_t n = size / sizeof(float);
    size_t i = memcmp(expected, got, size) == 0
                   ? n
                   : first_difference(expected, got, n);
    if (i == n)
        return 0;
    uint32_t want, have, elems = now.type->traits.block_elems;
    memcpy(&want, expected + 4 * i, sizeof want);
    memcpy(&have, got + 4 * i, sizeof have);
    print_run("value");
    printf("  block %zu, element %zu: expected %08" PRIx32 ", got %08" PRIx32
           "\n",
           i / elems, i % elems, want, have);
    return 1;
}

static int compare_bytes(const uint8_t *expected, const uint8_t *got,
                         size_t size)
{
    uint32_t bytes = now.type->traits.block_bytes;
    for (size_t i = 0; i < size; i++) {
        if (expected[i] == got[i])
            continue;
        print_run("byte");
        printf("  block %zu, byte %zu: expected %02x, got %02x\n", i / bytes,
               i % bytes, expected[i], got[i]);
        return 1;
    }
    return 0;
}

static int run_once(const workbench *b)
{
    sizes size = sizes_of();
    /* Another misalignment for the output than for the input. */
    unsigned dst_offset = now.offset * 5 % MISALIGNMENTS;
    uint8_t *src = guard_place(&b->src, size.src, now.offset, now.at_end);
    uint8_t *dst = guard_place(&b->dst, size.dst, dst_offset, now.at_end);

    memcpy(src, b->input, size.src);
    guard_fill(&b->dst, dst, size.dst);
    uint64_t elem =
        kernel_run(now.set, now.type->id, now.which, src, dst, now.n_blocks);
    if (!guard_margins_whole(&b->dst, dst, size.dst)) {
        print_run("wrote outside");
        return 1;
    }
    if (elem != b->expected_elem) {
        print_run("bad element");
        printf("  expected %" PRIu64 ", got %" PRIu64 "\n", b->expected_elem,
               elem);
        return 1;
    }
    return now.which == KERNEL_FROM_F32
               ? compare_bytes(b->expected, dst, size.dst)
               : compare_floats(b->expected, dst, size.dst);
}

static int run_placements(const sets *all, const options *o, workbench *b)
{
    b->expected_elem = kernel_run(all->at[0], now.type->id, now.which, b->input,
                                  b->expected, now.n_blocks);
    for (size_t s = 0; s < all->n; s++) {
        now.set = all->at[s];
        if (o->set != NULL && strcmp(o->set, now.set->name) != 0)
            continue;
        for (now.offset = 0; now.offset < MISALIGNMENTS;
             now.offset += (unsigned)o->step) {
            now.at_end = false;
            if (run_once(b) != 0)
                return 1;
            now.at_end = true;
            if (run_once(b) != 0)
                return 1;
        }
    }
    return 0;
}

static int run_patterns(const sets *all, const options *o, workbench *b)
{
    bool from = now.which == KERNEL_FROM_F32;
    int n_patterns = from ? FLOATS_PATTERNS : BLOCKS_PATTERNS;

    for (size_t c = 0; c < COUNTS; c++) {
        now.n_blocks = block_counts[c];
        for (now.pattern = 0; now.pattern < n_patterns; now.pattern++) {
            rng r = rng_of(o->seed * 1000 + now.type->id * COUNTS + c);
            size_t n = (size_t)now.n_blocks;
            if (from)
                fill_floats((float *)(void *)b->input,
                            n * now.type->traits.block_elems, now.pattern, &r);
            else
                fill_blocks(b->input, now.type, n, now.pattern, &r);
            if (run_placements(all, o, b) != 0)
                return 1;
        }
    }
    return 0;
}

static int run_types(const sets *all, const options *o, workbench *b)
{
    unsigned n_types = 0;
    for (uint32_t id = 0; id < GGLD_TYPE_LIMIT; id++) {
        now.type = ggld_type_row_of(id);
        if (now.type == NULL ||
            (o->type != NULL && strcmp(o->type, now.type->traits.name) != 0))
            continue;
        n_types++;
        for (int k = 0; k < KERNELS; k++) {
            now.which = (kernel)k;
            if (kernel_exists(all->at[0], id, now.which) &&
                run_patterns(all, o, b) != 0)
                return 1;
        }
    }
    printf("%u types, %zu sets (%s best): equal\n", n_types, all->n,
           all->at[all->n - 1]->name);
    return n_types == 0;
}

int check_kernels(const sets *all, const options *o)
{
    size_t most = MAX_ELEMS * sizeof(float) + MISALIGNMENTS;
    workbench b = { guard_make(most), guard_make(most), malloc(most),
                    malloc(most), 0 };
    struct sigaction action = { .sa_handler = on_fault };
    int failed = 1;

    now.seed = o->seed;
    if (b.input != NULL && b.expected != NULL &&
        sigaction(SIGSEGV, &action, NULL) == 0)
        failed = run_types(all, o, &b);
    free(b.input);
    free(b.expected);
    return failed;
}

/* 0 to 40 floats: halves are what base/half.h makes of them. */
int check_f32_to_f16(const sets *all, const options *o)
{
    guard src = guard_make(4096), dst = guard_make(4096);
    float values[40];
    rng r = rng_of(o->seed);

    for (unsigned i = 0; i < 40 * 32 * 100; i++) {
        size_t n = i % 41, offset = i / 41 % MISALIGNMENTS;
        bool at_end = (i & 1) != 0;
        const ggld_kern_set *set = all->at[i % all->n];
        uint8_t *in = guard_place(&src, 4 * n, offset, at_end);
        uint8_t *out = guard_place(&dst, 2 * n, offset * 3 % 32, at_end);
        fill_floats(values, n, (int)(i % FLOATS_PATTERNS), &r);
        memcpy(in, values, 4 * n);
        guard_fill(&dst, out, 2 * n);
        set->f32_to_f16(in, out, n);
        for (size_t k = 0; k < n; k++) {
            uint16_t half, want = ggld_float_to_half(values[k]);
            memcpy(&half, out + 2 * k, sizeof half);
            if (half == want)
                continue;
            printf("FAIL f32_to_f16: seed %" PRIu64 ", set %s, %a: expected "
                   "%04x, got %04x\n",
                   o->seed, set->name, (double)values[k], want, half);
            return 1;
        }
        if (!guard_margins_whole(&dst, out, 2 * n)) {
            printf("FAIL f32_to_f16: wrote outside, %zu floats\n", n);
            return 1;
        }
    }
    return 0;
}
