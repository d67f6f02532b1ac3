/* SPDX-License-Identifier: MIT */
/* A set as one file: from each of its shards, in every mode, with everything
 * that can be asked of it and of its shards. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "../views/check.h"
#include "heap.h"
#include "hearing.h"
#include "shards.h"

int n_failed;

static const char *const mixed_names[] = { "a", "b", "c", "d", "e" };
static const uint32_t mixed_shards[] = { 0, 0, 1, 2, 2 };
static const uint32_t mixed_places[] = { 0, 1, 0, 0, 1 }; /* in the shard */

static ggld_file *open_set(const char *path, uint32_t flags)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err = { .message = "" };
    options.flags = flags;
    CHECK(ggld_open_path(&file, path, &options, &err) == GGLD_OK,
          "flags %" PRIu32 ": %s", flags, err.message);
    if (file == NULL)
        exit(1);
    return file;
}

static ggld_file_info info_of(const ggld_file *file)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    return info;
}

/* ---- tensors ---- */

static void expect_values(const ggld_tensor *t, uint32_t shard, uint32_t place)
{
    ggld_view view = ggld_tensor_view(t);
    float values[8] = { 0 };
    ggld_error err;
    CHECK_OK(ggld_view_read_f32(&view, values, 8, &err), err, "read");
    for (uint32_t i = 0; i < 8; i++)
        CHECK(values[i] == shards_value(shard, place, i),
              "shard %" PRIu32 ", element %" PRIu32 ": expected %g, got %g",
              shard, i, (double)shards_value(shard, place, i),
              (double)values[i]);
}

static void expect_tensors(const ggld_file *file)
{
    CHECK(ggld_tensor_count(file) == 5, "%" PRIu64, ggld_tensor_count(file));
    CHECK(ggld_tensor_at(file, 5) == NULL, "there is no sixth");
    CHECK(ggld_tensor_find(file, "f") == NULL, "there is no f");
    for (uint32_t i = 0; i < 5; i++) {
        const ggld_tensor *t = ggld_tensor_at(file, i);
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(t, &info);
        CHECK(info.index == i && info.shard == mixed_shards[i],
              "tensor %" PRIu32 ": index %" PRIu64 ", shard %" PRIu32, i,
              info.index, info.shard);
        CHECK(info.big_endian == (info.shard == 2), "%" PRIu32, i);
        CHECK(ggld_tensor_find(file, mixed_names[i]) == t, "find %s",
              mixed_names[i]);
        CHECK(ggld_tensor_file(t) == file, "the file of %" PRIu32, i);
        expect_values(t, mixed_shards[i], mixed_places[i]);
    }
}

/* Each shard has its own of them, the same ones. */
static void expect_shard_tensors(const ggld_file *file)
{
    static const uint64_t counts[] = { 2, 1, 2 };
    for (uint32_t s = 0; s < 3; s++) {
        const ggld_file *shard = ggld_file_shard(file, s);
        CHECK(ggld_tensor_count(shard) == counts[s], "shard %" PRIu32, s);
        for (uint32_t i = 0; i < 5; i++) {
            const ggld_tensor *t = ggld_tensor_at(file, i);
            bool here = mixed_shards[i] == s;
            CHECK(ggld_tensor_find(shard, mixed_names[i]) == (here ? t : NULL),
                  "shard %" PRIu32 ", %s", s, mixed_names[i]);
            CHECK(!here || ggld_tensor_at(shard, mixed_places[i]) == t,
                  "shard %" PRIu32 ", %s", s, mixed_names[i]);
        }
        CHECK(ggld_tensor_at(shard, counts[s]) == NULL, "past the end");
    }
}

/* ---- what it is made of ---- */

static void expect_infos(const shards *set, const ggld_file *file,
                         uint32_t flags)
{
    ggld_file_info all = info_of(file);
    ggld_backing none = { .struct_size = sizeof none };
    uint64_t file_bytes = 0, metadata_bytes = 0;

    CHECK(all.n_shards == 3 && all.shard == 0, "%" PRIu32, all.n_shards);
    CHECK(all.version == 3 && !all.big_endian && all.alignment_bytes == 32,
          "those of the first");
    CHECK(all.n_elems == 40, "%" PRIu64 " elements", all.n_elems);
    ggld_file_get_backing(file, &none);
    CHECK(none.fd == -1 && none.map == NULL, "a set has no bytes");
    CHECK(ggld_file_shard(file, 3) == NULL, "no fourth");
    for (uint32_t s = 0; s < 3; s++) {
        const ggld_file *shard = ggld_file_shard(file, s);
        ggld_file_info one = info_of(shard);
        ggld_backing backing = { .struct_size = sizeof backing };
        image img = shards_image(set, s);
        uint8_t *bytes = malloc(img.size);
        ggld_error err;

        ggld_file_get_backing(shard, &backing);
        CHECK((backing.fd >= 0) == ((flags & GGLD_OPEN_COPY) == 0),
              "shard %" PRIu32 ": fd %d", s, backing.fd);
        CHECK(one.shard == s && one.n_shards == 1, "shard %" PRIu32, s);
        CHECK(one.version == set->at[s].version, "version %" PRIu32,
              one.version);
        CHECK(one.file_bytes == img.size, "%" PRIu64, one.file_bytes);
        CHECK(ggld_file_shard(shard, 0) == shard, "its own shard 0");
        CHECK(strcmp(ggld_file_path(shard), shards_path(set, s)) == 0, "%s",
              ggld_file_path(shard));
        CHECK_OK(ggld_file_read_bytes(shard, 0, bytes, img.size, &err), err,
                 "bytes");
        CHECK(memcmp(bytes, img.data, img.size) == 0, "shard %" PRIu32, s);
        CHECK(ggld_file_read_bytes(shard, 1, bytes, img.size, &err) ==
                      GGLD_E_TRUNCATED &&
                  err.shard == s &&
                  strstr(err.message, strrchr(shards_path(set, s), '/') + 1) !=
                      NULL,
              "%s", err.message);
        file_bytes += one.file_bytes;
        metadata_bytes += one.metadata_bytes;
        free(bytes);
        image_free(&img);
    }
    CHECK(all.file_bytes == file_bytes && all.metadata_bytes == metadata_bytes,
          "%" PRIu64 ", %" PRIu64, all.file_bytes, all.metadata_bytes);
    CHECK(all.data_bytes == file_bytes - metadata_bytes, "%" PRIu64,
          all.data_bytes);
}

static void expect_kvs(const ggld_file *file)
{
    uint64_t value = 0;
    CHECK(ggld_kv_count(file) == 5, "%" PRIu64, ggld_kv_count(file));
    CHECK(ggld_kv_get_u64(ggld_kv_find(file, "only.first"), &value) &&
              value == 7,
          "%" PRIu64, value);
    CHECK(ggld_kv_get_u64(ggld_kv_find(file, "split.no"), &value) && value == 0,
          "%" PRIu64, value);
    const ggld_file *second = ggld_file_shard(file, 1);
    CHECK(ggld_kv_find(second, "only.first") == NULL, "the first's alone");
    CHECK(ggld_kv_get_u64(ggld_kv_find(second, "split.no"), &value) &&
              value == 1,
          "%" PRIu64, value);
}

static void test_every_shard_opens_the_set(void)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_COPY, GGLD_OPEN_PREAD,
                                      GGLD_OPEN_METADATA };
    shards set = shards_mixed();
    ggld_error err;
    char byte;
    shards_write(&set);
    for (uint32_t s = 0; s < 3; s++)
        for (size_t m = 0; m < 4; m++) {
            const char *path = shards_path(&set, s);
            ggld_file *file = open_set(path, modes[m]);
            CHECK(strcmp(ggld_file_path(file), path) == 0, "%s",
                  ggld_file_path(file));
            expect_tensors(file);
            expect_shard_tensors(file);
            expect_infos(&set, file, modes[m]);
            expect_kvs(file);
            CHECK_OK(ggld_file_changed(file, &err), err, "changed");
            CHECK(ggld_file_read_bytes(file, 0, &byte, 1, &err) ==
                      GGLD_E_UNSUPPORTED,
                  "a set has no offsets");
            ggld_close(file);
        }
    shards_remove(&set);
}

/* ---- one alone ---- */

static void expect_single(const ggld_file *file, uint32_t s)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    const ggld_tensor *t = ggld_tensor_at(file, 0);
    CHECK(info_of(file).n_shards == 1 && ggld_tensor_count(file) == 1, "alone");
    ggld_tensor_get_info(t, &info);
    CHECK(info.shard == 0 && info.index == 0, "shard %" PRIu32, info.shard);
    CHECK(ggld_file_shard(file, 0) == file && ggld_file_shard(file, 1) == NULL,
          "its own shard");
    expect_values(t, s, 0);
}

static void test_one_opens_alone(void)
{
    shards set = shards_new(3);
    set.at[0].absent = true;
    set.at[2].name = "other.gguf";
    shards_write(&set);
    for (uint32_t s = 1; s < 3; s++) {
        const char *path = shards_path(&set, s);
        ggld_open_options options = ggld_open_options_init();
        findings found = { 0 };
        ggld_file *file = open_set(path, GGLD_OPEN_SINGLE);
        ggld_error err;
        expect_single(file, s);
        CHECK(strcmp(ggld_file_path(file), path) == 0, "its path");
        ggld_close(file);

        int fd = open(path, O_RDONLY);
        CHECK_OK(ggld_open_fd(&file, fd, NULL, &err), err, "fd");
        expect_single(file, s);
        CHECK(ggld_file_path(file) == NULL, "it has no path");
        ggld_close(file);
        close(fd);

        options.flags = GGLD_OPEN_SINGLE;
        CHECK_OK(ggld_check_path(path, &options, findings_hear, &found, &err),
                 err, "check");
        CHECK(found.count == 0, "%zu findings: %s", found.count,
              found.error[0].message);
    }
    shards_remove(&set);
}

/* ---- names ---- */

static void test_links_and_relative_names(void)
{
    shards set = shards_new(2);
    char links[80], link_path[2][128], here[512];
    shards_write(&set);
    strcpy(links, "/tmp/ggld-links-XXXXXX");
    CHECK(mkdtemp(links) != NULL && getcwd(here, sizeof here) != NULL,
          "mkdtemp");
    for (uint32_t s = 0; s < 2; s++) {
        snprintf(link_path[s], sizeof link_path[s], "%s/l-%05u-of-00002.gguf",
                 links, s + 1);
        CHECK(symlink(shards_path(&set, s), link_path[s]) == 0, "symlink");
    }
    ggld_file *file = open_set(link_path[1], 0);
    CHECK(info_of(file).n_shards == 2, "through links");
    ggld_close(file);

    CHECK(chdir(set.folder) == 0, "chdir");
    file = open_set("m-00002-of-00002.gguf", 0);
    CHECK(strcmp(ggld_file_path(ggld_file_shard(file, 0)),
                 "m-00001-of-00002.gguf") == 0,
          "%s", ggld_file_path(ggld_file_shard(file, 0)));
    ggld_close(file);
    CHECK(chdir(here) == 0, "chdir");
    for (uint32_t s = 0; s < 2; s++)
        unlink(link_path[s]);
    rmdir(links);
    shards_remove(&set);
}

/* ---- errors of shards that are open ---- */

static bool is_about(const ggld_error *err, const shards *set, uint32_t s)
{
    return err->shard == s &&
           strstr(err->message, strrchr(shards_path(set, s), '/') + 1) != NULL;
}

static void test_errors_name_the_shard(void)
{
    shards set = shards_mixed();
    set.at[2].cut = 16;
    shards_write(&set);
    ggld_file *file = open_set(shards_path(&set, 0), GGLD_OPEN_METADATA);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "e")), part;
    float values[8];
    ggld_error err;
    CHECK(ggld_view_read_f32(&view, values, 8, &err) == GGLD_E_TRUNCATED &&
              is_about(&err, &set, 2) && err.index == 4,
          "index %" PRIu64 ": %s", err.index, err.message);
    CHECK(ggld_view_rows(&part, &view, 3, 1, &err) == GGLD_E_INVALID &&
              is_about(&err, &set, 2),
          "%s", err.message);
    view = ggld_tensor_view(ggld_tensor_find(file, "c"));
    expect_values(view.tensor, 1, 0);

    CHECK(truncate(shards_path(&set, 1), 40) == 0, "truncate");
    CHECK(ggld_file_changed(file, &err) == GGLD_E_CHANGED &&
              is_about(&err, &set, 1),
          "%s", err.message);
    ggld_close(file);
    shards_remove(&set);
}

static void test_a_shard_that_ends_while_it_is_read(void)
{
    shards set = shards_new(2);
    float values[8];
    ggld_error err;
    shards_write(&set);
    ggld_file *file = open_set(shards_path(&set, 0), GGLD_OPEN_PREAD);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "t1"));
    CHECK(truncate(shards_path(&set, 1), 40) == 0, "truncate");
    CHECK(ggld_view_read_f32(&view, values, 8, &err) == GGLD_E_TRUNCATED &&
              is_about(&err, &set, 1),
          "%s", err.message);
    ggld_close(file);
    shards_remove(&set);
}

static void test_a_check_hears_of_every_shard(void)
{
    shards set = shards_new(5);
    findings found = { 0 };
    ggld_error err;
    set.at[1].absent = set.at[3].absent = true;
    set.at[4].cut = 1;
    shards_write(&set);
    CHECK_OK(ggld_check_path(shards_path(&set, 2), NULL, findings_hear, &found,
                             &err),
             err, "check");
    CHECK(found.count == 4, "expected 4 findings, got %zu", found.count);
    for (size_t i = 0; i < 2; i++)
        CHECK(is_about(&found.error[i], &set, i == 0 ? 1 : 3) &&
                  found.error[i].code == GGLD_E_IO &&
                  found.error[i].sys_errno == ENOENT &&
                  strstr(found.error[i].message,
                         "file: the shard is missing") != NULL,
              "expected GGLD_E_IO, 'file: the shard is missing', got %s, '%s'",
              ggld_status_name(found.error[i].code), found.error[i].message);
    CHECK(is_about(&found.error[2], &set, 4) &&
              found.error[2].code == GGLD_E_TRUNCATED,
          "%s", found.error[2].message);
    shards_remove(&set);
}

static void test_a_name_without_keys_is_worth_a_word(void)
{
    shards set = shards_new(2);
    findings found = { 0 };
    ggld_error err;
    set.at[1].no.type = set.at[1].count.type = set.at[1].total.type = NONE;
    shards_write(&set);
    CHECK_OK(ggld_check_path(shards_path(&set, 1), NULL, findings_hear, &found,
                             &err),
             err, "check");
    CHECK(found.count == 1 && found.severity[0] == GGLD_WARNING &&
              found.error[0].code == GGLD_E_SHARD &&
              strcmp(found.error[0].message,
                     "file: by its name it is shard 2 of 2, by its keys a "
                     "whole model: it opens alone") == 0,
          "%zu findings: %s", found.count, found.error[0].message);
    shards_remove(&set);
}

static void test_what_is_no_file_is_named(void)
{
    shards set = shards_new(2);
    findings found = { 0 };
    ggld_file *file;
    ggld_error err;
    set.at[1].absent = true;
    shards_write(&set);
    CHECK(mkdir(shards_path(&set, 1), 0700) == 0, "mkdir");
    CHECK(ggld_open_path(&file, shards_path(&set, 0), NULL, &err) ==
                  GGLD_E_MAGIC &&
              is_about(&err, &set, 1),
          "%s", err.message);
    CHECK_OK(ggld_check_path(shards_path(&set, 0), NULL, findings_hear, &found,
                             &err),
             err, "check");
    CHECK(found.count == 1 && found.error[0].code == GGLD_E_MAGIC &&
              is_about(&found.error[0], &set, 1),
          "%zu: %s", found.count, found.error[0].message);
    rmdir(shards_path(&set, 1));
    shards_remove(&set);
}

/* ---- the verifier ---- */

typedef struct asked {
    uint32_t n_metadata, n_ranges, n_released;
    uint32_t refuse_at; /* this metadata */
    uint64_t metadata_bytes;
    uint32_t last_shard;
    uint64_t last_offset;
} asked;

static ggld_status on_metadata(void *ctx, const void *data, size_t size,
                               ggld_error *err)
{
    asked *a = ctx;
    (void)data;
    (void)err;
    a->metadata_bytes += size;
    return a->n_metadata++ == a->refuse_at ? GGLD_E_CHECKSUM : GGLD_OK;
}

static ggld_status on_shard(void *ctx, const ggld_file *shard, const void *data,
                            size_t size, ggld_error *err)
{
    asked *a = ctx;
    CHECK(info_of(shard).shard == a->n_metadata, "in order");
    CHECK(info_of(shard).metadata_bytes == size, "%zu bytes", size);
    CHECK(ggld_file_path(shard) != NULL, "its path");
    return on_metadata(ctx, data, size, err);
}

static ggld_status on_range(void *ctx, const ggld_file *file, uint64_t offset,
                            uint64_t size, ggld_error *err)
{
    asked *a = ctx;
    (void)size;
    (void)err;
    a->n_ranges++;
    a->last_shard = info_of(file).shard;
    a->last_offset = offset;
    return GGLD_OK;
}

static void on_release(void *ctx)
{
    ((asked *)ctx)->n_released++;
}

static void test_a_verifier_is_asked_shard_by_shard(void)
{
    shards set = shards_mixed();
    shards_write(&set);
    for (int with_shard = 0; with_shard < 2; with_shard++) {
        asked a = { .refuse_at = UINT32_MAX };
        ggld_verifier v = { sizeof v, on_metadata,
                            on_range, on_release,
                            &a,       with_shard != 0 ? on_shard : NULL };
        ggld_open_options options = ggld_open_options_init();
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_file *file = NULL;
        ggld_error err;
        options.verifier = &v;
        CHECK_OK(ggld_open_path(&file, shards_path(&set, 1), &options, &err),
                 err, "open");
        CHECK(a.n_metadata == 3 &&
                  a.metadata_bytes == info_of(file).metadata_bytes,
              "%" PRIu32 " shards, %" PRIu64 " bytes", a.n_metadata,
              a.metadata_bytes);
        const ggld_tensor *t = ggld_tensor_find(file, "e");
        ggld_tensor_get_info(t, &info);
        expect_values(t, 2, 1);
        CHECK(a.n_ranges == 1 && a.last_shard == 2 &&
                  a.last_offset == info.file_offset_bytes,
              "shard %" PRIu32, a.last_shard);
        ggld_close(file);
        CHECK(a.n_released == 1, "released %" PRIu32 " times", a.n_released);

        asked no = { .refuse_at = 1 };
        v.ctx = &no;
        file = NULL;
        CHECK(ggld_open_path(&file, shards_path(&set, 2), &options, &err) ==
                      GGLD_E_CHECKSUM &&
                  is_about(&err, &set, 1) && file == NULL && no.n_released == 0,
              "%s", err.message);
    }
    shards_remove(&set);
}

/* ---- holders, memory ---- */

static void test_a_shard_holds_the_set(void)
{
    shards set = shards_mixed();
    shards_write(&set);
    ggld_file *file = open_set(shards_path(&set, 0), 0);
    ggld_file *shard =
        ggld_file_ref((ggld_file *)(uintptr_t)ggld_file_shard(file, 2));
    const ggld_tensor *t = ggld_tensor_find(file, "e");
    ggld_close(file);
    expect_values(t, 2, 1);
    ggld_close(shard);
    shards_remove(&set);
}

static void test_memory_is_told_and_given_back(void)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_COPY, GGLD_OPEN_PREAD };
    shards set = shards_mixed();
    shards_write(&set);
    for (size_t m = 0; m < 3; m++) {
        heap h = { .fail_at = HEAP_NEVER_FAILS };
        ggld_allocator allocator = heap_allocator(&h);
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file = NULL;
        ggld_error err;
        options.allocator = &allocator;
        options.flags = modes[m];
        CHECK_OK(ggld_open_path(&file, shards_path(&set, 1), &options, &err),
                 err, "open");
        CHECK(info_of(file).heap_bytes == h.live_bytes,
              "says %" PRIu64 ", holds %" PRIu64, info_of(file).heap_bytes,
              h.live_bytes);
        ggld_close(file);
        CHECK(h.live_bytes == 0, "%" PRIu64 " leaked", h.live_bytes);
    }
    shards_remove(&set);
}

static void ignore(ggld_severity severity, const ggld_error *finding,
                   void *user)
{
    (void)severity;
    (void)finding;
    (void)user;
}

/* The allocation of that number, and those behind it unless once, fail: false
 * once there is none of that number. */
static bool survives(const char *path, uint64_t number, bool once, bool check)
{
    heap h = { .fail_at = number, .fail_once = once };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;
    options.allocator = &allocator;
    ggld_status status =
        check ? ggld_check_path(path, &options, ignore, NULL, &err)
              : ggld_open_path(&file, path, &options, &err);
    bool failed = h.n_calls > number;
    CHECK(status == (failed ? GGLD_E_NOMEM : GGLD_OK),
          "allocation %" PRIu64 ", check %d: %d", number, check, status);
    ggld_close(file);
    CHECK(h.live_bytes == 0, "allocation %" PRIu64 " leaks", number);
    return failed;
}

static void test_no_memory_at_any_point_leaves_nothing(void)
{
    shards set = shards_mixed();
    shards ill = shards_new(2);
    ill.at[1].name = "other.gguf";
    shards_write(&set);
    shards_write(&ill);
    for (int way = 0; way < 4; way++) {
        uint64_t n = 0;
        while (survives(shards_path(&set, 1), n, way % 2 == 0, way / 2 == 0) &&
               n < 200)
            n++;
        CHECK(n > 20 && n < 200, "%" PRIu64 " allocations", n);
    }
    /* Of a name that does not fit. */
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator allocator = heap_allocator(&h);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.allocator = &allocator;
    CHECK(ggld_open_path(&file, shards_path(&ill, 1), &options, NULL) ==
              GGLD_E_SHARD,
          "renamed");
    h.fail_at = h.n_calls - 1;
    h.n_calls = 0;
    CHECK(ggld_open_path(&file, shards_path(&ill, 1), &options, NULL) ==
              GGLD_E_NOMEM,
          "renamed, and no memory to say so");
    CHECK(h.live_bytes == 0, "%" PRIu64 " leaked", h.live_bytes);
    shards_remove(&set);
    shards_remove(&ill);
}

static void test_max_tensors_is_of_the_set(void)
{
    shards set = shards_new(3);
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    ggld_error err;
    shards_write(&set);
    options.max_tensors = 2;
    CHECK(ggld_open_path(&file, shards_path(&set, 0), &options, &err) ==
                  GGLD_E_LIMIT &&
              strcmp(err.message, "file: the shards have 3 tensors together, "
                                  "past the limit of 2") == 0,
          "%s", err.message);
    options.max_tensors = 3;
    CHECK_OK(ggld_open_path(&file, shards_path(&set, 0), &options, &err), err,
             "3 are 3");
    ggld_close(file);
    shards_remove(&set);
}

int main(void)
{
    test_every_shard_opens_the_set();
    test_one_opens_alone();
    test_links_and_relative_names();
    test_errors_name_the_shard();
    test_a_shard_that_ends_while_it_is_read();
    test_a_check_hears_of_every_shard();
    test_a_name_without_keys_is_worth_a_word();
    test_what_is_no_file_is_named();
    test_a_verifier_is_asked_shard_by_shard();
    test_a_shard_holds_the_set();
    test_memory_is_told_and_given_back();
    test_no_memory_at_any_point_leaves_nothing();
    test_max_tensors_is_of_the_set();
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
