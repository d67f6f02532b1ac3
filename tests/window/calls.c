/* SPDX-License-Identifier: MIT */
/* Windows' calls: as jobs, and what each refuses, in its words. */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

/* ---- jobs ---- */

static void run_job(ggld_window *w, uint64_t first, uint64_t n, outcome *o)
{
    uv_loop_t loop;
    ggld_job *job;
    uv_loop_init(&loop);
    MUST(ggld_window_fill_start(&job, &loop, w, first, n, outcome_progress,
                                outcome_done, o, &err),
         err);
    loop_finish(&loop, "window job");
}

static void test_job(void)
{
    ggld_window *w = window_open(0, 0);
    outcome o = { 0 };
    run_job(w, 5, N_ELEMS - 5, &o);
    outcome_check(&o, GGLD_OK, "window job");
    CHECK(o.done_bytes == 4 * (N_ELEMS - 5) && o.total_bytes == o.done_bytes,
          "expected all bytes reported, got %llu",
          (unsigned long long)o.done_bytes);
    ggld_window_counts c = counts_of(w);
    CHECK(c.n_filled == N_CHUNKS, "expected all chunks filled, got %llu",
          (unsigned long long)c.n_filled);
    CHECK(memcmp(ggld_window_data(w), expected, 4 * N_ELEMS) == 0,
          "expected the bits");
    CHECK(!have_faults || counts_of(w).n_faults == 0,
          "expected no touch to wait");
    ggld_window_close(w);
}

static void test_job_refused(void)
{
    ggld_window *w = window_open(0, 4 * CHUNK);
    outcome past = { 0 }, more = { 0 }, none = { 0 }, cancelled = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    run_job(w, N_ELEMS, 1, &past);
    outcome_check(&past, GGLD_E_INVALID, "job past the end");
    run_job(w, 0, 5 * CHUNK_ELEMS, &more);
    outcome_check(&more, GGLD_E_LIMIT, "job over the budget");
    run_job(w, 0, 0, &none);
    outcome_check(&none, GGLD_OK, "job of nothing");
    expect_code(
        ggld_window_fill_start(NULL, NULL, w, 0, 1, NULL, NULL, NULL, &err),
        GGLD_E_INVALID, "are needed", "job without a loop");
    /* The job holds the window until it is done. */
    uv_loop_init(&loop);
    MUST(ggld_window_fill_start(&job, &loop, w, 0, CHUNK_ELEMS, NULL,
                                outcome_done, &cancelled, &err),
         err);
    ggld_window_close(w);
    ggld_job_cancel(job);
    loop_finish(&loop, "cancelled window job");
    outcome_check(&cancelled, GGLD_E_CANCELLED, "cancelled window job");
}

/* ---- refusals ---- */

static void test_options_refused(void)
{
    static const struct {
        const char *what, *text;
        ggld_status code;
        size_t field, size;
        uint64_t value;
    } cases[] = {
#define FIELD(name)                      \
    offsetof(ggld_window_options, name), \
        sizeof(((ggld_window_options *)0)->name)
        { "struct_size", "struct_size 8", GGLD_E_ABI, FIELD(struct_size), 8 },
        { "flags", "flags 0x100", GGLD_E_ABI, FIELD(flags), 256 },
        { "format", "format 2", GGLD_E_INVALID, FIELD(format), 2 },
        { "threads", "17 threads", GGLD_E_INVALID, FIELD(n_threads), 17 },
        { "reserved32", "reserved", GGLD_E_ABI, FIELD(reserved32), 1 },
        { "reserved", "reserved", GGLD_E_ABI, FIELD(reserved[3]), 1 },
        { "budget of one chunk", "has room for 1 chunks of 16384 bytes, 2",
          GGLD_E_INVALID, FIELD(max_resident_bytes), 2 * CHUNK - 1 },
#undef FIELD
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ggld_window_options o = options_of(0, 0);
        ggld_window *w = NULL;
        char *at = (char *)&o + cases[i].field;
        uint32_t word = (uint32_t)cases[i].value;
        memcpy(at, cases[i].size == 4 ? (void *)&word : (void *)&cases[i].value,
               cases[i].size);
        expect_code(ggld_window_open(&w, &whole, &o, &err), cases[i].code,
                    cases[i].text, cases[i].what);
        CHECK(w == NULL, "%s: expected *out untouched", cases[i].what);
    }
}

static void test_arguments_refused(void)
{
    ggld_window *w = window_open(0, 4 * CHUNK), *none = NULL;
    ggld_view view = whole;
    expect_code(ggld_window_open(NULL, &whole, NULL, &err), GGLD_E_INVALID,
                "are needed", "open without out");
    view.n_elems++;
    expect_code(ggld_window_open(&none, &view, NULL, &err), GGLD_E_INVALID,
                "tensor 0", "a view past its tensor");
    view = ggld_tensor_view(ggld_tensor_at(file, 1));
    expect_code(ggld_window_open(&none, &view, NULL, &err), GGLD_E_TENSOR_TYPE,
                "tensor 1", "an unknown type");
    CHECK(none == NULL, "expected *out untouched");
    expect_code(ggld_window_fill(w, 1, N_ELEMS, &err), GGLD_E_INVALID,
                "fill 262144 elements from 1 on, the window has 262144",
                "fill past the end");
    expect_code(ggld_window_drop(w, N_ELEMS + 1, 0, &err), GGLD_E_INVALID,
                "drop 0 elements from 262145", "drop past the end");
    expect_code(ggld_window_fill(w, 1, 4 * CHUNK_ELEMS, &err), GGLD_E_LIMIT,
                "in 5 chunks, the budget has room for 4", "fill over budget");
    MUST(ggld_window_fill(w, N_ELEMS, 0, &err), err);
    MUST(ggld_window_status(w, &err), err);
    ggld_window_close(w);
}

static void test_empty_and_small(void)
{
    ggld_view view;
    ggld_window *w;
    MUST(ggld_view_elems(&view, &whole, 9, 0, &err), err);
    MUST(ggld_window_open(&w, &view, NULL, &err), err);
    CHECK(ggld_window_data(w) != NULL && ggld_window_data_f16(w) == NULL,
          "expected an address of floats");
    MUST(ggld_window_fill(w, 0, 0, &err), err);
    ggld_window_close(w);
    MUST(ggld_view_elems(&view, &whole, 9, 1, &err), err);
    ggld_window_options o = ggld_window_options_init();
    o.max_resident_bytes = 4096;
    MUST(ggld_window_open(&w, &view, &o, &err), err);
    CHECK(memcmp(ggld_window_data(w), expected + 9, 4) == 0,
          "one element: expected its bits");
    ggld_window_close(w);
}

/* ---- main ---- */

int main(void)
{
    static const subject_test tests[] = {
        { test_job, false },
        { test_job_refused, true },
        { test_options_refused, true },
        { test_arguments_refused, true },
        { test_empty_and_small, false },
    };
    return subject_run(tests, sizeof tests / sizeof tests[0]);
}
