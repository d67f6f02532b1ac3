/* SPDX-License-Identifier: MIT */
/* Opening with a verifier and the memory of earlier verifications. A file that
 * is a shard is told from one that is not once it is open, so that the metadata
 * is parsed once; but a private copy, of which no descriptor is left to ask, is
 * made of a descriptor that was looked at before. */
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

/* A file of its own: the one that was opened, or a shard. */
typedef struct member {
    const ggld_file *file;
    const char *path;
    int fd; /* -1: nothing is known of it */
    ggld_file_identity identity;
} member;

typedef struct opening {
    int fd; /* of a private copy; -1: the file has its own */
    const ggld_manifest *manifest;
    const ggld_verify_cache *cache; /* NULL: none */
    const char *path;               /* by which it has lines for the file */
    uint32_t mode;
    ggld_verifier verifier;
    ggld_file_identity identity; /* of fd */
} opening;

/* ---- who the files are ---- */

/* A private copy may have been read while the file was being written. */
static bool is_unchanged(const opening *o)
{
    ggld_file_identity now;
    return ggld_file_identity_of_fd(&now, o->fd, NULL) == GGLD_OK &&
           ggld_file_identity_same(&o->identity, &now);
}

/* Its identity is as old as the open, or there is none: what was read of the
 * file since is then of that identity, or a look at the end will tell. */
static member member_of(const opening *o, const ggld_file *file,
                        const char *path)
{
    member m = { .file = file, .path = path, .fd = o->fd };
    ggld_backing backing = { .struct_size = sizeof backing };
    if (o->fd >= 0) {
        m.identity = o->identity;
        m.fd = is_unchanged(o) ? o->fd : -1;
        return m;
    }
    ggld_file_get_backing(file, &backing);
    m.fd = backing.fd;
    if (m.fd >= 0 &&
        (ggld_file_identity_of_fd(&m.identity, m.fd, NULL) != GGLD_OK ||
         ggld_file_changed(file, NULL) != GGLD_OK))
        m.fd = -1;
    return m;
}

/* The file, or each shard; *n is their number. NULL: no memory. */
static member *members_of(const opening *o, const ggld_file *file, uint32_t *n)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    bool set = info.n_shards > 1;
    member *members = calloc(info.n_shards, sizeof *members);
    for (uint32_t i = 0; i < info.n_shards && members != NULL; i++) {
        const ggld_file *one = set ? ggld_file_shard(file, i) : file;
        members[i] = member_of(o, one, set ? ggld_file_path(one) : o->path);
    }
    *n = info.n_shards;
    return members;
}

static bool knows_all(const opening *o, const member *members, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const member *m = &members[i];
        if (m->fd < 0 || !ggld_verify_cache_has(o->cache, &m->identity, m->file,
                                                o->manifest, m->path))
            return false;
    }
    return true;
}

/* A record that can't be written costs the next start some time, and is no
 * reason to refuse a good file. */
static void remember_all(const opening *o, const member *members, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const member *m = &members[i];
        if (m->fd < 0)
            continue;
        ggld_status stored =
            ggld_verify_cache_put(o->cache, &m->identity, m->fd, m->file,
                                  o->manifest, m->path, NULL, NULL);
        (void)stored;
    }
}

/* ---- opening ---- */

static ggld_status check_now(const opening *o, const ggld_file *file,
                             ggld_error *err)
{
    return o->mode == GGLD_VERIFY_FULL
               ? ggld_verifier_check_all(o->verifier.ctx, file, err)
               : GGLD_OK;
}

/* With the file open: what is left to be verified, or the cache's word that
 * nothing is. */
static ggld_status settle(const opening *o, const ggld_file *file,
                          ggld_error *err)
{
    uint32_t n;
    if (o->cache == NULL)
        return check_now(o, file, err);
    member *members = members_of(o, file, &n);
    if (members == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "open: no memory");
    ggld_status status = GGLD_OK;
    if (knows_all(o, members, n)) {
        ggld_verifier_trust(o->verifier.ctx);
    } else {
        status = check_now(o, file, err);
        if (status == GGLD_OK && o->mode == GGLD_VERIFY_FULL)
            remember_all(o, members, n);
    }
    free(members);
    return status;
}

static ggld_status open_and_settle(opening *o, ggld_file **out,
                                   const char *path,
                                   const ggld_open_options *options,
                                   ggld_error *err)
{
    ggld_open_options with =
        options != NULL ? *options : ggld_open_options_init();
    ggld_file *file = NULL;
    with.verifier = &o->verifier;
    ggld_status status = o->fd >= 0 ? ggld_open_fd(&file, o->fd, &with, err)
                                    : ggld_open_path(&file, path, &with, err);
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

/* Is it one file, all of which is to be in private memory? */
static bool is_one_copy(const char *path, const ggld_open_options *options)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *file = NULL;
    if (options == NULL || (options->flags & GGLD_OPEN_COPY) == 0)
        return false;
    if ((options->flags & GGLD_OPEN_SINGLE) != 0)
        return true;
    ggld_open_options peek = *options;
    peek.flags &= ~(uint32_t)(GGLD_OPEN_COPY | GGLD_OPEN_STRICT);
    peek.flags |= GGLD_OPEN_METADATA;
    if (ggld_open_path(&file, path, &peek, NULL) != GGLD_OK)
        return false;
    ggld_file_get_info(file, &info);
    ggld_close(file);
    return info.n_shards == 1;
}

/* The descriptor that the copy is made of, and who it is before that. */
static ggld_status open_descriptor(opening *o, const char *path,
                                   ggld_error *err)
{
    /* A FIFO is open's to refuse, not to wait for. */
    o->fd = ggld_open_patiently(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (o->fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
            "opening %s%s", ggld_quote(path, strlen(path)).text,
            ggld_open_hint(errno));
    return ggld_file_identity_of_fd(&o->identity, o->fd, err);
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
    ggld_status status = GGLD_OK;
    if (options != NULL && options->verifier != NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "open: the options have a verifier already");
    if (path != NULL && cache != NULL && is_one_copy(path, options))
        status = open_descriptor(&o, path, err);
    if (how.path == NULL)
        how.path = path;
    o.path = how.path;
    o.mode = how.mode;
    if (status == GGLD_OK)
        status = ggld_verifier_from_manifest(&o.verifier, manifest, &how, err);
    if (status == GGLD_OK)
        status = open_and_settle(&o, out, path, options, err);
    if (o.fd >= 0)
        close(o.fd);
    return status;
}
