/* SPDX-License-Identifier: MIT */
/* Opening with a verifier and the memory of earlier verifications. The
 * descriptor is opened here, so that what is looked up is what is opened. */
#include <ggld/integrity.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/open.h"
#include "../base/quote.h"
#include "verifier.h"

typedef struct opening {
    int fd;
    const ggld_manifest *manifest;
    const ggld_verify_cache *cache; /* NULL: none */
    const char *path;               /* by which it has lines for the file */
    uint32_t mode;
    ggld_verifier verifier;
    ggld_file_identity identity;
} opening;

/* A private copy may have been read while the file was being written. */
static bool is_unchanged(const opening *o)
{
    ggld_file_identity now;
    return ggld_file_identity_of_fd(&now, o->fd, NULL) == GGLD_OK &&
           ggld_file_identity_same(&o->identity, &now);
}

/* With the file open: what is left to be verified, or the cache's word that
 * nothing is. */
static ggld_status settle(const opening *o, const ggld_file *file,
                          ggld_error *err)
{
    if (o->cache != NULL && is_unchanged(o) &&
        ggld_verify_cache_has(o->cache, &o->identity, file, o->manifest,
                              o->path)) {
        ggld_verifier_trust(o->verifier.ctx);
        return GGLD_OK;
    }
    if (o->mode != GGLD_VERIFY_FULL)
        return GGLD_OK;
    ggld_status status = ggld_verifier_check_all(o->verifier.ctx, file, err);
    /* A record that can't be written costs the next start some time, and is
     * no reason to refuse a good file. */
    if (status == GGLD_OK && o->cache != NULL) {
        ggld_status stored =
            ggld_verify_cache_put(o->cache, &o->identity, o->fd, file,
                                  o->manifest, o->path, NULL, NULL);
        (void)stored;
    }
    return status;
}

static ggld_status open_and_settle(opening *o, ggld_file **out,
                                   const ggld_open_options *options,
                                   ggld_error *err)
{
    ggld_open_options with =
        options != NULL ? *options : ggld_open_options_init();
    ggld_file *file = NULL;
    with.verifier = &o->verifier;
    ggld_status status = ggld_open_fd(&file, o->fd, &with, err);
    if (status != GGLD_OK) {
        o->verifier.release(o->verifier.ctx);
        return status;
    }
    status = settle(o, file, err);
    if (status != GGLD_OK) {
        ggld_close(file);
        return status;
    }
    *out = file;
    return GGLD_OK;
}

/* ---- sets ---- */

/* More than one: a set, by the path; 0: it can't be told, and open will. */
static uint32_t count_shards(const char *path, const ggld_open_options *options)
{
    ggld_open_options peek =
        options != NULL ? *options : ggld_open_options_init();
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *file = NULL;
    if (path == NULL || (peek.flags & GGLD_OPEN_SINGLE) != 0)
        return 1;
    peek.flags &= ~(uint32_t)(GGLD_OPEN_COPY | GGLD_OPEN_STRICT);
    peek.flags |= GGLD_OPEN_METADATA;
    if (ggld_open_path(&file, path, &peek, NULL) != GGLD_OK)
        return 0;
    ggld_file_get_info(file, &info);
    ggld_close(file);
    return info.n_shards;
}

/* Does the cache know every shard? ids has room for all; of private copies
 * there are none, and nothing is known. */
static bool cache_has_all(const opening *o, const ggld_file *file,
                          uint32_t n_shards, ggld_file_identity *ids)
{
    bool known = o->cache != NULL;
    for (uint32_t i = 0; i < n_shards && known; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        ggld_backing backing = { .struct_size = sizeof backing };
        ggld_file_get_backing(shard, &backing);
        if (backing.fd < 0 ||
            ggld_file_identity_of_fd(&ids[i], backing.fd, NULL) != GGLD_OK)
            return false;
        known = ggld_verify_cache_has(o->cache, &ids[i], shard, o->manifest,
                                      ggld_file_path(shard));
    }
    return known;
}

static void cache_put_all(const opening *o, const ggld_file *file,
                          uint32_t n_shards)
{
    for (uint32_t i = 0; i < n_shards && o->cache != NULL; i++) {
        const ggld_file *shard = ggld_file_shard(file, i);
        ggld_backing backing = { .struct_size = sizeof backing };
        ggld_file_identity id;
        ggld_file_get_backing(shard, &backing);
        /* Unchanged since it was opened, before anything was verified. */
        if (backing.fd < 0 ||
            ggld_file_identity_of_fd(&id, backing.fd, NULL) != GGLD_OK ||
            ggld_file_changed(shard, NULL) != GGLD_OK)
            continue;
        ggld_status stored =
            ggld_verify_cache_put(o->cache, &id, backing.fd, shard, o->manifest,
                                  ggld_file_path(shard), NULL, NULL);
        (void)stored;
    }
}

static ggld_status settle_set(const opening *o, const ggld_file *file,
                              ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    ggld_file_identity *ids = calloc(info.n_shards, sizeof *ids);
    if (ids == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "open: no memory");
    bool known = cache_has_all(o, file, info.n_shards, ids);
    free(ids);
    if (known) {
        ggld_verifier_trust(o->verifier.ctx);
        return GGLD_OK;
    }
    if (o->mode != GGLD_VERIFY_FULL)
        return GGLD_OK;
    ggld_status status = ggld_verifier_check_all(o->verifier.ctx, file, err);
    if (status == GGLD_OK)
        cache_put_all(o, file, info.n_shards);
    return status;
}

static ggld_status open_set(opening *o, ggld_file **out, const char *path,
                            const ggld_open_options *options, ggld_error *err)
{
    ggld_open_options with =
        options != NULL ? *options : ggld_open_options_init();
    ggld_file *file = NULL;
    with.verifier = &o->verifier;
    ggld_status status = ggld_open_path(&file, path, &with, err);
    if (status != GGLD_OK) {
        o->verifier.release(o->verifier.ctx);
        return status;
    }
    status = settle_set(o, file, err);
    if (status != GGLD_OK) {
        ggld_close(file);
        return status;
    }
    *out = file;
    return GGLD_OK;
}

ggld_status ggld_open_verified(ggld_file **out, const char *path,
                               const ggld_manifest *manifest,
                               const ggld_verifier_options *verifier,
                               const ggld_verify_cache *cache,
                               const ggld_open_options *options,
                               ggld_error *err)
{
    ggld_verifier_options how =
        verifier != NULL ? *verifier : ggld_verifier_options_init();
    opening o = { .fd = -1, .manifest = manifest, .cache = cache };
    if (options != NULL && options->verifier != NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "open: the options have a verifier already");
    if (how.path == NULL)
        how.path = path;
    o.path = how.path;
    o.mode = how.mode;
    if (count_shards(path, options) != 1) {
        ggld_status made =
            ggld_verifier_from_manifest(&o.verifier, manifest, &how, err);
        return made == GGLD_OK ? open_set(&o, out, path, options, err) : made;
    }
    /* A FIFO is open's to refuse, not to wait for. */
    o.fd = ggld_open_patiently(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (o.fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
            "opening %s%s", ggld_quote(path, strlen(path)).text,
            ggld_open_hint(errno));
    ggld_status status = ggld_file_identity_of_fd(&o.identity, o.fd, err);
    if (status == GGLD_OK)
        status = ggld_verifier_from_manifest(&o.verifier, manifest, &how, err);
    if (status == GGLD_OK)
        status = open_and_settle(&o, out, options, err);
    close(o.fd);
    return status;
}
