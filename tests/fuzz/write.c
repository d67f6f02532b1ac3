/* SPDX-License-Identifier: MIT */
/* Any file that opens, taken over record by record into a new one: that must
 * open, have the same in it, and be the same byte for byte when it is taken
 * over itself. What the writer refuses leaves nothing in the folder. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "../write/take_over.h"
#include "folder.h"
#include "fuzz.h"

static const char *first_path, *second_path;

static void paths_make(void)
{
    if (first_path != NULL)
        return;
    first_path = folder_file("1");
    second_path = folder_file("2");
}

static ggld_status take_over(const ggld_file *file, const char *path,
                             ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_writer_options options = ggld_writer_options_init();

    ggld_file_get_info(file, &info);
    /* One that no writer takes is not this test's. */
    options.alignment_bytes = (uint32_t)info.alignment_bytes;
    return take_records_over(file, path, &options, err);
}

static bool same_string(ggld_string a, ggld_string b)
{
    return a.len == b.len && memcmp(a.data, b.data, (size_t)a.len) == 0;
}

static void compare_kvs(const ggld_file *in, const ggld_file *out)
{
    for (uint64_t i = 0; i < ggld_kv_count(out); i++) {
        const ggld_kv *got = ggld_kv_at(out, i);
        ggld_string key = ggld_kv_key(got);
        const ggld_kv *want = ggld_kv_find_n(in, key.data, (size_t)key.len);
        FUZZ_REQUIRE(want != NULL, "key-value %" PRIu64 " is new", i);
        ggld_raw_value raw = ggld_kv_raw(want);
        FUZZ_REQUIRE(ggld_kv_type(got) == ggld_kv_type(want),
                     "type of %" PRIu64, i);
        if (raw.version > 1 && !raw.big_endian)
            FUZZ_REQUIRE(same_string(raw.bytes, ggld_kv_raw(got).bytes),
                         "value of %" PRIu64, i);
    }
}

static void compare_tensor(const ggld_tensor *in, const ggld_tensor *out)
{
    ggld_tensor_info want = { .struct_size = sizeof want };
    ggld_tensor_info got = { .struct_size = sizeof got };
    const void *want_data, *got_data;
    size_t want_size, got_size;

    ggld_tensor_get_info(in, &want);
    ggld_tensor_get_info(out, &got);
    FUZZ_REQUIRE(same_string(want.name, got.name), "name of %" PRIu64,
                 want.index);
    FUZZ_REQUIRE(want.type == got.type && want.n_dims == got.n_dims &&
                     memcmp(want.dims, got.dims, sizeof want.dims) == 0,
                 "type or shape of %" PRIu64, want.index);
    if (want.big_endian || !want.supported)
        return;
    FUZZ_REQUIRE(ggld_tensor_map(in, &want_data, &want_size, NULL) == GGLD_OK &&
                     ggld_tensor_map(out, &got_data, &got_size, NULL) ==
                         GGLD_OK,
                 "map of %" PRIu64, want.index);
    FUZZ_REQUIRE(
        want_size == got_size &&
            (got_size == 0 || memcmp(want_data, got_data, got_size) == 0),
        "data of %" PRIu64, want.index);
}

static ggld_file *open_written(const char *path)
{
    ggld_file *file = NULL;
    ggld_error err;
    ggld_status status = ggld_open_path(&file, path, NULL, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    return file;
}

static void compare_files(const ggld_file *a, const ggld_file *b)
{
    ggld_backing in = { .struct_size = sizeof in };
    ggld_backing out = { .struct_size = sizeof out };
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_info other = { .struct_size = sizeof other };

    ggld_file_get_backing(a, &in);
    ggld_file_get_backing(b, &out);
    ggld_file_get_info(a, &info);
    ggld_file_get_info(b, &other);
    FUZZ_REQUIRE(info.file_bytes == other.file_bytes &&
                     memcmp(in.map, out.map, (size_t)info.file_bytes) == 0,
                 "what was written, written again");
}

/* Written once, and that written again. */
static void round_trip(const ggld_file *in)
{
    ggld_error err;
    ggld_status status = take_over(in, first_path, &err);
    if (status != GGLD_OK) {
        FUZZ_REQUIRE(status != GGLD_E_IO && status != GGLD_E_NOMEM, "%s",
                     err.message);
        FUZZ_REQUIRE(access(first_path, F_OK) != 0, "it is there, and: %s",
                     err.message);
        return;
    }
    ggld_file *out = open_written(first_path);
    compare_kvs(in, out);
    FUZZ_REQUIRE(ggld_tensor_count(in) == ggld_tensor_count(out), "tensors");
    for (uint64_t i = 0; i < ggld_tensor_count(in); i++)
        compare_tensor(ggld_tensor_at(in, i), ggld_tensor_at(out, i));
    status = take_over(out, second_path, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "again: %s", err.message);
    ggld_file *again = open_written(second_path);
    compare_files(out, again);
    ggld_close(out);
    ggld_close(again);
    unlink(first_path);
    unlink(second_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ggld_file *file = NULL;

    paths_make();
    if (ggld_open_memory(&file, data, size, NULL, NULL) != GGLD_OK)
        return 0;
    round_trip(file);
    ggld_close(file);
    return 0;
}
