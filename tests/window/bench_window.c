/* SPDX-License-Identifier: MIT */
/* What windows cost, beside reading into a buffer: in order, at random, within a
 * budget, resident. A file of a gigabyte is written in the folder that TMPDIR
 * names, or /var/tmp; it is in the page cache. Ways take turns; figures are
 * medians over the rounds, and ratios medians of each round's.
 * Usage: bench_window [--json] [--rounds N] [--table KEY]... */
#include "bench_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../jobs/model.h"

#define N_PASSES 5

static const model_tensor tensors[] = {
    { GGLD_TYPE_Q4_0, 1 << 18, ROW_ELEMS }, /* 4 GiB of floats */
    { GGLD_TYPE_Q8_0, PART / ROW_ELEMS, ROW_ELEMS },
    { GGLD_TYPE_Q4_K, PART / ROW_ELEMS, ROW_ELEMS },
    { GGLD_TYPE_Q6_K, PART / ROW_ELEMS, ROW_ELEMS },
    { GGLD_TYPE_BF16, PART / ROW_ELEMS, ROW_ELEMS },
};
#define N_TENSORS (sizeof tensors / sizeof tensors[0])

/* ---- shared ---- */

void must(ggld_status status, const ggld_error *err)
{
    if (status == GGLD_OK)
        return;
    fprintf(stderr, "bench_window: %s\n", err->message);
    exit(1);
}

float *map_floats(uint64_t n)
{
    float *p = mmap(NULL, n * sizeof *p, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return p;
}

ggld_view bench_large(const bench *b)
{
    return ggld_tensor_view(ggld_tensor_at(b->file, 0));
}

ggld_window *bench_open(const ggld_view *view, uint64_t chunk, uint64_t budget,
                        uint32_t flags, uint32_t n_threads)
{
    ggld_window_options o = ggld_window_options_init();
    ggld_window *w;
    ggld_error err;
    o.max_resident_bytes = budget;
    o.chunk_bytes = chunk;
    o.flags = flags;
    o.n_threads = n_threads;
    must(ggld_window_open(&w, view, &o, &err), &err);
    return w;
}

double sum_seconds(const float *p, uint64_t n)
{
    float sums[16] = { 0 };
    volatile float out;
    double began = series_clock();
    for (uint64_t i = 0; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++)
            sums[k] += p[i + (uint64_t)k];
    for (int k = 0; k < 16; k++) {
        out = sums[k];
        (void)out;
    }
    return series_clock() - began;
}

static double read_seconds(const ggld_view *v, float *dst)
{
    ggld_error err;
    double began = series_clock();
    must(ggld_view_read_f32(v, dst, v->n_elems, &err), &err);
    return series_clock() - began;
}

double fresh_seconds(const ggld_view *v)
{
    float *buffer = map_floats(v->n_elems);
    double seconds = read_seconds(v, buffer);
    munmap(buffer, v->n_elems * sizeof *buffer);
    return seconds;
}

/* ---- in order ---- */

typedef struct in_order {
    series buffer, window;                     /* seconds */
    series of_it, one_filler, no_ahead, tenth; /* of the buffer's rate */
    series plain, second, resident;            /* passes, and their ratio */
} in_order;

static double pass(const ggld_view *v, uint64_t budget, uint32_t flags,
                   uint32_t n_threads)
{
    ggld_window *w = bench_open(v, 0, budget, flags, n_threads);
    double seconds = sum_seconds(ggld_window_data(w), v->n_elems);
    ggld_window_close(w);
    return seconds;
}

/* Both are there; they take turns, as a pass takes some 10 ms, which anything
 * else on the machine doubles. */
static void resident_passes(in_order *t, const float *plain,
                            const float *window, uint64_t n)
{
    series a = { .n = 0 }, b = { .n = 0 };
    for (int i = 0; i < N_PASSES; i++) {
        series_add(&a, sum_seconds(plain, n));
        series_add(&b, sum_seconds(window, n));
    }
    series_add(&t->plain, series_median(&a));
    series_add(&t->second, series_median(&b));
    series_add(&t->resident, series_median(&a) / series_median(&b));
}

static void order_round(const ggld_view *v, in_order *t)
{
    float *buffer = map_floats(v->n_elems);
    double read = read_seconds(v, buffer);
    ggld_window *w = bench_open(v, 0, 0, 0, 0);
    double window = sum_seconds(ggld_window_data(w), v->n_elems);
    series_add(&t->buffer, read);
    series_add(&t->window, window);
    series_add(&t->of_it, read / window);
    resident_passes(t, buffer, ggld_window_data(w), v->n_elems);
    ggld_window_close(w);
    munmap(buffer, v->n_elems * sizeof *buffer);
    series_add(&t->one_filler, read / pass(v, 0, 0, 1));
    series_add(&t->no_ahead, read / pass(v, 0, GGLD_WINDOW_NO_AHEAD, 0));
    series_add(&t->tenth, read / pass(v, v->n_elems * 4 / 10, 0, 0));
}

static const figures_column order_columns[] = {
    { "buffer_gb_s", "buffer GB/s", 2 },
    { "window_gb_s", "window GB/s", 2 },
    { "window_of_buffer", "window / buffer", 2 },
    { "one_filler_of_buffer", "one filler", 2 },
    { "no_ahead_of_buffer", "nothing ahead", 2 },
    { "tenth_of_buffer", "budget of a tenth", 2 },
    { "plain_gb_s", "plain memory GB/s", 1 },
    { "second_gb_s", "second pass GB/s", 1 },
    { "second_of_plain", "second / plain", 2 },
    { "second_of_plain_least", "least", 2 },
    { "second_of_plain_most", "most", 2 },
};

static void order_row(const bench *b, const char *type, const in_order *t)
{
    double gb = (double)PART * 4 / 1e9;
    double cells[] = {
        gb / series_median(&t->buffer), gb / series_median(&t->window),
        series_median(&t->of_it),       series_median(&t->one_filler),
        series_median(&t->no_ahead),    series_median(&t->tenth),
        gb / series_median(&t->plain),  gb / series_median(&t->second),
        series_median(&t->resident),    series_least(&t->resident),
        series_most(&t->resident)
    };
    figures_row(b->out, type, cells);
}

void bench_order(const bench *b)
{
    ggld_error err;
    figures_table(b->out, "order",
                  "256 MiB of floats in order; one thread touches, two fill "
                  "(\"one filler\": one), and each ratio is to the rate of "
                  "ggld_view_read_f32 into freshly mapped memory in the same "
                  "round; passes over what is there, beside plain memory",
                  "type", order_columns,
                  sizeof order_columns / sizeof order_columns[0]);
    for (size_t i = 0; i < N_TENSORS; i++) {
        ggld_view v = ggld_tensor_view(ggld_tensor_at(b->file, i));
        in_order t = { .buffer = { .n = 0 } };
        must(ggld_view_elems(&v, &v, 0, PART, &err), &err);
        for (int round = 0; round < b->n_rounds; round++)
            order_round(&v, &t);
        order_row(b, ggld_type_traits_of(tensors[i].type)->name, &t);
        if (i != 0)
            continue;
        figures_promise(b->out, "order_of_buffer",
                        "q4_0 in order: window / buffer",
                        series_median(&t.of_it), ">= 0.6");
        figures_promise(b->out, "order_one_filler_of_buffer",
                        "the same with one filler",
                        series_median(&t.one_filler), "");
        figures_promise(b->out, "second_of_plain",
                        "a second pass / plain memory, median of the rounds",
                        series_median(&t.resident), ">= 0.9");
    }
    figures_table_end(b->out);
}

/* ---- all of it ---- */

typedef struct table {
    const char *key;
    void (*run)(const bench *b);
    bool wanted;
} table;

static int usage(void)
{
    fprintf(stderr,
            "usage: bench_window [--json] [--rounds 1-%d] "
            "[--table order|random|memory|ways]...\n",
            SERIES_MAX);
    return 2;
}

int main(int argc, char **argv)
{
    table tables[] = { { "order", bench_order, false },
                       { "random", bench_random, false },
                       { "memory", bench_memory, false },
                       { "ways", bench_ways, false } };
    const size_t n_tables = sizeof tables / sizeof tables[0];
    figures out;
    bench b = { &out, NULL, 5 };
    bool json = false, some = false;
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (size_t k = 0; i + 1 < argc && k < n_tables; k++)
            if (strcmp(argv[i], "--table") == 0 &&
                strcmp(argv[i + 1], tables[k].key) == 0)
                some = known = tables[k].wanted = true;
        if (known)
            i++;
        else if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            b.n_rounds = atoi(argv[++i]);
        else
            return usage();
    }
    if (b.n_rounds < 1 || b.n_rounds > SERIES_MAX)
        return usage();
    bool all = !some || tables[0].wanted;
    char *path = model_write(tensors, all ? N_TENSORS : 1);
    b.file = model_open(path, 0);
    figures_begin(&out, json);
    figures_value(&out, "rounds", "medians of rounds", b.n_rounds, 0);
    for (size_t k = 0; k < n_tables; k++)
        if (!some || tables[k].wanted)
            tables[k].run(&b);
    figures_end(&out);
    ggld_close(b.file);
    model_remove(path);
    return 0;
}
