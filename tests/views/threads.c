/* SPDX-License-Identifier: MIT */
/* Eight threads read one file without a lock, each its own mixture of ranges,
 * halves and rows, in every way to open. Says nothing about speed; it is for
 * ThreadSanitizer to watch and for results to stay what they are. */
#include "check.h"
#include "model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 8
#define N_ROUNDS  200
#define ROW_ELEMS 512
#define N_ROWS    96
#define N_ELEMS   (ROW_ELEMS * N_ROWS)

int n_failed;

static uint8_t blocks[N_ELEMS / 32 * 18];
static float expected[N_ELEMS];

typedef struct reader {
    pthread_t thread;
    ggld_file *file;
    unsigned seed;
    int n_wrong;
} reader;

static bool range_is_right(const ggld_view *whole, uint64_t first, uint64_t n)
{
    float floats[ROW_ELEMS];
    uint16_t halves[ROW_ELEMS];
    ggld_view view;
    ggld_error err;

    return ggld_view_elems(&view, whole, first, n, &err) == GGLD_OK &&
           ggld_view_read_f32(&view, floats, ROW_ELEMS, &err) == GGLD_OK &&
           ggld_view_read_f16(&view, halves, ROW_ELEMS, &err) == GGLD_OK &&
           memcmp(floats, expected + first, (size_t)n * sizeof *floats) == 0;
}

static bool rows_are_right(const ggld_view *whole, uint64_t a, uint64_t b)
{
    float floats[2 * ROW_ELEMS];
    uint64_t rows[] = { a, b };
    size_t row_bytes = ROW_ELEMS * sizeof *floats;
    ggld_error err;

    return ggld_view_gather_f32(whole, rows, 2, floats, 2 * ROW_ELEMS, &err) ==
               GGLD_OK &&
           memcmp(floats, expected + a * ROW_ELEMS, row_bytes) == 0 &&
           memcmp(floats + ROW_ELEMS, expected + b * ROW_ELEMS, row_bytes) == 0;
}

static void *read_much(void *arg)
{
    reader *r = arg;
    ggld_view whole = ggld_tensor_view(ggld_tensor_find(r->file, "t"));
    uint32_t random = r->seed;

    for (int i = 0; i < N_ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t first = (random >> 8) % (N_ELEMS - ROW_ELEMS);
        if (!range_is_right(&whole, first, (random >> 4) % ROW_ELEMS) ||
            !rows_are_right(&whole, first / ROW_ELEMS, random % N_ROWS))
            r->n_wrong++;
    }
    ggld_close(r->file);
    return NULL;
}

static void check_way(open_way way, const model_tensor *tensor)
{
    model m;
    ggld_file *file = model_open(&m, way, tensor, 1, NULL);
    reader readers[N_THREADS];

    for (unsigned i = 0; i < N_THREADS; i++) {
        reader r = { .file = ggld_file_ref(file), .seed = i * 7919 + 1 };
        readers[i] = r;
        if (pthread_create(&readers[i].thread, NULL, read_much, &readers[i]))
            abort();
    }
    ggld_close(file);
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
        CHECK(readers[i].n_wrong == 0,
              "%s, thread %u: expected all reads right, got %d wrong of %d",
              open_way_names[way], i, readers[i].n_wrong, N_ROUNDS);
    }
    model_free(&m);
}

int main(void)
{
    model_tensor tensor = { "t",    GGLD_TYPE_Q4_0, 2, { ROW_ELEMS, N_ROWS },
                            blocks, sizeof blocks };
    ggld_error err = { 0 };

    fill_random(blocks, sizeof blocks, 3);
    for (size_t at = 1; at < sizeof blocks; at += 18)
        blocks[at] &= 0x3F; /* below 2: no NaN, so that bits compare */
    CHECK_OK(ggld_dequantize_f32(GGLD_TYPE_Q4_0, blocks, sizeof blocks,
                                 expected, N_ELEMS, &err),
             err, "the whole");
    for (int way = 0; way < N_OPEN_WAYS; way++)
        check_way((open_way)way, &tensor);
    printf("threads: %d threads, %d ways to open: %d failed\n", N_THREADS,
           N_OPEN_WAYS, n_failed);
    return n_failed != 0;
}
