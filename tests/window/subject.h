/* SPDX-License-Identifier: MIT */
/* A tensor of a megabyte of floats, its window, and what every element of it
 * has to be: what the tests of windows share. */
#ifndef TEST_WINDOW_SUBJECT_H
#define TEST_WINDOW_SUBJECT_H

#include "../jobs/check.h"

#include <ggld/window.h>

#define ROW_ELEMS   1024u
#define N_ROWS      256u
#define N_ELEMS     (ROW_ELEMS * N_ROWS) /* a megabyte of floats */
#define CHUNK       16384u
#define CHUNK_ELEMS (CHUNK / 4)
#define N_CHUNKS    (N_ELEMS / CHUNK_ELEMS)

extern char *path;
extern ggld_file *file; /* the tensor, of q4_0, and one of an unknown type */
extern ggld_view whole;
extern float *expected; /* of the whole tensor */
extern ggld_error err;
extern bool have_faults;

/* Chunks of CHUNK. */
ggld_window_options options_of(uint32_t flags, uint64_t budget);
/* Exits where there is none. */
ggld_window *window_open(uint32_t flags, uint64_t budget);
ggld_window_counts counts_of(ggld_window *w);
bool is_right(const float *data, uint64_t i);
bool chunk_is_there(ggld_window *w, uint32_t chunk);
void expect_code(ggld_status got, ggld_status code, const char *text,
                 const char *what);
/* For child_run: touches the window that arg is. */
int touch_in_child(void *arg);

typedef struct subject_test {
    void (*run)(void);
    bool needs_faults;
} subject_test;

/* Runs them in order, and says how many passed: main's result. */
int subject_run(const subject_test *tests, size_t n);

#endif /* TEST_WINDOW_SUBJECT_H */
