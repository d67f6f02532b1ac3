/* SPDX-License-Identifier: MIT */
/* A set's key-values and tensors taken over by the writer: small, through its
 * buffer, and large, from file to file by the system. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "../views/check.h"
#include "shards.h"

int n_failed;

static const uint32_t of_shard[] = { 0, 0, 1, 2, 2 };
static const uint32_t places[] = { 0, 1, 0, 0, 1 };

/* Which shards a verifier is asked about. */
static ggld_status on_range(void *ctx, const ggld_file *file, uint64_t offset,
                            uint64_t size, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    uint32_t *asked = ctx;
    (void)offset;
    (void)size;
    (void)err;
    ggld_file_get_info(file, &info);
    *asked |= 1u << info.shard;
    return GGLD_OK;
}

static void copy(const ggld_file *from, const char *path)
{
    ggld_writer *w = NULL;
    ggld_error err;

    CHECK_OK(ggld_writer_new(&w, NULL, &err), err, "new");
    for (uint64_t i = 0; i < ggld_kv_count(from); i++) {
        const ggld_kv *kv = ggld_kv_at(from, i);
        if (strncmp(ggld_kv_key(kv).data, "split.", 6) != 0)
            CHECK_OK(ggld_writer_copy_kv(w, kv, &err), err, "key-value");
    }
    for (uint64_t i = 0; i < ggld_tensor_count(from); i++)
        CHECK_OK(ggld_writer_copy_tensor(w, ggld_tensor_at(from, i), &err), err,
                 "tensor");
    CHECK_OK(ggld_writer_begin(w, path, &err), err, "begin");
    CHECK_OK(ggld_writer_finish(w, &err), err, "finish");
    ggld_writer_free(w);
}

static void expect_copy(const char *path, uint32_t n_elems)
{
    float *values = malloc(n_elems * sizeof *values);
    ggld_file *file = NULL;
    uint64_t seven = 0;
    ggld_error err;

    CHECK_OK(ggld_open_path(&file, path, NULL, &err), err, "open");
    CHECK(ggld_kv_count(file) == 2 &&
              ggld_kv_get_u64(ggld_kv_find(file, "only.first"), &seven) &&
              seven == 7,
          "key-values of the first shard");
    for (uint32_t t = 0; t < 5; t++) {
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, t));
        uint32_t wrong = 0;
        CHECK_OK(ggld_view_read_f32(&view, values, n_elems, &err), err, "read");
        for (uint32_t i = 0; i < n_elems; i++)
            wrong += values[i] != shards_value(of_shard[t], places[t], i);
        CHECK(wrong == 0, "tensor %" PRIu32 ": %" PRIu32 " wrong values", t,
              wrong);
    }
    ggld_close(file);
    free(values);
}

static void try_copy(uint32_t n_elems, uint32_t flags)
{
    shards set = shards_mixed();
    char path[300];
    uint32_t asked = 0;
    ggld_verifier v = { .struct_size = sizeof v,
                        .check_range = on_range,
                        .ctx = &asked };
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;

    set.n_elems = n_elems;
    shards_write(&set);
    snprintf(path, sizeof path, "%s/whole.gguf", set.folder);
    options.flags = flags;
    options.verifier = &v;
    CHECK_OK(ggld_open_path(&file, shards_path(&set, 2), &options, &err), err,
             "open");
    copy(file, path);
    CHECK(asked == 7, "asked about shards 0x%" PRIx32, asked);
    ggld_close(file);
    expect_copy(path, n_elems);
    unlink(path);
    shards_remove(&set);
}

int main(void)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_PREAD, GGLD_OPEN_COPY };
    for (size_t m = 0; m < 3; m++) {
        try_copy(8, modes[m]);
        try_copy(200000, modes[m]);
    }
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
