/* SPDX-License-Identifier: MIT */
/* What windows cost, beside reading into a buffer: in order, at random, within a
 * budget, resident. A file of a gigabyte is written in the folder that TMPDIR
 * names, or /var/tmp; it is in the page cache. Ways take turns, the best of some
 * counts. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include <ggld/window.h>

#include "../jobs/model.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define ROW_ELEMS 4096u
#define PART      ((uint64_t)64 << 20) /* elements that are gone through */
#define N_ROUNDS  3
#define N_PASSES  5
#define N_RANDOM  1000u /* chunks */
#define N_FAULTS  1000u

static const model_tensor tensors[] = {
    { GGLD_TYPE_Q4_0, 1 << 18, ROW_ELEMS }, /* 4 GiB of floats */
    { GGLD_TYPE_Q8_0, PART / ROW_ELEMS, ROW_ELEMS },
    { GGLD_TYPE_Q4_K, PART / ROW_ELEMS, ROW_ELEMS },
    { GGLD_TYPE_Q6_K, PART / ROW_ELEMS, ROW_ELEMS },
    { GGLD_TYPE_BF16, PART / ROW_ELEMS, ROW_ELEMS },
};
#define N_TENSORS (sizeof tensors / sizeof tensors[0])

static ggld_error err;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(ggld_status status)
{
    if (status == GGLD_OK)
        return;
    fprintf(stderr, "bench_window: %s\n", err.message);
    exit(1);
}

static void least(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static float *map_floats(uint64_t n)
{
    float *p = mmap(NULL, n * sizeof *p, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return p;
}

/* As fast as memory is: sixteen sums at a time. */
static double sum_seconds(const float *p, uint64_t n)
{
    float sums[16] = { 0 };
    volatile float out;
    double began = now();
    for (uint64_t i = 0; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++)
            sums[k] += p[i + (uint64_t)k];
    for (int k = 0; k < 16; k++) {
        out = sums[k];
        (void)out;
    }
    return now() - began;
}

/* A pass takes some 10 ms, which anything else on the machine doubles: the best
 * of some, of a window as of plain memory. */
static void resident_passes(double *best, const float *p, uint64_t n)
{
    for (int i = 0; i < N_PASSES; i++)
        least(best, sum_seconds(p, n));
}

static ggld_window *window_open(const ggld_view *view, uint64_t chunk,
                                uint64_t budget, uint32_t flags,
                                uint32_t n_threads)
{
    ggld_window_options o = ggld_window_options_init();
    ggld_window *w;
    o.max_resident_bytes = budget;
    o.chunk_bytes = chunk;
    o.flags = flags;
    o.n_threads = n_threads;
    must(ggld_window_open(&w, view, &o, &err));
    return w;
}

/* ---- in order ---- */

typedef struct in_order {
    double buffer, plain, window, second, no_ahead, budget;
} in_order;

static double pass(const ggld_view *v, uint64_t chunk, uint64_t budget,
                   uint32_t flags, double *second)
{
    ggld_window *w = window_open(v, chunk, budget, flags, 0);
    double seconds = sum_seconds(ggld_window_data(w), v->n_elems);
    if (second != NULL)
        resident_passes(second, ggld_window_data(w), v->n_elems);
    ggld_window_close(w);
    return seconds;
}

static void order_round(const ggld_view *v, in_order *t)
{
    float *buffer = map_floats(v->n_elems);
    double began = now();
    must(ggld_view_read_f32(v, buffer, v->n_elems, &err));
    least(&t->buffer, now() - began);
    resident_passes(&t->plain, buffer, v->n_elems);
    munmap(buffer, v->n_elems * sizeof *buffer);
    least(&t->window, pass(v, 0, 0, 0, &t->second));
    least(&t->no_ahead, pass(v, 0, 0, GGLD_WINDOW_NO_AHEAD, NULL));
    least(&t->budget, pass(v, 0, v->n_elems * 4 / 10, 0, NULL));
}

static void bench_order(const ggld_file *file)
{
    printf("| type | buffer GB/s | window | of it | nothing ahead | budget of "
           "a tenth | second pass | plain memory |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < N_TENSORS; i++) {
        ggld_view v = ggld_tensor_view(ggld_tensor_at(file, i));
        in_order t = { 0 };
        must(ggld_view_elems(&v, &v, 0, PART, &err));
        for (int round = 0; round < N_ROUNDS; round++)
            order_round(&v, &t);
        double gb = (double)PART * 4 / 1e9;
        printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f |\n",
               ggld_type_traits_of(tensors[i].type)->name, gb / t.buffer,
               gb / t.window, t.buffer / t.window, t.buffer / t.no_ahead,
               t.buffer / t.budget, gb / t.second, gb / t.plain);
    }
}

/* ---- one fault, with nothing to dequantise ---- */

typedef struct server {
    int fd;
    size_t page;
    char *source;
} server;

static void *serve(void *arg)
{
    server *s = arg;
    for (unsigned i = 0; i < N_FAULTS; i++) {
        struct uffd_msg message;
        if (read(s->fd, &message, sizeof message) != sizeof message)
            break;
        struct uffdio_copy copy = { .dst = message.arg.pagefault.address,
                                    .src = (uintptr_t)s->source,
                                    .len = s->page };
        if (ioctl(s->fd, UFFDIO_COPY, &copy) != 0)
            perror("UFFDIO_COPY");
    }
    return NULL;
}

/* Seconds for one: a page, from touch to touch. */
static double fault_seconds(void)
{
    server s = { .page = (size_t)sysconf(_SC_PAGESIZE) };
    /* As far from each other as the chunks that are touched at random: page
     * tables are part of it. */
    size_t size = (size_t)1 << 32, step = size / N_FAULTS / s.page * s.page;
    struct uffdio_api api = { .api = UFFD_API };
    pthread_t thread;
    char *memory = (char *)map_floats(size / sizeof(float));
    s.source = (char *)map_floats(s.page / sizeof(float));
    s.source[0] = 1;
    s.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_register r = { .range = { (uintptr_t)memory, size },
                                 .mode = UFFDIO_REGISTER_MODE_MISSING };
    if (s.fd < 0 || ioctl(s.fd, UFFDIO_API, &api) != 0 ||
        ioctl(s.fd, UFFDIO_REGISTER, &r) != 0 ||
        pthread_create(&thread, NULL, serve, &s) != 0) {
        perror("userfaultfd");
        exit(1);
    }
    double began = now();
    for (unsigned i = 0; i < N_FAULTS; i++) {
        volatile char c = memory[i * 7919u % N_FAULTS * step];
        (void)c;
    }
    double seconds = (now() - began) / N_FAULTS;
    pthread_join(thread, NULL);
    close(s.fd);
    munmap(memory, size);
    munmap(s.source, s.page);
    return seconds;
}

/* ---- at random ---- */

/* A chunk's number, each another: the step and the count have no common
 * divisor. */
static uint64_t chunk_number(uint64_t i, uint64_t n)
{
    return i * 7919 % n;
}

typedef struct at_random {
    double touch;       /* a touch that fills a chunk */
    double warm, fresh; /* the chunk by ggld_view_read_f32 */
} at_random;

static double touch_seconds(const ggld_view *v, uint64_t chunk,
                            uint32_t n_threads)
{
    ggld_window *w = window_open(v, chunk, (uint64_t)1 << 30, 0, n_threads);
    uint64_t elems = chunk / sizeof(float), n = v->n_elems / elems;
    const float *data = ggld_window_data(w);
    double began = now();
    for (uint64_t i = 0; i < N_RANDOM; i++) {
        volatile float value =
            data[chunk_number(i, n) * elems + i * 31 % elems];
        (void)value;
    }
    double seconds = (now() - began) / N_RANDOM;
    ggld_window_close(w);
    return seconds;
}

/* The same chunks: into one buffer that is in the cache, or each into memory
 * that is not there yet. */
static double read_seconds(const ggld_view *v, uint64_t chunk, bool fresh)
{
    uint64_t elems = chunk / sizeof(float), n = v->n_elems / elems;
    uint64_t room = fresh ? elems * N_RANDOM : elems;
    float *buffer = map_floats(room);
    if (!fresh)
        memset(buffer, 1, room * sizeof *buffer);
    double began = now();
    for (uint64_t i = 0; i < N_RANDOM; i++) {
        ggld_view part;
        must(
            ggld_view_elems(&part, v, chunk_number(i, n) * elems, elems, &err));
        must(ggld_view_read_f32(&part, buffer + (fresh ? i * elems : 0), elems,
                                &err));
    }
    double seconds = (now() - began) / N_RANDOM;
    munmap(buffer, room * sizeof *buffer);
    return seconds;
}

/* Single elements of a tensor of 4 GiB, real and in the page cache. */
static void bench_chunks(const ggld_file *file)
{
    static const uint64_t sizes[] = { 16, 32, 64, 128, 256, 512, 1024 };
    ggld_view v = ggld_tensor_view(ggld_tensor_at(file, 0)), part;
    double fault = 0, buffer = 0;
    must(ggld_view_elems(&part, &v, 0, PART, &err));
    for (int round = 0; round < N_ROUNDS; round++) {
        float *dst = map_floats(PART);
        double began = now();
        must(ggld_view_read_f32(&part, dst, PART, &err));
        least(&buffer, now() - began);
        munmap(dst, PART * sizeof *dst);
        least(&fault, fault_seconds());
    }
    printf("\none fault of one page, nothing to dequantise: %.1f µs\n\n"
           "| chunk | in order, of the buffer | a touch at random | 1 thread | "
           "dequantise | fresh memory | touch / (dequantise + fault) | fresh "
           "memory |\n"
           "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
           fault * 1e6);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t chunk = sizes[i] << 10;
        at_random t = { 0 };
        double order = 0, one = 0;
        for (int round = 0; round < N_ROUNDS; round++) {
            least(&order, pass(&part, chunk, 0, 0, NULL));
            least(&t.touch, touch_seconds(&v, chunk, 2));
            least(&one, touch_seconds(&v, chunk, 1));
            least(&t.warm, read_seconds(&v, chunk, false));
            least(&t.fresh, read_seconds(&v, chunk, true));
        }
        printf("| %u KiB | %.2f | %.1f µs | %.1f µs | %.1f µs | %.1f µs | %.2f "
               "| %.2f |\n",
               (unsigned)sizes[i], buffer / order, t.touch * 1e6, one * 1e6,
               t.warm * 1e6, t.fresh * 1e6, t.touch / (t.warm + fault),
               t.touch / (t.fresh + fault));
    }
}

int main(int argc, char **argv)
{
    bool chunks_only = argc > 1 && strcmp(argv[1], "--chunks") == 0;
    bool order_only = argc > 1 && strcmp(argv[1], "--order") == 0;
    char *path = model_write(tensors, chunks_only ? 1 : N_TENSORS);
    ggld_file *file = model_open(path, 0);
    if (!chunks_only)
        bench_order(file);
    if (!order_only)
        bench_chunks(file);
    ggld_close(file);
    model_remove(path);
    return 0;
}
