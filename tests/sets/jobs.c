/* SPDX-License-Identifier: MIT */
/* Jobs over a set: shard by shard in file order, each byte from its own shard,
 * with every engine; one shard alone; errors with the shard's name. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "../jobs/check.h"
#include "shards.h"

/* Larger than any chunk's gap, and than half of an extent. */
#define N_ELEMS 240000u

static const uint32_t places[] = { 0, 1, 0, 0, 1 }; /* in the shard */

typedef struct seen {
    outcome end; /* first: done's user */
    pthread_mutex_t lock;
    uint32_t format;
    bool in_order;
    uint64_t n_elems, n_bytes;
    uint64_t shards_seen; /* bits */
    uint32_t last_shard;
    uint64_t last_offset;
    uint64_t n_wrong;
} seen;

static float value_at(const ggld_chunk *chunk, bool big_endian, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)chunk->data + 4 * i;
    uint8_t bytes[4];
    float value;
    if (!big_endian) {
        memcpy(&value, p, 4);
        return value;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (size_t b = 0; b < 4; b++)
        bytes[b] = p[3 - b];
#else
    memcpy(bytes, p, 4);
#endif
    memcpy(&value, bytes, 4);
    return value;
}

static int see(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    seen *s = user;
    ggld_tensor_info info = { sizeof info };
    (void)job;
    ggld_tensor_get_info(chunk->tensor, &info);
    bool swapped = s->format == GGLD_STREAM_BYTES && info.big_endian;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < chunk->n_elems; i++)
        wrong += value_at(chunk, swapped, i) !=
                 shards_value(info.shard, places[info.index],
                              (uint32_t)(chunk->first_elem + i));
    uint64_t at = info.file_offset_bytes + chunk->first_byte;
    pthread_mutex_lock(&s->lock);
    s->n_wrong += wrong;
    s->n_elems += chunk->n_elems;
    s->n_bytes += chunk->size_bytes;
    if (s->in_order)
        CHECK(info.shard > s->last_shard ||
                  (info.shard == s->last_shard && at >= s->last_offset),
              "shard %u, offset %llu behind shard %u, offset %llu", info.shard,
              (unsigned long long)at, s->last_shard,
              (unsigned long long)s->last_offset);
    s->last_shard = info.shard;
    s->last_offset = at;
    s->shards_seen |= UINT64_C(1) << info.shard;
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static ggld_file *open_set(const char *path, uint32_t flags)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err = { .message = "" };
    options.flags = flags;
    if (ggld_open_path(&file, path, &options, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    return file;
}

static ggld_status stream(seen *s, ggld_file *file, const ggld_view *views,
                          size_t n_views, const ggld_stream_options *options)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err = { .message = "" };
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->format = options->format;
    s->in_order = (options->flags & GGLD_STREAM_ON_WORKERS) == 0;
    uv_loop_init(&loop);
    ggld_status status = ggld_stream_start(&job, &loop, file, views, n_views,
                                           options, see, outcome_done, s, &err);
    CHECK(status == GGLD_OK, "start: %s", err.message);
    loop_finish(&loop, "stream");
    pthread_mutex_destroy(&s->lock);
    return s->end.result.code;
}

static void expect_all(const seen *s, const char *what)
{
    CHECK(s->end.result.code == GGLD_OK, "%s: %s", what, s->end.result.message);
    CHECK(s->n_wrong == 0, "%s: %llu wrong values", what,
          (unsigned long long)s->n_wrong);
    CHECK(s->n_elems == 5 * N_ELEMS && s->shards_seen == 7,
          "%s: %llu elements, shards %llx", what,
          (unsigned long long)s->n_elems, (unsigned long long)s->shards_seen);
}

static void test_streams_give_each_shard_its_bytes(const shards *set)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_PREAD, GGLD_OPEN_COPY };
    for (size_t m = 0; m < 3; m++) {
        ggld_file *file = open_set(shards_path(set, 1), modes[m]);
        for (uint32_t i = 0; i < 5 * 2 * 2 * 2; i++) {
            ggld_stream_options options = ggld_stream_options_init();
            char what[96];
            seen s;
            options.io = i % 5;
            options.flags = i / 5 % 2 != 0 ? GGLD_STREAM_ON_WORKERS : 0;
            options.format = i / 10 % 2;
            options.max_resident_bytes = i / 20 % 2 != 0 ? 6u << 20 : 0;
            snprintf(what, sizeof what,
                     "mode %u, io %u, flags %u, format %u, budget %llu",
                     modes[m], options.io, options.flags, options.format,
                     (unsigned long long)options.max_resident_bytes);
            ggld_status status = stream(&s, file, NULL, 0, &options);
            bool offered = options.io == 0 ||
                           (modes[m] != GGLD_OPEN_COPY &&
                            (options.io != GGLD_IO_MAP || modes[m] == 0));
            if (status == GGLD_E_UNSUPPORTED &&
                (!offered || options.io == GGLD_IO_URING))
                continue;
            /* Where the file system has no direct reads. */
            if (status == GGLD_E_IO && options.io >= GGLD_IO_DIRECT)
                continue;
            expect_all(&s, what);
        }
        ggld_close(file);
    }
}

static void test_one_shard_streams_alone(const shards *set)
{
    ggld_stream_options options = ggld_stream_options_init();
    ggld_file *file = open_set(shards_path(set, 0), 0);
    ggld_file *shard = (ggld_file *)(uintptr_t)ggld_file_shard(file, 2);
    ggld_view views[] = { ggld_tensor_view(ggld_tensor_find(file, "e")),
                          ggld_tensor_view(ggld_tensor_find(file, "a")) };
    seen s;
    stream(&s, shard, NULL, 0, &options);
    CHECK(s.n_elems == 2 * N_ELEMS && s.shards_seen == 4 && s.n_wrong == 0,
          "%llu elements", (unsigned long long)s.n_elems);
    stream(&s, shard, views, 1, &options);
    CHECK(s.n_elems == N_ELEMS && s.shards_seen == 4 && s.n_wrong == 0, "%s",
          s.end.result.message);
    CHECK(stream(&s, shard, views, 2, &options) == GGLD_E_INVALID,
          "'a' is of another shard");
    stream(&s, file, views, 2, &options);
    CHECK(s.n_elems == 2 * N_ELEMS && s.shards_seen == 5 && s.n_wrong == 0,
          "%s", s.end.result.message);
    ggld_close(file);
}

/* ---- warming ---- */

static uint64_t resident(const ggld_file *file)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_view view = ggld_tensor_view(ggld_tensor_at(file, i));
        uint64_t bytes = 0;
        ggld_error err;
        CHECK(ggld_residency(&view, &bytes, &err) == GGLD_OK, "%s",
              err.message);
        sum += bytes;
    }
    return sum;
}

static void prefetch(const ggld_file *file, const ggld_prefetch_options *how,
                     outcome *end)
{
    ggld_view views[5];
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    for (uint64_t i = 0; i < 5; i++)
        views[i] = ggld_tensor_view(ggld_tensor_at(file, 4 - i));
    memset(end, 0, sizeof *end);
    uv_loop_init(&loop);
    CHECK(ggld_prefetch_start(&job, &loop, views, 5, how, outcome_done, end,
                              &err) == GGLD_OK,
          "%s", err.message);
    loop_finish(&loop, "prefetch");
}

static void test_prefetch_warms_every_shard(const shards *set)
{
    static const uint32_t kinds[] = { GGLD_IO_AUTO, GGLD_IO_MAP,
                                      GGLD_IO_PREAD };
    ggld_file *file = open_set(shards_path(set, 0), 0);
    for (size_t k = 0; k < 3; k++) {
        ggld_prefetch_options how = ggld_prefetch_options_init();
        outcome end;
        how.io = kinds[k];
        how.progress = outcome_progress;
        for (uint64_t i = 0; i < 5; i++) {
            ggld_view view = ggld_tensor_view(ggld_tensor_at(file, i));
            CHECK(ggld_view_advise(&view, GGLD_ADVISE_DROP, NULL) == GGLD_OK,
                  "drop");
        }
        prefetch(file, &how, &end);
        outcome_check(&end, GGLD_OK, "prefetch");
        CHECK(end.done_bytes == 5 * 4 * (uint64_t)N_ELEMS, "%llu",
              (unsigned long long)end.done_bytes);
        uint64_t warm = resident(file);
        CHECK(warm == 5 * 4 * (uint64_t)N_ELEMS ||
                  warm >= GGLD_RESIDENT_UNKNOWN - 4,
              "kind %u: %llu are resident", kinds[k], (unsigned long long)warm);
    }
    ggld_close(file);
}

/* ---- errors ---- */

static bool is_about(const ggld_error *err, const shards *set, uint32_t s)
{
    return err->shard == s &&
           strstr(err->message, strrchr(shards_path(set, s), '/') + 1) != NULL;
}

static void test_a_shard_that_has_become_shorter_is_named(shards *set)
{
    static const uint32_t kinds[] = { GGLD_IO_MAP, GGLD_IO_PREAD };
    ggld_file *file = open_set(shards_path(set, 0), 0);
    CHECK(truncate(shards_path(set, 1), 4096) == 0, "truncate");
    for (size_t k = 0; k < 2; k++) {
        ggld_stream_options options = ggld_stream_options_init();
        ggld_prefetch_options how = ggld_prefetch_options_init();
        outcome end;
        seen s;
        options.io = how.io = kinds[k];
        CHECK(stream(&s, file, NULL, 0, &options) == GGLD_E_TRUNCATED &&
                  is_about(&s.end.result, set, 1) && s.end.result.index == 2,
              "%s", s.end.result.message);
        prefetch(file, &how, &end);
        CHECK(end.result.code == GGLD_E_TRUNCATED &&
                  is_about(&end.result, set, 1),
              "%s", end.result.message);
    }
    ggld_close(file);
    file = open_set(shards_path(set, 0), GGLD_OPEN_METADATA);
    ggld_stream_options options = ggld_stream_options_init();
    seen s;
    CHECK(stream(&s, file, NULL, 0, &options) == GGLD_E_TRUNCATED &&
              is_about(&s.end.result, set, 1) && s.n_bytes == 0,
          "%s", s.end.result.message);
    ggld_close(file);
}

/* Mapped pages that are gone, with the guard. */
static void test_a_guarded_read_names_the_shard(void)
{
    shards set = shards_mixed();
    ggld_error err;
    float *values = malloc(N_ELEMS * sizeof *values);
    set.n_elems = N_ELEMS;
    shards_write(&set);
    ggld_file *file = open_set(shards_path(&set, 2), 0);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "c"));
    MUST(ggld_guard_install(&err), err);
    CHECK(truncate(shards_path(&set, 1), 4096) == 0, "truncate");
    CHECK(ggld_view_read_f32(&view, values, N_ELEMS, &err) == GGLD_E_IO &&
              is_about(&err, &set, 1) && err.index == 2,
          "%s", err.message);
    view = ggld_tensor_view(ggld_tensor_find(file, "d"));
    CHECK(ggld_view_read_f32(&view, values, N_ELEMS, &err) == GGLD_OK, "%s",
          err.message);
    ggld_guard_remove();
    ggld_close(file);
    free(values);
    shards_remove(&set);
}

static void test_open_job_opens_the_set(const shards *set)
{
    uv_loop_t loop;
    ggld_job *job;
    outcome end = { 0 };
    ggld_error err;
    uv_loop_init(&loop);
    MUST(ggld_open_start(&job, &loop, shards_path(set, 2), NULL, outcome_opened,
                         &end, &err),
         err);
    loop_finish(&loop, "open");
    outcome_check(&end, GGLD_OK, "open");
    CHECK(end.file != NULL && ggld_tensor_count(end.file) == 5, "the set");
    ggld_close(end.file);
}

int main(void)
{
    shards set = shards_mixed();
    set.n_elems = N_ELEMS;
    loop_warm_up();
    shards_write(&set);
    int fds = count_fds();
    test_streams_give_each_shard_its_bytes(&set);
    test_one_shard_streams_alone(&set);
    test_prefetch_warms_every_shard(&set);
    test_open_job_opens_the_set(&set);
    test_a_guarded_read_names_the_shard();
    test_a_shard_that_has_become_shorter_is_named(&set);
    CHECK(count_fds() == fds, "expected %d descriptors, got %d", fds,
          count_fds());
    shards_remove(&set);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
