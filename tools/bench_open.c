/* SPDX-License-Identifier: MIT */
/* Opening, beside the least that any loader must do: map the file and step
 * over its strings; see bench.h. */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bits.h"
#include "progress.h"
#include "report.h"

#define ROUNDS_MAX 401
#define SECONDS    1.0

/* Strings that follow one another: an array of them, or one alone. */
typedef struct string_run {
    uint64_t offset_bytes; /* of the first one's length, in the file */
    uint64_t n_strings;
} string_run;

typedef struct walk_plan {
    string_run *runs;
    size_t n_runs;
    uint64_t n_strings;
    uint64_t map_bytes;
} walk_plan;

static int time_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_median(double *times, size_t n)
{
    qsort(times, n, sizeof *times, time_compare);
    return times[n / 2];
}

static void plan_add(walk_plan *plan, const ggld_kv *kv)
{
    ggld_raw_value raw = ggld_kv_raw(kv);
    string_run run = { raw.file_offset_bytes, 1 };
    ggld_array_iter it;

    if (ggld_kv_get_array(kv, &it)) {
        if (it.elem_type != GGLD_VALUE_STRING)
            return;
        run.offset_bytes += 12; /* element type and count */
        run.n_strings = it.n_elems;
    } else if (ggld_kv_type(kv) != GGLD_VALUE_STRING) {
        return;
    }
    plan->runs[plan->n_runs++] = run;
    plan->n_strings += run.n_strings;
}

/* false where there is no plan: no memory. */
static bool plan_make(const model *m, walk_plan *plan)
{
    uint64_t n = ggld_kv_count(m->file);

    plan->n_runs = 0;
    plan->n_strings = 0;
    plan->map_bytes = m->info.file_bytes;
    plan->runs = calloc((size_t)n + 1, sizeof *plan->runs);
    for (uint64_t i = 0; i < n && plan->runs != NULL; i++)
        plan_add(plan, ggld_kv_at(m->file, i));
    return plan->runs != NULL;
}

/* The file was validated when the plan was made. */
static uint64_t walk_strings(const walk_plan *plan, const uint8_t *map)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < plan->n_runs; i++) {
        const uint8_t *p = map + plan->runs[i].offset_bytes;
        for (uint64_t j = 0; j < plan->runs[i].n_strings; j++) {
            uint64_t len;
            memcpy(&len, p, sizeof len);
            p += sizeof len + len;
            sum += len;
        }
    }
    return sum;
}

/* ---- the walk's own map, of a file that may be cut ---- */

static struct {
    sigjmp_buf back;
    volatile bool walking;
    struct sigaction before;
} fault;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (fault.walking)
        siglongjmp(fault.back, 1);
    fault.before.sa_sigaction(signal, info, context);
}

static void fault_watch(void)
{
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO };
    (void)sigaction(SIGBUS, &action, &fault.before);
}

static void fault_end(void)
{
    (void)sigaction(SIGBUS, &fault.before, NULL);
}

/* false: bytes are gone. */
static bool walk_guarded(const walk_plan *plan, const uint8_t *map)
{
    /* Read back, so that no compiler leaves the walk out. */
    volatile uint64_t sum;

    if (sigsetjmp(fault.back, 1) != 0) {
        fault.walking = false;
        return false;
    }
    fault.walking = true;
    sum = walk_strings(plan, map);
    (void)sum;
    fault.walking = false;
    return true;
}

static int walk_once(const char *path, const walk_plan *plan, double *seconds)
{
    double start = progress_clock();
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return report_errno(path, errno, "cannot open");
    void *map = mmap(NULL, plan->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return report_errno(path, errno, "cannot map");
    bool whole = walk_guarded(plan, map);
    munmap(map, plan->map_bytes);
    *seconds = progress_clock() - start;
    return whole ? STATUS_GOOD
                 : report(path, "file: was truncated while it was read");
}

static int open_once(const char *path, uint32_t flags, double *seconds)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    ggld_error err;
    double start = progress_clock();

    options.flags = flags;
    if (ggld_open_path(&file, path, &options, &err) != GGLD_OK)
        return report_error(path, &err);
    ggld_close(file);
    *seconds = progress_clock() - start;
    return STATUS_GOOD;
}

static int run_rounds(const model *m, const walk_plan *plan, bool walk,
                      bench_open *b)
{
    double opens[ROUNDS_MAX], walks[ROUNDS_MAX];
    double start = progress_clock();
    size_t n = 0;

    while (n < ROUNDS_MAX && (n < 5 || progress_clock() - start < SECONDS)) {
        int status = open_once(m->path, m->open_flags, &opens[n]);
        walks[n] = 0;
        if (status == STATUS_GOOD && walk)
            status = walk_once(m->path, plan, &walks[n]);
        if (status != STATUS_GOOD)
            return status;
        n++;
    }
    b->n_rounds = n;
    b->open_seconds = bench_median(opens, n);
    b->walk_seconds = bench_median(walks, n);
    return STATUS_GOOD;
}

int bench_run_open(const model *m, bench_open *b)
{
    bool walk = m->info.version >= 2 && m->info.n_shards == 1 &&
                m->info.big_endian == bits_host_big_endian();
    walk_plan plan;

    if (!plan_make(m, &plan))
        return report(m->path, "no memory for a list of its strings");
    fault_watch();
    int status = run_rounds(m, &plan, walk, b);
    fault_end();
    b->n_strings = plan.n_strings;
    b->n_records = ggld_kv_count(m->file) + ggld_tensor_count(m->file);
    b->heap_bytes = m->info.heap_bytes;
    free(plan.runs);
    return status;
}
