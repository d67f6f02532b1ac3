/* SPDX-License-Identifier: MIT */
/* Measures jobs side by side with other ways to get at a file, in turn, several
 * times; prints tables of medians, or JSON. Each measurement is a process of
 * its own, with a cold page cache where it says so.
 * Usage: bench_io [--json] [--size MIB] [--runs N] [--table KEY]... [FILE] */
#include "bench_io.h"
#include "cgroup.h"
#include "figures.h"
#include "memory.h"
#include "model.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the stream's budget beside its file, and of the cgroup's limit. */
#define BUDGET_PART 32
#define LIMIT_PART  4

typedef enum against {
    OURS,    /* what the promise is about */
    VARIANT, /* the same with another engine, for information */
    BEST,    /* one of those of which the best is compared with */
    BESIDE   /* for information, or with a ratio of its own */
} against;

/* The tables that a way is in, as bits. */
enum { PREFETCH = 1, STREAM = 2, FIRST_ROW = 4, VALUES = 8 };

static const struct {
    unsigned tables;
    const char *name;
    against as;
    bench_way way;
} ways[] = {
    { PREFETCH | STREAM, "direct reads, depth 4", BEST, way_direct },
    { PREFETCH | STREAM, "4 threads of pread, quarters", BEST,
      way_pread_quarters },
    { PREFETCH | STREAM, "4 threads of pread, 4 MiB in turn", BEST,
      way_pread_turns },
    { PREFETCH | STREAM, "direct reads, depth 4, into huge pages", BESIDE,
      way_direct_huge },
    { PREFETCH, "touch the map in order", BESIDE, way_touch },
    { PREFETCH, "touch a sixteenth under MADV_RANDOM, times 16", BESIDE,
      way_touch_random },
    { PREFETCH, "ggld prefetch", OURS, way_prefetch },
    { PREFETCH, "ggld prefetch --io map", VARIANT, way_prefetch_map },
    { PREFETCH, "ggld prefetch --io uring", VARIANT, way_prefetch_uring },
    { STREAM, "ggld stream", OURS, way_stream },
    { STREAM, "ggld stream --io pread", VARIANT, way_stream_pread },
    { STREAM, "ggld stream --io map", VARIANT, way_stream_map },
    { STREAM, "ggld stream --io uring", VARIANT, way_stream_uring },
    { FIRST_ROW, "preads of the same bytes", BEST, way_first_row_pread },
    { FIRST_ROW, "ggld", OURS, way_first_row },
    { VALUES, "1 worker", BEST, way_values_1 },
    { VALUES, "2 workers", OURS, way_values_2 },
    { VALUES, "1 thread, no jobs", BESIDE, way_values_plain_1 },
    { VALUES, "2 threads, no jobs", BESIDE, way_values_plain_2 },
};
#define N_WAYS (sizeof ways / sizeof ways[0])

typedef struct table {
    unsigned bit;
    const char *key;
    const char *title;
    bool warm;      /* the file is in the page cache */
    bool limited;   /* in a cgroup of a quarter of the file */
    bool file_only; /* cold is the file, and not all else that runs here: what
                       that reads again would be measured too */
    int more_runs;  /* than were asked for, times: it takes no time at all */
    bool wanted;    /* all are where none was named */
    series times[N_WAYS];
} table;

static table tables[] = {
    { .bit = PREFETCH,
      .key = "prefetch",
      .title = "warm the whole file, cold" },
    { .bit = STREAM,
      .key = "stream",
      .title = "stream the whole file, cold, with a budget of a thirty-second "
               "of its size, in a cgroup of a quarter of it",
      .limited = true },
    { .bit = FIRST_ROW,
      .key = "first_row",
      .title = "open, and dequantise the last tensor's first row, cold",
      .file_only = true,
      .more_runs = 5 },
    { .bit = VALUES,
      .key = "values",
      .title = "dequantise the whole file out of the page cache",
      .warm = true },
};
#define N_TABLES (sizeof tables / sizeof tables[0])

typedef struct bench {
    bench_file file;
    figures *out;
    int n_runs;
    bool has_group;
    cgroup group;
} bench;

/* ---- one measurement ---- */

typedef struct measured {
    double seconds;
    uint64_t bytes;
} measured;

typedef measured (*measure)(const bench *b, bench_way way);

static measured just_time(const bench *b, bench_way way)
{
    measured m = { way(&b->file), 0 };
    return m;
}

static measured time_and_peak(const bench *b, bench_way way)
{
    bench_watch *watch = bench_watch_start(&b->file);
    measured m = { way(&b->file), 0 };
    m.bytes = bench_watch_stop(watch);
    return m;
}

static measured time_and_growth(const bench *b, bench_way way)
{
    uint64_t before = memory_cached(b->file.path);
    measured m = { way(&b->file), 0 };
    m.bytes = memory_cached(b->file.path) - before;
    return m;
}

static measured in_child(const bench *b, bench_way way, bool limited,
                         measure how)
{
    measured m = { -1, 0 };
    int fds[2];
    if (pipe(fds) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        if (limited && b->has_group && !cgroup_enter(&b->group))
            _exit(1);
        m = how(b, way);
        _exit(write(fds[1], &m, sizeof m) == sizeof m ? 0 : 1);
    }
    close(fds[1]);
    if (read(fds[0], &m, sizeof m) != sizeof m)
        m.seconds = -1;
    close(fds[0]);
    waitpid(child, NULL, 0);
    return m;
}

/* Everything out of the page cache that may be, or just the file. */
static void make_cold(const bench *b, bool file_only)
{
    memory_chill(b->file.path);
    if (file_only)
        return;
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, "1", 1) != 1)
            fprintf(stderr, "drop_caches: not allowed\n");
        close(fd);
    }
}

/* ---- tables ---- */

static table *table_of(const char *key)
{
    for (size_t k = 0; k < N_TABLES; k++)
        if (strcmp(tables[k].key, key) == 0)
            return &tables[k];
    return NULL;
}

/* The table's next way, from i on; N_WAYS: there is none. */
static size_t next_way(const table *t, size_t i)
{
    while (i < N_WAYS && (ways[i].tables & t->bit) == 0)
        i++;
    return i;
}

static int runs_of(const bench *b, const table *t)
{
    int n = b->n_runs * (t->more_runs != 0 ? t->more_runs : 1);
    return n < SERIES_MAX ? n : SERIES_MAX;
}

static void run_table(const bench *b, table *t)
{
    int n_runs = runs_of(b, t);
    for (int run = 0; run < n_runs; run++)
        for (size_t i = next_way(t, 0); i < N_WAYS; i = next_way(t, i + 1)) {
            if (!t->warm)
                make_cold(b, t->file_only);
            series_add(&t->times[i],
                       in_child(b, ways[i].way, t->limited, just_time).seconds);
        }
}

/* The way of that kind with the least median; N_WAYS: none could be done. */
static size_t best_of(const table *t, against as)
{
    size_t best = N_WAYS;
    for (size_t i = next_way(t, 0); i < N_WAYS; i = next_way(t, i + 1))
        if (ways[i].as == as && t->times[i].n != 0 &&
            (best == N_WAYS ||
             series_median(&t->times[i]) < series_median(&t->times[best])))
            best = i;
    return best;
}

static double best_seconds(const table *t, against as)
{
    size_t best = best_of(t, as);
    return best < N_WAYS ? series_median(&t->times[best]) : (double)NAN;
}

static double seconds_of(const table *t, bench_way way)
{
    for (size_t i = next_way(t, 0); i < N_WAYS; i = next_way(t, i + 1))
        if (ways[i].way == way)
            return series_median(&t->times[i]);
    return (double)NAN;
}

static void print_table(const bench *b, const table *t)
{
    static const figures_column columns[] = {
        { "seconds", "seconds", 4 },   { "gb_s", "GB/s", 2 },
        { "ratio", "of the best", 2 }, { "least_seconds", "least", 4 },
        { "most_seconds", "most", 4 },
    };
    char title[200];
    snprintf(title, sizeof title, "%s%s", t->title,
             t->limited && !b->has_group ? " (no cgroup here: not limited)"
                                         : "");
    figures_table(b->out, t->key, title, "way", columns,
                  sizeof columns / sizeof columns[0]);
    for (size_t i = next_way(t, 0); i < N_WAYS; i = next_way(t, i + 1)) {
        const series *times = &t->times[i];
        double median = series_median(times);
        /* Of the first row the file's size says nothing. */
        double cells[] = { median,
                           t->file_only
                               ? (double)NAN
                               : (double)b->file.size_bytes / median / 1e9,
                           best_seconds(t, BEST) / median, series_least(times),
                           series_most(times) };
        figures_row(b->out, ways[i].name, cells);
    }
    figures_table_end(b->out);
}

/* ---- what was promised ---- */

static void name_best(const bench *b, const table *t, const char *key)
{
    size_t best = best_of(t, BEST);
    figures_text(b->out, key, "the best of others",
                 best < N_WAYS ? ways[best].name : "none");
}

static void promise_prefetch(const bench *b, const table *t)
{
    double ours = best_seconds(t, OURS);
    name_best(b, t, "prefetch_best");
    figures_promise(b->out, "prefetch_of_best",
                    "prefetch: rate / best of others with plain buffers",
                    best_seconds(t, BEST) / ours, ">= 0.9");
    figures_promise(b->out, "prefetch_of_direct_huge",
                    "prefetch: rate / direct reads into huge pages, which "
                    "bring nothing into the page cache",
                    seconds_of(t, way_direct_huge) / ours, "");
    figures_promise(b->out, "prefetch_of_touch",
                    "prefetch: rate / touching in order",
                    seconds_of(t, way_touch) / ours, ">= 1");
    figures_promise(b->out, "prefetch_of_touch_random",
                    "prefetch: rate / touching under MADV_RANDOM, "
                    "extrapolated from a sixteenth",
                    seconds_of(t, way_touch_random) / ours, ">= 3");
}

static void promise_stream(const bench *b, const table *t)
{
    char wanted[24];
    double mib = 1 << 20, ours = best_seconds(t, OURS);
    make_cold(b, false);
    double peak = (double)in_child(b, way_stream, true, time_and_peak).bytes;
    name_best(b, t, "stream_best");
    figures_promise(b->out, "stream_of_best",
                    "stream: rate / best of others with plain buffers",
                    best_seconds(t, BEST) / ours, ">= 0.9");
    figures_promise(b->out, "stream_of_direct_huge",
                    "stream: rate / direct reads into huge pages",
                    seconds_of(t, way_direct_huge) / ours, "");
    figures_value(b->out, "stream_budget_mib", "the stream's budget, MiB",
                  (double)b->file.budget_bytes / mib, 0);
    snprintf(wanted, sizeof wanted, "<= %.0f",
             (double)b->file.budget_bytes / mib + 64);
    figures_promise(b->out, "stream_peak_mib",
                    "stream: peak RssAnon + the file's page cache, of the "
                    "budget + 64, MiB",
                    peak / mib, wanted);
}

/* Of a cold file: by how much it has grown in the page cache. */
static double growth_of(const bench *b)
{
    make_cold(b, true);
    return (double)in_child(b, way_first_row, false, time_and_growth).bytes;
}

static void promise_growth(const bench *b, const bench_file *file,
                           const char *key, const char *text)
{
    bench of_file = *b;
    char wanted[24];
    of_file.file = *file;
    double mib = 1 << 20;
    snprintf(wanted, sizeof wanted, "<= %.2f",
             (double)bench_first_row_allowance(file) / mib);
    figures_promise(b->out, key, text, growth_of(&of_file) / mib, wanted);
}

static void promise_first_row(const bench *b, const table *t)
{
    figures_promise(b->out, "first_row_of_pread",
                    "first row: time / preads of the same bytes",
                    best_seconds(t, OURS) / best_seconds(t, BEST), "<= 1.5");
    promise_growth(b, &b->file, "first_row_growth_mib",
                   "first row: growth of the page cache, of metadata + row + "
                   "two windows of readahead, MiB");
    /* A quarter as large, to see that it is not the size's. */
    bench_file small = { .path = model_write_layers(8, b->file.size_bytes / 4 /
                                                           8) };
    bench_file_look(&small);
    figures_value(b->out, "file_mib", "the file, MiB",
                  (double)b->file.size_bytes / (1 << 20), 0);
    figures_value(b->out, "small_file_mib", "the small file, MiB",
                  (double)small.size_bytes / (1 << 20), 0);
    promise_growth(b, &small, "first_row_growth_small_mib",
                   "the same of the small file");
    model_remove((char *)(uintptr_t)small.path);
}

static void promise_values(const bench *b, const table *t)
{
    figures_promise(
        b->out, "values_2_of_1", "values: rate of 2 workers / 1 worker",
        seconds_of(t, way_values_1) / seconds_of(t, way_values_2), ">= 1.7");
    figures_promise(b->out, "values_plain_2_of_1",
                    "the same of threads that only read and dequantise",
                    seconds_of(t, way_values_plain_1) /
                        seconds_of(t, way_values_plain_2),
                    "");
}

/* ---- all of it ---- */

static void run_all(bench *b)
{
    static void (*const promises[])(const bench *, const table *) = {
        promise_prefetch, promise_stream, promise_first_row, promise_values
    };
    for (size_t k = 0; k < N_TABLES; k++) {
        if (!tables[k].wanted)
            continue;
        if (tables[k].warm)
            (void)in_child(b, way_prefetch, false, just_time);
        run_table(b, &tables[k]);
        print_table(b, &tables[k]);
        promises[k](b, &tables[k]);
    }
}

/* The tables that were named, or all. */
static void want(bool all)
{
    for (size_t k = 0; k < N_TABLES; k++)
        tables[k].wanted = tables[k].wanted || all;
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_io [--json] [--size MIB] [--runs N] "
                    "[--table prefetch|stream|first_row|values]... [FILE]\n");
    return 2;
}

int main(int argc, char **argv)
{
    figures out;
    bench b = { .out = &out, .n_runs = 5 };
    unsigned long size_mib = 4096;
    char *made = NULL;
    bool some = false, json = false;
    char why[1200];

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc)
            size_mib = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            b.n_runs = atoi(argv[++i]);
        else if (strcmp(argv[i], "--table") == 0 && i + 1 < argc &&
                 table_of(argv[i + 1]) != NULL)
            some = table_of(argv[++i])->wanted = true;
        else if (argv[i][0] != '-' && b.file.path == NULL)
            b.file.path = argv[i];
        else
            return usage();
    if (b.n_runs < 1 || b.n_runs > SERIES_MAX || size_mib < 64)
        return usage();
    if (b.file.path == NULL)
        b.file.path = made =
            model_write_layers(32, ((uint64_t)size_mib << 20) / 32);
    want(!some);
    bench_file_look(&b.file);
    b.file.budget_bytes = b.file.size_bytes / BUDGET_PART;
    b.has_group =
        cgroup_make(&b.group, b.file.size_bytes / LIMIT_PART, why, sizeof why);
    if (!b.has_group)
        fprintf(stderr, "%s\n", why);
    figures_begin(&out, json);
    figures_value(&out, "file_bytes", "bytes of the file",
                  (double)b.file.size_bytes, 0);
    figures_value(&out, "runs",
                  "medians of runs (of the first row 5 times as many)",
                  b.n_runs, 0);
    figures_text(&out, "stream_limited", "a cgroup limits the stream",
                 b.has_group ? "yes" : "no");
    run_all(&b);
    figures_end(&out);
    if (b.has_group)
        cgroup_remove(&b.group);
    if (made != NULL)
        model_remove(made);
    return 0;
}
