/* SPDX-License-Identifier: MIT */
#include "subject.h"

#include "../jobs/model.h"
#include "child.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

char *path;
ggld_file *file;
ggld_view whole;
float *expected;
ggld_error err;
bool have_faults;

ggld_window_options options_of(uint32_t flags, uint64_t budget)
{
    ggld_window_options o = ggld_window_options_init();
    o.flags = flags;
    o.max_resident_bytes = budget;
    o.chunk_bytes = CHUNK;
    return o;
}

ggld_window *window_open(uint32_t flags, uint64_t budget)
{
    ggld_window_options o = options_of(flags, budget);
    ggld_window *w = NULL;
    ggld_status status = ggld_window_open(&w, &whole, &o, &err);
    CHECK(status == GGLD_OK, "expected a window, got: %s", err.message);
    if (status != GGLD_OK)
        exit(1);
    return w;
}

ggld_window_counts counts_of(ggld_window *w)
{
    ggld_window_counts c = { sizeof c };
    ggld_window_stats(w, &c);
    return c;
}

bool is_right(const float *data, uint64_t i)
{
    return memcmp(&data[i], &expected[i], sizeof *data) == 0;
}

void expect_code(ggld_status got, ggld_status code, const char *text,
                 const char *what)
{
    CHECK(got == code, "%s: expected %s, got %s", what, ggld_status_name(code),
          ggld_status_name(got));
    CHECK(strstr(err.message, text) != NULL,
          "%s: expected \"%s\" in the message, got: %s", what, text,
          err.message);
}

bool chunk_is_there(ggld_window *w, uint32_t chunk)
{
    unsigned char pages[CHUNK / 4096];
    const char *at = (const char *)ggld_window_data(w) + chunk * (size_t)CHUNK;
    return mincore((void *)at, CHUNK, pages) == 0 && (pages[0] & 1) != 0;
}

int touch_in_child(void *arg)
{
    ggld_window *w = arg;
    return is_right(ggld_window_data(w), 3) ? 1 : CHILD_WRONG;
}

static bool faults_offered(void)
{
    ggld_window *w = window_open(0, 0);
    bool lazy = counts_of(w).lazy != 0;
    ggld_window_close(w);
    return lazy;
}

static void set_up(void)
{
    model_tensor tensors[] = { { GGLD_TYPE_Q4_0, N_ROWS, ROW_ELEMS },
                               { 99, 1, 64 } };
    path = model_write(tensors, 2);
    file = model_open(path, 0);
    whole = ggld_tensor_view(ggld_tensor_at(file, 0));
    expected = malloc(sizeof *expected * N_ELEMS);
    if (expected == NULL ||
        ggld_view_read_f32(&whole, expected, N_ELEMS, &err) != GGLD_OK)
        exit(99);
    loop_warm_up();
    have_faults = faults_offered();
}

int subject_run(const subject_test *tests, size_t n)
{
    unsigned n_passed = 0, n_skipped = 0;
    set_up();
    for (size_t i = 0; i < n; i++) {
        int before = n_failed;
        if (tests[i].needs_faults && !have_faults) {
            n_skipped++;
            continue;
        }
        tests[i].run();
        n_passed += n_failed == before;
    }
    if (!have_faults)
        printf("skipped: this system offers no userfaultfd\n");
    ggld_close(file);
    model_remove(path);
    free(expected);
    printf("%u passed, %d failed, %u skipped\n", n_passed, n_failed, n_skipped);
    return n_failed != 0;
}
