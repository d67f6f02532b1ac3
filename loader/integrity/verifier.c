/* SPDX-License-Identifier: MIT */
/* The verifier of an open file. Many threads may ask at once: what has been
 * found good is marked by one atomic byte each, so that two may check the same
 * chunk, and none goes on before it, or another thread, has seen it good. */
#include "verifier.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/tensor.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "cells.h"
#include "hash_work.h"
#include "manifest.h"
#include "verify.h"

/* Of a file; of a set there is one for each shard too. */
typedef struct verifier {
    ggld_manifest *manifest; /* selected */
    ggld_manifest *all;      /* it can speak of a set: unselected; or NULL */
    struct verifier **shards;
    uint32_t n_shards; /* 0: the file is no set */
    uint32_t mode;
    uint32_t n_threads;
    bool is_pinned; /* by the root of one file */
    bool unforgeable;
    _Atomic bool all_good;
    pthread_mutex_t lock; /* for checking everything, and making the cells */
    ggld_cells *_Atomic cells;
} verifier;

static ggld_status bad_metadata(const ggld_entry *entry, const ggld_digest *is,
                                ggld_error *err)
{
    char expected[GGLD_DIGEST_TEXT_MAX], actual[GGLD_DIGEST_TEXT_MAX];
    ggld_digest_text(&entry->digest, expected);
    ggld_digest_text(is, actual);
    return ggld_fail(err, GGLD_E_CHECKSUM,
                     ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0),
                     "metadata: expected %s %s, it is %s",
                     ggld_algo_name(is->algo), expected, actual);
}

static ggld_status check_metadata(void *ctx, const void *data, size_t size,
                                  ggld_error *err)
{
    const verifier *v = ctx;
    const ggld_subject *subject = &v->manifest->subjects[0];
    const ggld_entry *entry =
        ggld_manifest_best(v->manifest, GGLD_SCOPE_METADATA);
    ggld_digest is;
    if (subject->has_metadata_size && subject->metadata_bytes != size)
        return ggld_fail(err, GGLD_E_CHECKSUM,
                         ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0),
                         "metadata: the manifest has %" PRIu64
                         " bytes of it, the file %zu",
                         subject->metadata_bytes, size);
    if (entry == NULL)
        return GGLD_OK;
    ggld_status status =
        ggld_digest_of(&is, entry->digest.algo, data, size, err);
    if (status != GGLD_OK)
        return status;
    return ggld_digest_equal(&is, &entry->digest)
               ? GGLD_OK
               : bad_metadata(entry, &is, err);
}

/* ---- everything at once ---- */

static ggld_status compare_now(verifier *v, const ggld_file *file, bool of_set,
                               ggld_error *err)
{
    ggld_hash_request request;
    ggld_manifest *actual = NULL;
    ggld_verify_report *report = NULL;
    ggld_status status = ggld_verify_request_of(v->manifest, &request, err);
    if (status == GGLD_OK)
        status = ggld_verify_fits(v->manifest, file, err);
    if (status == GGLD_OK)
        status = ggld_hash_now(file, &request, v->n_threads, "", &actual, err);
    if (status == GGLD_OK)
        status = ggld_verify_compare(&report, v->manifest, actual, file, of_set,
                                     err);
    ggld_manifest_free(actual);
    if (status == GGLD_OK && !ggld_verify_report_good(report))
        status = ggld_fail(err, GGLD_E_CHECKSUM,
                           ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0), "%s",
                           ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
    return status;
}

/* The file, or each shard. */
static ggld_status compare_each(verifier *v, const ggld_file *file,
                                ggld_error *err)
{
    ggld_status status = GGLD_OK;
    if (v->n_shards == 0)
        return compare_now(v, file, false, err);
    /* A read knows its shard only, whose tensors are the set's. */
    if (ggld_tensor_count(file) != 0)
        file = ggld_tensor_file(ggld_tensor_at(file, 0));
    for (uint32_t i = 0; i < v->n_shards && status == GGLD_OK; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        if (shard == NULL)
            break;
        status = compare_now(v->shards[i], shard, true, err);
        if (status != GGLD_OK && err != NULL)
            err->shard = i;
    }
    return status;
}

ggld_status ggld_verifier_check_all(void *ctx, const ggld_file *file,
                                    ggld_error *err)
{
    verifier *v = ctx;
    ggld_status status = GGLD_OK;
    if (atomic_load_explicit(&v->all_good, memory_order_acquire))
        return GGLD_OK;
    pthread_mutex_lock(&v->lock);
    /* Whoever waited here finds it done. */
    if (!atomic_load_explicit(&v->all_good, memory_order_acquire)) {
        status = compare_each(v, file, err);
        if (status == GGLD_OK)
            ggld_verifier_trust(v);
    }
    pthread_mutex_unlock(&v->lock);
    return status;
}

void ggld_verifier_trust(void *ctx)
{
    verifier *v = ctx;
    atomic_store_explicit(&v->all_good, true, memory_order_release);
}

static ggld_status check_full(void *ctx, const ggld_file *file, uint64_t offset,
                              uint64_t size, ggld_error *err)
{
    (void)offset;
    (void)size;
    return ggld_verifier_check_all(ctx, file, err);
}

/* ---- on access ---- */

/* The cells are made at the first read: where tensors lie is not known before
 * the file is open. */
static ggld_status cells_of(verifier *v, const ggld_file *file,
                            ggld_cells **out, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    *out = atomic_load_explicit(&v->cells, memory_order_acquire);
    if (*out != NULL)
        return GGLD_OK;
    pthread_mutex_lock(&v->lock);
    *out = atomic_load_explicit(&v->cells, memory_order_acquire);
    if (*out == NULL) {
        status = ggld_cells_new(out, v->manifest, file, err);
        if (status == GGLD_OK)
            atomic_store_explicit(&v->cells, *out, memory_order_release);
    }
    pthread_mutex_unlock(&v->lock);
    return status;
}

static ggld_status check_on_access(void *ctx, const ggld_file *file,
                                   uint64_t offset, uint64_t size,
                                   ggld_error *err)
{
    verifier *v = ctx;
    ggld_cells *cells = NULL;
    if (size == 0 || atomic_load_explicit(&v->all_good, memory_order_acquire))
        return GGLD_OK;
    if (v->n_shards != 0) {
        ggld_file_info info = { .struct_size = sizeof info };
        ggld_file_get_info(file, &info);
        v = v->shards[info.shard];
    }
    ggld_status status = cells_of(v, file, &cells, err);
    return status == GGLD_OK ? ggld_cells_check(cells, file, offset, size, err)
                             : status;
}

/* ---- making ---- */

static void verifier_release(void *ctx)
{
    verifier *v = ctx;
    for (uint32_t i = 0; i < v->n_shards; i++) {
        verifier *shard = v->shards[i];
        ggld_cells_free(atomic_load(&shard->cells));
        ggld_manifest_free(shard->manifest);
        pthread_mutex_destroy(&shard->lock);
        free(shard);
    }
    free(v->shards);
    ggld_manifest_free(v->all);
    ggld_cells_free(atomic_load(&v->cells));
    ggld_manifest_free(v->manifest);
    pthread_mutex_destroy(&v->lock);
    free(v);
}

static uint32_t threads_of(const ggld_verifier_options *options)
{
    long n = options->n_threads;
    if (n == 0)
        n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1)
        n = 1;
    return n < GGLD_HASH_MAX_WORKERS ? (uint32_t)n : GGLD_HASH_MAX_WORKERS;
}

static bool reserved_are_zero(const uint64_t *reserved, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (reserved[i] != 0)
            return false;
    return true;
}

static ggld_status check_options(const ggld_verifier_options *options,
                                 ggld_error *err)
{
    if (options->struct_size != sizeof *options ||
        (options->flags & ~GGLD_VERIFIER_UNFORGEABLE) != 0 ||
        !reserved_are_zero(options->reserved, 3))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "verifier: options of %zu bytes, %zu are known, and "
                         "what is reserved must be 0",
                         options->struct_size, sizeof *options);
    if (options->mode > GGLD_VERIFY_FULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verifier: there is no mode %" PRIu32, options->mode);
    return GGLD_OK;
}

static ggld_status check_root(const ggld_manifest *m, const ggld_digest *root,
                              ggld_error *err)
{
    char expected[GGLD_DIGEST_TEXT_MAX], actual[GGLD_DIGEST_TEXT_MAX];
    if (root == NULL || ggld_digest_equal(root, &ggld_manifest_tree(m)->root))
        return GGLD_OK;
    if (ggld_manifest_tree(m)->algo == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verifier: a root is pinned, and the manifest has no "
                         "chunks");
    ggld_digest_text(root, expected);
    ggld_digest_text(&ggld_manifest_tree(m)->root, actual);
    return ggld_fail(err, GGLD_E_CHECKSUM, ggld_nowhere(),
                     "manifest: expected the pinned root %s, it has %s",
                     expected, actual);
}

/* Does the manifest have what the mode is to check? */
static ggld_status check_mode(const ggld_manifest *m, uint32_t mode,
                              ggld_error *err)
{
    if (mode == GGLD_VERIFY_METADATA &&
        ggld_manifest_best(m, GGLD_SCOPE_METADATA) == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verifier: the manifest has no digest of the "
                         "metadata");
    if (mode == GGLD_VERIFY_ON_ACCESS && ggld_manifest_tree(m)->algo == 0 &&
        ggld_manifest_best(m, GGLD_SCOPE_TENSOR) == NULL)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "verifier: the manifest has no digests of chunks or "
                         "tensors; verify in full");
    return GGLD_OK;
}

/* What of the data the mode goes by: on access chunks where there are some; in
 * full everything, so that one that stands is enough. */
static ggld_status check_strength(const ggld_manifest *m, uint32_t mode,
                                  ggld_error *err)
{
    uint32_t data = GGLD_SCOPE_FILE | GGLD_SCOPE_TENSORS | GGLD_SCOPE_TENSOR |
                    GGLD_SCOPE_CHUNKS;
    uint32_t sound = ggld_manifest_all_scopes(m) & ~ggld_manifest_forgeable(m);
    if (mode == GGLD_VERIFY_ON_ACCESS)
        data = ggld_manifest_tree(m)->algo != 0 ? GGLD_SCOPE_CHUNKS
                                                : GGLD_SCOPE_TENSOR;
    bool whole = mode == GGLD_VERIFY_FULL && (sound & GGLD_SCOPE_FILE) != 0;
    bool metadata = whole || (sound & GGLD_SCOPE_METADATA) != 0;
    if (metadata && (mode == GGLD_VERIFY_METADATA || (sound & data) != 0))
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                     "verifier: the manifest has no sha256 of the %s, and what "
                     "else it has a forger can match; make one with it (ggld "
                     "hash --chunks sha256)",
                     metadata ? "data, as this mode reads it" : "metadata");
}

/* A manifest of several files may come to speak of a set's. */
static ggld_status keep_all(verifier *v, const ggld_manifest *manifest,
                            ggld_error *err)
{
    if (manifest->n_subjects < 2 && manifest->format != GGLD_MANIFEST_LLAMA)
        return GGLD_OK;
    v->all = ggld_manifest_new();
    if (v->all == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verifier: no memory");
    return ggld_manifest_append(v->all, manifest, err);
}

static ggld_status verifier_fill(verifier *v, const ggld_manifest *manifest,
                                 const ggld_verifier_options *options,
                                 ggld_error *err)
{
    ggld_status status = keep_all(v, manifest, err);
    if (status == GGLD_OK)
        status =
            ggld_manifest_select(&v->manifest, manifest, options->path, err);
    if (status == GGLD_OK)
        status = check_root(v->manifest, options->root, err);
    if (status == GGLD_OK)
        status = check_mode(v->manifest, options->mode, err);
    if (status == GGLD_OK && v->unforgeable)
        status = check_strength(v->manifest, options->mode, err);
    return status;
}

/* ---- sets ---- */

static ggld_status add_shard(verifier *v, const char *path, ggld_error *err)
{
    verifier **shards =
        reallocarray(v->shards, v->n_shards + 1u, sizeof(verifier *));
    verifier *shard = calloc(1, sizeof *shard);
    if (shards != NULL)
        v->shards = shards;
    if (shards == NULL || shard == NULL) {
        free(shard);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verifier: no memory");
    }
    (void)pthread_mutex_init(&shard->lock, NULL);
    shard->mode = v->mode;
    shard->n_threads = v->n_threads;
    v->shards[v->n_shards++] = shard;
    ggld_status status =
        ggld_manifest_select(&shard->manifest, v->all, path, err);
    if (status == GGLD_OK)
        status = check_mode(shard->manifest, v->mode, err);
    if (status == GGLD_OK && v->unforgeable)
        status = check_strength(shard->manifest, v->mode, err);
    return status;
}

/* At open, in order; nobody else asks yet. */
static ggld_status check_shard(void *ctx, const ggld_file *file,
                               const void *data, size_t size, ggld_error *err)
{
    verifier *v = ctx;
    if (v->all == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "verifier: the manifest speaks of one file, and this "
                         "is a set: put those of all shards together");
    if (v->is_pinned)
        return ggld_fail(
            err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
            "verifier: a root is pinned, which is of one file, and "
            "this is a set: compare the root of each shard's "
            "manifest before they are put together");
    ggld_status status = add_shard(v, ggld_file_path(file), err);
    return status == GGLD_OK
               ? check_metadata(v->shards[v->n_shards - 1], data, size, err)
               : status;
}

ggld_status ggld_verifier_from_manifest(ggld_verifier *out,
                                        const ggld_manifest *manifest,
                                        const ggld_verifier_options *options,
                                        ggld_error *err)
{
    ggld_verifier_options standard = ggld_verifier_options_init();
    if (options == NULL)
        options = &standard;
    ggld_status status = check_options(options, err);
    if (status != GGLD_OK)
        return status;
    verifier *v = calloc(1, sizeof *v);
    if (v == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "verifier: no memory");
    (void)pthread_mutex_init(&v->lock, NULL);
    v->mode = options->mode;
    v->n_threads = threads_of(options);
    v->is_pinned = options->root != NULL;
    v->unforgeable = (options->flags & GGLD_VERIFIER_UNFORGEABLE) != 0;
    status = verifier_fill(v, manifest, options, err);
    if (status != GGLD_OK) {
        verifier_release(v);
        return status;
    }
    ggld_verifier made = { .struct_size = sizeof made,
                           .check_metadata = check_metadata,
                           .release = verifier_release,
                           .ctx = v,
                           .check_shard = check_shard };
    if (v->mode == GGLD_VERIFY_ON_ACCESS)
        made.check_range = check_on_access;
    if (v->mode == GGLD_VERIFY_FULL)
        made.check_range = check_full;
    *out = made;
    return GGLD_OK;
}
