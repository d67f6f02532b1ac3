/* SPDX-License-Identifier: MIT */
/* Every allocation of libggld-uv fails in its turn: jobs, manifests, verifiers
 * say so once, clean up, and the loop closes. Not in the libraries that it
 * uses. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../jobs/check.h"
#include "../write/no_heap.h"
#include "support.h"

static char *path;
static ggld_manifest *known; /* of the file, whole and chunks */
static char *texts[GGLD_MANIFEST_IN_TOTO + 1];
static size_t text_sizes[GGLD_MANIFEST_IN_TOTO + 1];

/* ---- what is tried: each gives its status, and frees what it got ---- */

typedef struct ended {
    ggld_error result;
    ggld_manifest *manifest;
    ggld_verify_report *report;
    ggld_file *file;
} ended;

static void on_done(ggld_job *job, const ggld_error *result, void *user)
{
    (void)job;
    ((ended *)user)->result = *result;
}

static void on_hashed(ggld_job *job, ggld_manifest *manifest,
                      const ggld_error *result, void *user)
{
    on_done(job, result, user);
    ((ended *)user)->manifest = manifest;
}

static void on_verified(ggld_job *job, ggld_verify_report *report,
                        const ggld_error *result, void *user)
{
    on_done(job, result, user);
    ((ended *)user)->report = report;
}

static void on_opened(ggld_job *job, ggld_file *file, const ggld_error *result,
                      void *user)
{
    on_done(job, result, user);
    ((ended *)user)->file = file;
}

static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk, (void)user;
    return 0;
}

typedef enum what {
    OPEN,
    PREFETCH,
    STREAM,
    STREAM_WORKERS,
    HASH,
    HASH_WHOLE,
    VERIFY,
    VERIFY_WHOLE,
    VERIFIER,
    PARSE,
    WRITE,
    CACHE,
    N_WHAT
} what;

static const char *const names[] = {
    "open",     "prefetch",   "stream", "stream on workers",
    "hash",     "hash whole", "verify", "verify whole",
    "verifier", "parse",      "write",  "cache"
};

static ggld_status start(what w, uv_loop_t *loop, ggld_file *file, int fd,
                         ended *e, ggld_error *err)
{
    ggld_job *job;
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 0));
    ggld_stream_options stream = ggld_stream_options_init();
    ggld_hash_options hash = hash_options(
        BIT_XXH3 | BIT_SHA256,
        GGLD_SCOPE_FILE | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS, "m");
    hash.flags = GGLD_HASH_KEEP_CACHE;
    stream.format = GGLD_STREAM_F32;
    stream.flags = w == STREAM_WORKERS ? GGLD_STREAM_ON_WORKERS : 0;
    switch (w) {
    case OPEN:
        return ggld_open_start(&job, loop, path, NULL, on_opened, e, err);
    case PREFETCH:
        return ggld_prefetch_start(&job, loop, &view, 1, NULL, on_done, e, err);
    case STREAM:
    case STREAM_WORKERS:
        return ggld_stream_start(&job, loop, file, NULL, 0, &stream, on_chunk,
                                 on_done, e, err);
    case HASH:
        return ggld_hash_start(&job, loop, file, &hash, on_hashed, e, err);
    case HASH_WHOLE:
        hash = hash_options(BIT_SHA256 | BIT_XXH3, 0, "m");
        return ggld_hash_whole_start(&job, loop, fd, &hash, on_hashed, e, err);
    case VERIFY:
        return ggld_verify_start(&job, loop, file, known, NULL, on_verified, e,
                                 err);
    default:
        return ggld_verify_whole_start(&job, loop, fd, known, NULL, on_verified,
                                       e, err);
    }
}

static ggld_status run_job(what w, ggld_file *file, int fd, ggld_error *err)
{
    ended e = { .file = NULL };
    uv_loop_t loop;
    uv_loop_init(&loop);
    ggld_status status = start(w, &loop, file, fd, &e, err);
    loop_finish(&loop, names[w]);
    if (status == GGLD_OK) {
        *err = e.result;
        status = e.result.code;
    }
    CHECK(status == GGLD_OK ||
              (e.manifest == NULL && e.report == NULL && e.file == NULL),
          "%s: expected a result with success only", names[w]);
    ggld_manifest_free(e.manifest);
    ggld_verify_report_free(e.report);
    ggld_close(e.file);
    return status;
}

static ggld_status make_verifier(ggld_error *err)
{
    ggld_verifier verifier;
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    float value;
    ggld_status status =
        ggld_verifier_from_manifest(&verifier, known, NULL, err);
    if (status != GGLD_OK)
        return status;
    options.verifier = &verifier;
    status = ggld_open_path(&file, path, &options, err);
    if (status != GGLD_OK) {
        verifier.release(verifier.ctx);
        return status;
    }
    ggld_view view = ggld_tensor_view(ggld_tensor_at(file, 0));
    status = ggld_view_elems(&view, &view, 0, 1, err);
    if (status == GGLD_OK)
        status = ggld_view_read_f32(&view, &value, 1, err);
    ggld_close(file);
    return status;
}

static ggld_status parse_all(ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t f = 1; f <= GGLD_MANIFEST_IN_TOTO && status == GGLD_OK; f++) {
        ggld_manifest *m = NULL;
        status = parse_text(&m, texts[f], text_sizes[f], f, err);
        ggld_manifest_free(m);
    }
    return status;
}

static ggld_status write_all(ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t f = 1; f <= GGLD_MANIFEST_IN_TOTO && status == GGLD_OK; f++) {
        char *text = NULL;
        size_t size;
        status = ggld_manifest_write(known, f, &text, &size, err);
        if (status == GGLD_OK)
            free(text);
    }
    return status;
}

static ggld_status make_cache(ggld_error *err)
{
    ggld_verify_cache *cache;
    ggld_status status = ggld_verify_cache_new(&cache, "/nowhere", err);
    if (status == GGLD_OK)
        ggld_verify_cache_free(cache);
    return status;
}

static ggld_status try(what w, ggld_file *file, int fd, ggld_error *err)
{
    switch (w) {
    case VERIFIER:
        return make_verifier(err);
    case PARSE:
        return parse_all(err);
    case WRITE:
        return write_all(err);
    case CACHE:
        return make_cache(err);
    default:
        return run_job(w, file, fd, err);
    }
}

typedef struct trial {
    what w;
    ggld_file *file;
    int fd;
} trial;

static ggld_status run_trial(void *user, ggld_error *err)
{
    const trial *t = user;
    return try(t->w, t->file, t->fd, err);
}

int main(void)
{
    ggld_file *file;
    ggld_error err;
    ggld_hash_options options =
        hash_options(BIT_XXH3 | BIT_SHA256,
                     GGLD_SCOPE_FILE | GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR |
                         GGLD_SCOPE_CHUNKS,
                     "no-memory.gguf");
    path = model_path("no-memory.gguf");
    model_write_abc(path);
    loop_warm_up();
    if (hash_path(path, &options, &known, &err) != GGLD_OK ||
        ggld_open_path(&file, path, NULL, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    for (uint32_t f = 1; f <= GGLD_MANIFEST_IN_TOTO; f++)
        texts[f] = manifest_text(known, f, &text_sizes[f]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int n_fds = count_fds();
    for (int w = 0; w < N_WHAT; w++) {
        trial t = { (what)w, file, fd };
        CHECK(fail_each_call(names[w], run_trial, &t) > 0,
              "%s: expected it to ask for memory", names[w]);
    }
    CHECK(count_fds() == n_fds, "expected %d descriptors, got %d", n_fds,
          count_fds());
    for (uint32_t f = 1; f <= GGLD_MANIFEST_IN_TOTO; f++)
        free(texts[f]);
    ggld_manifest_free(known);
    ggld_close(file);
    close(fd);
    unlink(path);
    free(path);
    return n_failed != 0;
}
