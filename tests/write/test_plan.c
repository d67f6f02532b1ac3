/* SPDX-License-Identifier: MIT */
/* The layout, from sizes alone. */
#include <criterion/criterion.h>

#include "write/plan.h"

#define MAX_TENSORS 3

static const struct {
    const char *what;
    uint64_t metadata;
    uint64_t alignment;
    bool padded_end;
    uint64_t n_tensors;
    uint64_t sizes[MAX_TENSORS];
    bool fits;
    uint64_t data_offset;
    uint64_t file_bytes;
    uint64_t offsets[MAX_TENSORS];
    uint64_t n_laid;
} cases[] = {
    { "nothing", 24, 32, true, 0, { 0 }, true, 32, 32, { 0 }, 0 },
    { "nothing, unpadded", 24, 32, false, 0, { 0 }, true, 32, 24, { 0 }, 0 },
    { "on the alignment", 64, 32, true, 0, { 0 }, true, 64, 64, { 0 }, 0 },
    { "1, 33, 31 bytes",
      100,
      32,
      true,
      3,
      { 1, 33, 31 },
      true,
      128,
      256,
      { 0, 32, 96 },
      3 },
    { "the same, unpadded",
      100,
      32,
      false,
      3,
      { 1, 33, 31 },
      true,
      128,
      255,
      { 0, 32, 96 },
      3 },
    { "alignment 1",
      101,
      1,
      true,
      3,
      { 1, 33, 31 },
      true,
      101,
      166,
      { 0, 1, 34 },
      3 },
    { "empty ones in between",
      100,
      64,
      false,
      3,
      { 0, 5, 0 },
      true,
      128,
      192,
      { 0, 0, 64 },
      3 },
    { "only an empty one, unpadded",
      100,
      64,
      false,
      1,
      { 0 },
      true,
      128,
      128,
      { 0 },
      1 },
    { "up to the last byte",
      32,
      32,
      false,
      1,
      { INT64_MAX - 32 },
      true,
      32,
      INT64_MAX,
      { 0 },
      1 },
    { "its padding is too much",
      32,
      32,
      true,
      1,
      { INT64_MAX - 32 },
      false,
      32,
      0,
      { 0 },
      1 },
    { "one byte too much",
      32,
      32,
      false,
      1,
      { INT64_MAX - 31 },
      false,
      32,
      0,
      { 0 },
      0 },
    { "two that wrap",
      32,
      32,
      false,
      2,
      { INT64_MAX / 2, UINT64_MAX - INT64_MAX / 2 },
      false,
      32,
      0,
      { 0 },
      1 },
    { "metadata alone is too much",
      INT64_MAX,
      32,
      false,
      1,
      { 1 },
      false,
      0,
      0,
      { 0 },
      0 },
    { "metadata near the wrap",
      UINT64_MAX - 3,
      1048576,
      true,
      0,
      { 0 },
      false,
      0,
      0,
      { 0 },
      0 },
};

Test(plan, offsets_data_start_and_size)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ggld_out_tensor tensors[MAX_TENSORS] = { { .size_bytes = 0 } };
        ggld_plan plan;
        for (uint64_t t = 0; t < cases[i].n_tensors; t++)
            tensors[t].size_bytes = cases[i].sizes[t];
        bool fits = ggld_plan_make(&plan, tensors, cases[i].n_tensors,
                                   cases[i].metadata, cases[i].alignment,
                                   cases[i].padded_end);
        cr_expect_eq(fits, cases[i].fits, "%s: expected %d, got %d",
                     cases[i].what, cases[i].fits, fits);
        cr_expect_eq(plan.n_laid, cases[i].n_laid, "%s: laid %d", cases[i].what,
                     (int)plan.n_laid);
        if (!fits)
            continue;
        cr_expect_eq(plan.data_offset, cases[i].data_offset, "%s: data at %d",
                     cases[i].what, (int)plan.data_offset);
        cr_expect_eq(plan.file_bytes, cases[i].file_bytes, "%s: %d bytes",
                     cases[i].what, (int)plan.file_bytes);
        for (uint64_t t = 0; t < cases[i].n_tensors; t++)
            cr_expect_eq(tensors[t].offset, cases[i].offsets[t],
                         "%s: tensor %d at %d", cases[i].what, (int)t,
                         (int)tensors[t].offset);
    }
}
