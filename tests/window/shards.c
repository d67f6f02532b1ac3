/* SPDX-License-Identifier: MIT */
/* Windows of tensors in shards: of each order of bytes and version, by the set as
 * one file, which its windows hold. */
#include <stdlib.h>
#include <string.h>

#include <ggld/window.h>

#include "../views/check.h"
#include "shards.h"

int n_failed;

static void check_tensor(ggld_window *w, uint32_t shard, uint32_t place)
{
    const float *data = ggld_window_data(w);
    ggld_error err;
    for (uint32_t i = 0; i < 8; i++)
        CHECK(data[i] == shards_value(shard, place, i),
              "shard %u, tensor %u, element %u: expected %g, got %g", shard,
              place, i, (double)shards_value(shard, place, i), (double)data[i]);
    CHECK_OK(ggld_window_status(w, &err), err, "status");
}

int main(void)
{
    static const struct {
        const char *name;
        uint32_t shard, place;
    } tensors[] = { { "a", 0, 0 },
                    { "b", 0, 1 },
                    { "c", 1, 0 },
                    { "d", 2, 0 },
                    { "e", 2, 1 } };
    enum { N = sizeof tensors / sizeof tensors[0] };
    ggld_window *windows[N];
    shards set = shards_mixed();
    ggld_file *file;
    ggld_error err = { 0 };
    shards_write(&set);
    if (ggld_open_path(&file, shards_path(&set, 1), NULL, &err) != GGLD_OK) {
        printf("not opened: %s\n", err.message);
        return 99;
    }
    for (int i = 0; i < N; i++) {
        ggld_view v = ggld_tensor_view(ggld_tensor_find(file, tensors[i].name));
        if (ggld_window_open(&windows[i], &v, NULL, &err) != GGLD_OK) {
            printf("no window: %s\n", err.message);
            return 99;
        }
    }
    ggld_close(file);
    for (int i = 0; i < N; i++) {
        check_tensor(windows[i], tensors[i].shard, tensors[i].place);
        ggld_window_close(windows[i]);
    }
    shards_remove(&set);
    printf("%d passed, %d failed, 0 skipped\n", N, n_failed);
    return n_failed != 0;
}
