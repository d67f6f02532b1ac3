/* SPDX-License-Identifier: MIT */
/* A window four times as large as the memory that the process may use: gone
 * through in order, touched at random, filled by range, without being killed and
 * within the budget. The blocks it is made of are checked, too. */
#include "../jobs/check.h"
#include "../jobs/limited.h"
#include "../jobs/memory.h"
#include "../jobs/model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/window.h>

#define LIMIT_BYTES  ((uint64_t)64 << 20)
#define BUDGET_BYTES ((uint64_t)24 << 20)
#define ROW_ELEMS    512u
#define ROW_BYTES    (ROW_ELEMS / 32 * 18)
#define N_ROWS       (4 * LIMIT_BYTES / (ROW_ELEMS * 4))
#define CHUNK_BYTES  ((uint64_t)32 << 10) /* the default */
/* What else the process may have come to use meanwhile: the table of chunks (96
 * KiB), the stacks of the window's two threads (some 30 KiB each), the C
 * library's buffers. Page tables don't count. */
#define OTHER_BYTES ((uint64_t)1 << 20)
/* The most that is filled ahead: while memory is counted, page by page, chunks
 * may go that have been counted, for others that will be. */
#define AHEAD_BYTES ((uint64_t)4 << 20)

static ggld_error err;

/* The reference is the buffer kernel, over bytes that are not the file's. */
static bool row_is_right(const float *row, uint64_t index)
{
    uint8_t blocks[ROW_BYTES];
    float expected[ROW_ELEMS];
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = model_byte(index * ROW_BYTES + i);
    return ggld_dequantize_f32(GGLD_TYPE_Q4_0, blocks, sizeof blocks, expected,
                               ROW_ELEMS, &err) == GGLD_OK &&
           memcmp(row, expected, sizeof expected) == 0;
}

/* The window's memory and that of the process: counted page by page, where
 * RssAnon is only near the truth on machines of many processors. */
static uint64_t anonymous_bytes(void)
{
    char line[200];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Anonymous: %llu", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return (uint64_t)kib << 10;
}

static void touch_all(const float *data, uint32_t flags, uint64_t before)
{
    uint64_t n_wrong = 0, most = 0;
    for (uint64_t row = 0; row < N_ROWS; row++) {
        n_wrong += !row_is_right(data + row * ROW_ELEMS, row);
        if (row % 1024 == 0) {
            uint64_t now = anonymous_bytes();
            most = now > most ? now : most;
        }
    }
    CHECK(n_wrong == 0, "in order: %llu rows wrong",
          (unsigned long long)n_wrong);
    printf("in order: at most %llu KiB of anonymous memory more than before\n",
           (unsigned long long)(most - before) >> 10);
    /* Two chunks on their way, and what is not the window's. */
    uint64_t other =
        OTHER_BYTES + ((flags & GGLD_WINDOW_NO_AHEAD) != 0 ? 0 : AHEAD_BYTES);
    uint64_t allowed = BUDGET_BYTES + 2 * CHUNK_BYTES + other;
    CHECK(before != 0 && most - before <= allowed,
          "expected at most the budget, two chunks and %llu bytes, %llu in "
          "all, got %llu",
          (unsigned long long)other, (unsigned long long)allowed,
          (unsigned long long)(most - before));
}

static void touch_at_random(const float *data)
{
    uint64_t n_wrong = 0;
    uint32_t random = 1;
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t row = (random >> 8) % N_ROWS;
        n_wrong += !row_is_right(data + row * ROW_ELEMS, row);
    }
    CHECK(n_wrong == 0, "at random: %llu rows wrong",
          (unsigned long long)n_wrong);
}

static int go_through(const char *path, uint32_t flags)
{
    ggld_file *file = model_open(path, 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 0));
    ggld_window_options o = ggld_window_options_init();
    ggld_window_counts c = { sizeof c };
    ggld_window *w;
    o.max_resident_bytes = BUDGET_BYTES;
    o.flags = flags;
    uint64_t before = anonymous_bytes();
    ggld_status status = ggld_window_open(&w, &view, &o, &err);
    if (status == GGLD_E_UNSUPPORTED)
        return 77;
    CHECK(status == GGLD_OK, "expected a window, got: %s", err.message);
    if (status != GGLD_OK)
        return 1;
    ggld_window_stats(w, &c);
    CHECK(c.size_bytes == 4 * LIMIT_BYTES,
          "expected a window of four limits, got %llu bytes",
          (unsigned long long)c.size_bytes);
    touch_all(ggld_window_data(w), flags, before);
    touch_at_random(ggld_window_data(w));
    for (uint64_t at = 0; at + (1u << 20) <= c.n_elems; at += 1u << 24)
        CHECK(ggld_window_fill(w, at, 1u << 20, &err) == GGLD_OK, "fill: %s",
              err.message);
    ggld_window_stats(w, &c);
    CHECK(c.chunk_bytes == CHUNK_BYTES && c.peak_bytes <= BUDGET_BYTES &&
              c.peak_bytes > BUDGET_BYTES - c.chunk_bytes && c.n_dropped > 0,
          "expected the budget of %llu to be used and to hold, got %llu bytes",
          (unsigned long long)BUDGET_BYTES, (unsigned long long)c.peak_bytes);
    ggld_window_close(w);
    ggld_close(file);
    return n_failed != 0;
}

static int both_ways(const void *path)
{
    int code = go_through(path, GGLD_WINDOW_NO_AHEAD);
    return code == 0 ? go_through(path, 0) : code;
}

int main(void)
{
    model_tensor tensor = { GGLD_TYPE_Q4_0, N_ROWS, ROW_ELEMS };
    cgroup group;
    uint64_t peak;
    if (!limited_make(&group, LIMIT_BYTES))
        return 77;
    char *path = model_write(&tensor, 1);
    memory_chill(path);
    bool skipped = limited_run(&group, both_ways, path, &peak) == 77;
    model_remove(path);
    if (skipped)
        printf("skipped: this system offers no userfaultfd\n");
    return n_failed != 0 ? 1 : skipped ? 77 : 0;
}
