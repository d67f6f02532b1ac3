/* SPDX-License-Identifier: MIT */
/* Opening with a verifier and the memory of earlier verifications. The
 * descriptor is opened here, so that what is looked up is what is opened. */
#include <ggld/integrity.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "verifier.h"

typedef struct opening {
    int fd;
    const ggld_manifest *manifest;
    const ggld_verify_cache *cache; /* NULL: none */
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
        ggld_verify_cache_has(o->cache, &o->identity, file, o->manifest)) {
        ggld_verifier_trust(o->verifier.ctx);
        return GGLD_OK;
    }
    if (o->mode != GGLD_VERIFY_FULL)
        return GGLD_OK;
    ggld_status status = ggld_verifier_check_all(o->verifier.ctx, file, err);
    /* A record that can't be written costs the next start some time, and is
     * no reason to refuse a good file. */
    if (status == GGLD_OK && o->cache != NULL) {
        ggld_status stored = ggld_verify_cache_put(
            o->cache, &o->identity, o->fd, file, o->manifest, NULL, NULL);
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

ggld_status ggld_open_verified(ggld_file **out, const char *path,
                               const ggld_manifest *manifest,
                               const ggld_verifier_options *verifier,
                               const ggld_verify_cache *cache,
                               const ggld_open_options *options,
                               ggld_error *err)
{
    ggld_verifier_options how =
        verifier != NULL ? *verifier : ggld_verifier_options_init();
    opening o = { -1, manifest, cache, how.mode, { 0 }, { { 0 } } };
    if (options != NULL && options->verifier != NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "open: the options have a verifier already");
    if (how.path == NULL)
        how.path = path;
    /* A FIFO is open's to refuse, not to wait for. */
    o.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (o.fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
            "opening %s", ggld_quote(path, strlen(path)).text);
    ggld_status status = ggld_file_identity_of_fd(&o.identity, o.fd, err);
    if (status == GGLD_OK)
        status = ggld_verifier_from_manifest(&o.verifier, manifest, &how, err);
    if (status == GGLD_OK)
        status = open_and_settle(&o, out, options, err);
    close(o.fd);
    return status;
}
