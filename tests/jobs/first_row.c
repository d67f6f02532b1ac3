/* SPDX-License-Identifier: MIT */
/* What the first row of a cold file brings into the page cache: no more than the
 * metadata, the row and two windows of readahead, of files of two sizes. Most of
 * them is a hole; the metadata, and the tensor whose row is read, are data. */
#include "bench_io.h"
#include "check.h"
#include "memory.h"
#include "model.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define AROUND_BYTES \
    ((uint64_t)16 << 20) /* more than two windows on any disk */

static char *make_file(uint64_t hole_bytes)
{
    const uint64_t row_bytes = 4096 / 32 * 18;
    model_tensor tensors[] = {
        { GGLD_TYPE_Q4_0, hole_bytes / row_bytes, 4096 },
        { GGLD_TYPE_Q4_0, AROUND_BYTES / row_bytes, 4096 },
    };
    return model_write_holed(tensors, 2, 1);
}

static uint64_t grown_by(const bench_file *file)
{
    memory_chill(file->path);
    uint64_t before = memory_cached(file->path);
    (void)way_first_row(file);
    return memory_cached(file->path) - before;
}

int main(void)
{
    static const uint64_t sizes[] = { (uint64_t)64 << 20, (uint64_t)1 << 30 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *path = make_file(sizes[i]);
        bench_file file = { .path = path };
        bench_file_look(&file);
        uint64_t allowed = bench_first_row_allowance(&file);
        uint64_t grown = grown_by(&file);
        printf("%llu MiB: the page cache grew by %llu KiB\n",
               (unsigned long long)file.size_bytes >> 20,
               (unsigned long long)grown >> 10);
        CHECK(grown <= allowed,
              "%llu MiB: expected at most %llu bytes (metadata, a row, two "
              "windows of readahead), got %llu",
              (unsigned long long)file.size_bytes >> 20,
              (unsigned long long)allowed, (unsigned long long)grown);
        model_remove(path);
    }
    printf("2 passed, %d failed, 0 skipped\n", n_failed);
    return n_failed != 0;
}
