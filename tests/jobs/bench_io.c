/* SPDX-License-Identifier: MIT */
/* Measures jobs side by side with other ways to get at a file, in turn, several
 * times; prints tables of medians, or JSON. Each measurement is a process of
 * its own, with a cold page cache where it says so.
 * Usage: bench_io [--json] [--size MIB] [--runs N] [--table KEY]... [FILE] */
#include "bench_io.h"
#include "cgroup.h"
#include "model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RUNS 15
#define MAX_WAYS 12

typedef enum against {
    OURS,    /* what the promise is about */
    VARIANT, /* the same with another engine, for information */
    BEST,    /* one of those of which the best is compared with */
    BESIDE   /* for information, or with a ratio of its own */
} against;

typedef struct way_row {
    const char *name;
    against as;
    bench_way way;
    double seconds; /* median; less than 0: could not be done */
} way_row;

typedef struct table {
    const char *key;
    const char *title;
    bool warm;    /* the file is in the page cache */
    bool limited; /* in a cgroup of a quarter of the file */
    way_row rows[MAX_WAYS];
    bool file_only; /* cold is the file, and not all else that runs here: what
                       that reads again would be measured too */
    bool wanted;    /* all are where none was named */
} table;

static table tables[] = {
    { "prefetch",
      "warm the whole file, cold",
      false,
      false,
      { { "direct reads, depth 4", BEST, way_direct, 0 },
        { "4 threads of pread, quarters", BEST, way_pread_quarters, 0 },
        { "4 threads of pread, 4 MiB in turn", BEST, way_pread_turns, 0 },
        { "direct reads, depth 4, huge pages", BESIDE, way_direct_huge, 0 },
        { "touch the map in order", BESIDE, way_touch, 0 },
        { "touch under MADV_RANDOM", BESIDE, way_touch_random, 0 },
        { "ggld prefetch", OURS, way_prefetch, 0 },
        { "ggld prefetch --io map", VARIANT, way_prefetch_map, 0 },
        { "ggld prefetch --io uring", VARIANT, way_prefetch_uring, 0 } } },
    { "stream",
      "stream the whole file in a quarter of its size, cold",
      false,
      true,
      { { "direct reads, depth 4", BEST, way_direct, 0 },
        { "4 threads of pread, quarters", BEST, way_pread_quarters, 0 },
        { "4 threads of pread, 4 MiB in turn", BEST, way_pread_turns, 0 },
        { "direct reads, depth 4, huge pages", BESIDE, way_direct_huge, 0 },
        { "ggld stream", OURS, way_stream, 0 },
        { "ggld stream --io pread", VARIANT, way_stream_pread, 0 },
        { "ggld stream --io map", VARIANT, way_stream_map, 0 },
        { "ggld stream --io uring", VARIANT, way_stream_uring, 0 } } },
    { "first_row",
      "open, and dequantise the last tensor's first row, cold",
      false,
      false,
      { { "preads of the same bytes", BEST, way_first_row_pread, 0 },
        { "ggld", OURS, way_first_row, 0 } },
      true },
    { "values",
      "dequantise the whole file out of the page cache",
      true,
      false,
      { { "1 worker", BEST, way_values_1, 0 },
        { "2 workers", OURS, way_values_2, 0 },
        { "1 thread, no jobs", BESIDE, way_values_plain_1, 0 },
        { "2 threads, no jobs", BESIDE, way_values_plain_2, 0 } } },
};
#define N_TABLES (sizeof tables / sizeof tables[0])

typedef struct bench {
    bench_file file;
    int n_runs;
    bool json;
    bool has_group;
    cgroup group;
    uint64_t first_row_growth_bytes;
    uint64_t stream_peak_bytes;
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
    uint64_t before = bench_cached(&b->file);
    measured m = { way(&b->file), 0 };
    m.bytes = bench_cached(&b->file) - before;
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
    model_chill(b->file.path);
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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void run_table(const bench *b, table *t)
{
    double times[MAX_WAYS][MAX_RUNS];
    for (int run = 0; run < b->n_runs; run++)
        for (int i = 0; i < MAX_WAYS && t->rows[i].way != NULL; i++) {
            if (!t->warm)
                make_cold(b, t->file_only);
            times[i][run] =
                in_child(b, t->rows[i].way, t->limited, just_time).seconds;
        }
    for (int i = 0; i < MAX_WAYS && t->rows[i].way != NULL; i++) {
        qsort(times[i], (size_t)b->n_runs, sizeof times[i][0], by_value);
        t->rows[i].seconds = times[i][0] < 0 ? -1 : times[i][b->n_runs / 2];
    }
}

/* The least time among the rows of that kind. */
static double best_of(const table *t, against as)
{
    double best = -1;
    for (int i = 0; i < MAX_WAYS && t->rows[i].way != NULL; i++)
        if (t->rows[i].as == as && t->rows[i].seconds > 0 &&
            (best < 0 || t->rows[i].seconds < best))
            best = t->rows[i].seconds;
    return best;
}

static double seconds_of(const table *t, bench_way way)
{
    for (int i = 0; i < MAX_WAYS && t->rows[i].way != NULL; i++)
        if (t->rows[i].way == way)
            return t->rows[i].seconds;
    return -1;
}

static void print_row(const bench *b, const table *t, const way_row *row)
{
    double best = best_of(t, BEST);
    if (row->seconds < 0)
        printf("%-36s  %10s\n", row->name, "not here");
    else
        printf("%-36s  %10.4f  %8.2f  %6.2f\n", row->name, row->seconds,
               (double)b->file.size_bytes / row->seconds / 1e9,
               best / row->seconds);
}

static void print_table(const bench *b, const table *t)
{
    printf("\n%s%s\n\n%-36s  %10s  %8s  %6s\n", t->title,
           t->limited && !b->has_group ? " (no cgroup here: not limited)" : "",
           "", "seconds", "GB/s", "ratio");
    for (int i = 0; i < MAX_WAYS && t->rows[i].way != NULL; i++)
        print_row(b, t, &t->rows[i]);
}

static void promise(const char *what, double got, const char *wanted)
{
    printf("%-62s  %8.2f  %s\n", what, got, wanted);
}

static void promise_prefetch(const bench *b, const table *t)
{
    double ours = best_of(t, OURS);
    (void)b;
    promise("prefetch: rate / best of others", best_of(t, BEST) / ours,
            ">= 0.9");
    promise("prefetch: rate / touching in order",
            seconds_of(t, way_touch) / ours, ">= 1");
    promise("prefetch: rate / touching under MADV_RANDOM",
            seconds_of(t, way_touch_random) / ours, ">= 3");
}

static void promise_stream(const bench *b, const table *t)
{
    char wanted[32];
    promise("stream: rate / best of others",
            best_of(t, BEST) / best_of(t, OURS), ">= 0.9");
    snprintf(wanted, sizeof wanted, "<= %.0f",
             (double)b->file.budget_bytes / (1 << 20) + 64);
    promise("stream: peak RssAnon + the file's page cache, MiB",
            (double)b->stream_peak_bytes / (1 << 20), wanted);
}

static void promise_first_row(const bench *b, const table *t)
{
    char wanted[32];
    promise("first row: time / preads of the same bytes",
            best_of(t, OURS) / best_of(t, BEST), "<= 1.5");
    snprintf(wanted, sizeof wanted, "<= %.2f",
             (double)bench_first_row_allowance(&b->file) / (1 << 20));
    promise("first row: growth of the page cache, MiB",
            (double)b->first_row_growth_bytes / (1 << 20), wanted);
}

static void promise_values(const bench *b, const table *t)
{
    (void)b;
    promise("values: rate of 2 workers / 1 worker",
            seconds_of(t, way_values_1) / seconds_of(t, way_values_2),
            ">= 1.7");
    promise("the same of threads that only read and dequantise",
            seconds_of(t, way_values_plain_1) /
                seconds_of(t, way_values_plain_2),
            "");
}

static void print_promises(const bench *b)
{
    static void (*const promises[])(const bench *, const table *) = {
        promise_prefetch, promise_stream, promise_first_row, promise_values
    };
    printf("\n%-62s  %8s  %s\n", "promise", "measured", "wanted");
    for (size_t k = 0; k < N_TABLES; k++)
        if (tables[k].wanted)
            promises[k](b, &tables[k]);
}

static void print_json(const bench *b)
{
    printf("{\"file_bytes\": %llu, \"runs\": %d, \"tables\": {",
           (unsigned long long)b->file.size_bytes, b->n_runs);
    const char *comma = "";
    for (size_t k = 0; k < N_TABLES; k++) {
        if (!tables[k].wanted)
            continue;
        printf("%s\"%s\": [", comma, tables[k].key);
        comma = ", ";
        for (int i = 0; i < MAX_WAYS && tables[k].rows[i].way != NULL; i++) {
            const way_row *row = &tables[k].rows[i];
            printf("%s{\"way\": \"%s\", \"seconds\": ", i != 0 ? ", " : "",
                   row->name);
            if (row->seconds < 0)
                printf("null, \"ratio\": null}");
            else
                printf("%.6f, \"ratio\": %.4f}", row->seconds,
                       best_of(&tables[k], BEST) / row->seconds);
        }
        printf("]");
    }
    printf("}, \"budget_bytes\": %llu, \"stream_limited\": %s, "
           "\"stream_peak_bytes\": %llu, \"first_row_growth_bytes\": %llu}\n",
           (unsigned long long)b->file.budget_bytes,
           b->has_group ? "true" : "false",
           (unsigned long long)b->stream_peak_bytes,
           (unsigned long long)b->first_row_growth_bytes);
}

/* ---- all of it ---- */

static void run_all(bench *b)
{
    for (size_t k = 0; k < N_TABLES; k++) {
        if (!tables[k].wanted)
            continue;
        if (tables[k].warm)
            (void)in_child(b, way_prefetch, false, just_time);
        run_table(b, &tables[k]);
    }
    make_cold(b, false);
    if (table_of("stream")->wanted)
        b->stream_peak_bytes =
            in_child(b, way_stream, true, time_and_peak).bytes;
    make_cold(b, true);
    if (table_of("first_row")->wanted)
        b->first_row_growth_bytes =
            in_child(b, way_first_row, false, time_and_growth).bytes;
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
    bench b = { .n_runs = 5 };
    unsigned long size_mib = 4096;
    char *made = NULL;
    bool some = false;
    char why[1200];

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            b.json = true;
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
    if (b.n_runs < 1 || b.n_runs > MAX_RUNS || size_mib < 64)
        return usage();
    if (b.file.path == NULL)
        b.file.path = made =
            model_write_layers(32, ((uint64_t)size_mib << 20) / 32);
    want(!some);
    bench_file_look(&b.file);
    b.file.budget_bytes = b.file.size_bytes / 32;
    b.has_group = cgroup_make(&b.group, b.file.size_bytes / 4, why, sizeof why);
    if (!b.has_group)
        fprintf(stderr, "%s\n", why);
    run_all(&b);
    for (size_t k = 0; k < N_TABLES && !b.json; k++)
        if (tables[k].wanted)
            print_table(&b, &tables[k]);
    if (b.json)
        print_json(&b);
    else
        print_promises(&b);
    if (b.has_group)
        cgroup_remove(&b.group);
    if (made != NULL)
        model_remove(made);
    return 0;
}
