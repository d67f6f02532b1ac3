/* SPDX-License-Identifier: MIT */
/* Verify once: a folder of small records. A record's name is the sha256 of what
 * it says, so that a look-up reads one file and compares it whole. Nothing in
 * it is trusted more than that it is there and ours. */
#include <ggld/integrity.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "manifest.h"
#include "text.h"

struct ggld_verify_cache {
    char *folder;
};

/* ggld_file_identity.opaque */
enum {
    ID_DEV,
    ID_INO,
    ID_SIZE,
    ID_MTIME_S,
    ID_MTIME_NS,
    ID_CTIME_S,
    ID_CTIME_NS,
    ID_FRESH /* a change now might not move the times */
};

/* Times move by the kernel's tick, ten milliseconds at most; file systems that
 * have no nanoseconds count in seconds, or in two of them. */
#define FINE_NS   (100 * INT64_C(1000000))
#define COARSE_NS (3000 * INT64_C(1000000))

static ggld_place in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

/* ---- identity ---- */

static int64_t age_ns(const struct timespec *now, const struct timespec *then)
{
    return ((int64_t)now->tv_sec - then->tv_sec) * 1000000000 + now->tv_nsec -
           then->tv_nsec;
}

/* A time in the future (negative age) is fresh too. */
static bool is_fresh(const struct stat *st)
{
    struct timespec now;
    bool coarse = st->st_mtim.tv_nsec == 0 && st->st_ctim.tv_nsec == 0;
    int64_t least = coarse ? COARSE_NS : FINE_NS;
    return clock_gettime(CLOCK_REALTIME, &now) != 0 ||
           age_ns(&now, &st->st_mtim) < least ||
           age_ns(&now, &st->st_ctim) < least;
}

ggld_status ggld_file_identity_of_fd(ggld_file_identity *out, int fd,
                                     ggld_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, in_file(), "file: fstat");
    ggld_file_identity id = { { 0 } };
    id.opaque[ID_DEV] = (uint64_t)st.st_dev;
    id.opaque[ID_INO] = (uint64_t)st.st_ino;
    id.opaque[ID_SIZE] = (uint64_t)st.st_size;
    id.opaque[ID_MTIME_S] = (uint64_t)st.st_mtim.tv_sec;
    id.opaque[ID_MTIME_NS] = (uint64_t)st.st_mtim.tv_nsec;
    id.opaque[ID_CTIME_S] = (uint64_t)st.st_ctim.tv_sec;
    id.opaque[ID_CTIME_NS] = (uint64_t)st.st_ctim.tv_nsec;
    id.opaque[ID_FRESH] = is_fresh(&st);
    *out = id;
    return GGLD_OK;
}

bool ggld_file_identity_same(const ggld_file_identity *a,
                             const ggld_file_identity *b)
{
    return memcmp(a->opaque, b->opaque, ID_FRESH * sizeof a->opaque[0]) == 0;
}

/* ---- records ---- */

typedef struct record {
    char *text;
    size_t size;
    char *path;
} record;

static void record_free(record *r)
{
    free(r->text);
    free(r->path);
}

/* xxh3, as this finds changes, not forgers. */
static ggld_status metadata_digest(const ggld_file *file, ggld_digest *out,
                                   ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_backing backing = { .struct_size = sizeof backing };
    ggld_file_get_info(file, &info);
    ggld_file_get_backing(file, &backing);
    uint64_t size = info.metadata_bytes < info.file_bytes ? info.metadata_bytes
                                                          : info.file_bytes;
    if (backing.map != NULL)
        return ggld_digest_of(out, GGLD_ALGO_XXH3, backing.map, (size_t)size,
                              err);
    void *copy = malloc((size_t)size + 1);
    if (copy == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "cache: no memory for the metadata");
    ggld_status status = ggld_file_read_bytes(file, 0, copy, (size_t)size, err);
    if (status == GGLD_OK)
        status = ggld_digest_of(out, GGLD_ALGO_XXH3, copy, (size_t)size, err);
    free(copy);
    return status;
}

/* Which lines of a manifest are about a file is settled by the path that it is
 * looked up by: one file under two names may be good by one and bad by the
 * other. Formats of one file take any. */
static ggld_status path_digest(const ggld_manifest *manifest, const char *path,
                               ggld_digest *out, ggld_error *err)
{
    bool any = path == NULL || manifest->format == GGLD_MANIFEST_GGSUM ||
               manifest->format == GGLD_MANIFEST_DIGEST ||
               manifest->format == GGLD_MANIFEST_LFS;
    const char *key = any ? "" : path;
    return ggld_digest_of(out, GGLD_ALGO_SHA256, key, strlen(key), err);
}

static ggld_status record_text(const ggld_file_identity *id,
                               const ggld_digest *metadata,
                               const ggld_manifest *manifest, const char *path,
                               char **text, size_t *size, ggld_error *err)
{
    const uint64_t *o = id->opaque;
    ggld_text t = { 0 };
    ggld_digest lines;
    ggld_status status = path_digest(manifest, path, &lines, err);
    if (status != GGLD_OK)
        return status;
    ggld_text_printf(&t,
                     "ggld verified 2\ndevice %" PRIu64 "\ninode %" PRIu64
                     "\nsize %" PRIu64 "\n",
                     o[ID_DEV], o[ID_INO], o[ID_SIZE]);
    ggld_text_printf(&t,
                     "mtime %" PRId64 ".%09" PRIu64 "\nctime %" PRId64
                     ".%09" PRIu64 "\nmetadata xxh3:",
                     (int64_t)o[ID_MTIME_S], o[ID_MTIME_NS],
                     (int64_t)o[ID_CTIME_S], o[ID_CTIME_NS]);
    ggld_text_digest(&t, metadata);
    ggld_text_printf(&t, "\nmanifest sha256:");
    ggld_text_digest(&t, &manifest->identity);
    ggld_text_printf(&t, "\npath sha256:");
    ggld_text_digest(&t, &lines);
    ggld_text_put(&t, "\n", 1);
    return ggld_text_take(&t, text, size, err);
}

static ggld_status record_make(const ggld_verify_cache *cache,
                               const ggld_file_identity *id,
                               const ggld_file *file,
                               const ggld_manifest *manifest, const char *path,
                               record *out, ggld_error *err)
{
    record r = { NULL, 0, NULL };
    ggld_digest metadata, name;
    char hex[GGLD_DIGEST_TEXT_MAX];
    ggld_status status = metadata_digest(file, &metadata, err);
    if (status == GGLD_OK)
        status =
            record_text(id, &metadata, manifest, path, &r.text, &r.size, err);
    if (status == GGLD_OK)
        status = ggld_digest_of(&name, GGLD_ALGO_SHA256, r.text, r.size, err);
    if (status == GGLD_OK) {
        ggld_digest_text(&name, hex);
        if (asprintf(&r.path, "%s/%s", cache->folder, hex) < 0) {
            r.path = NULL;
            status = ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                               "cache: no memory");
        }
    }
    if (status != GGLD_OK) {
        record_free(&r);
        return status;
    }
    *out = r;
    return GGLD_OK;
}

/* ---- the folder ---- */

ggld_status ggld_verify_cache_new(ggld_verify_cache **out, const char *folder,
                                  ggld_error *err)
{
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int len = -1;
    if (folder != NULL)
        len = asprintf(&path, "%s", folder);
    else if (xdg != NULL && xdg[0] == '/') /* a relative one is to be ignored */
        len = asprintf(&path, "%s/ggld/verified", xdg);
    else if (home != NULL && home[0] == '/')
        len = asprintf(&path, "%s/.cache/ggld/verified", home);
    else
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "cache: neither XDG_CACHE_HOME nor HOME is set; give "
                         "a folder");
    ggld_verify_cache *cache = calloc(1, sizeof *cache);
    if (len < 0 || cache == NULL) {
        free(len < 0 ? NULL : path);
        free(cache);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "cache: no memory");
    }
    cache->folder = path;
    *out = cache;
    return GGLD_OK;
}

void ggld_verify_cache_free(ggld_verify_cache *cache)
{
    if (cache == NULL)
        return;
    free(cache->folder);
    free(cache);
}

/* Nobody else may write there. */
static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool folder_is_ours(const char *folder)
{
    struct stat st;
    return stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && is_ours(&st);
}

static bool make_folders(const char *folder)
{
    char *path = strdup(folder);
    if (path == NULL)
        return false;
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
    int saved = errno;
    free(path);
    errno = saved;
    return there;
}

/* ---- look-up ---- */

static bool holds(int fd, const record *r)
{
    char text[1024];
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_ours(&st) ||
        r->size > sizeof text || (size_t)st.st_size != r->size)
        return false;
    ssize_t n = read(fd, text, sizeof text);
    return n == (ssize_t)r->size && memcmp(text, r->text, r->size) == 0;
}

bool ggld_verify_cache_has(const ggld_verify_cache *cache,
                           const ggld_file_identity *identity,
                           const ggld_file *file, const ggld_manifest *manifest,
                           const char *path)
{
    record r = { NULL, 0, NULL };
    if (manifest->identity.algo == 0 || identity->opaque[ID_FRESH] != 0 ||
        !folder_is_ours(cache->folder) ||
        record_make(cache, identity, file, manifest, path, &r, NULL) != GGLD_OK)
        return false;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): made above. */
    int fd = open(r.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool found = fd >= 0 && holds(fd, &r);
    if (fd >= 0)
        close(fd);
    record_free(&r);
    return found;
}

/* ---- recording ---- */

static bool write_all(int fd, const char *text, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(fd, text + done, size - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Under a name of its own, then renamed: readers see none or all of it, and of
 * two writers of one record either may be the last. */
static ggld_status record_write(const ggld_verify_cache *cache, const record *r,
                                ggld_error *err)
{
    char *temporary;
    if (asprintf(&temporary, "%s/new-XXXXXX", cache->folder) < 0)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(), "cache: no memory");
    ggld_status status = GGLD_OK;
    int fd = mkostemp(temporary, O_CLOEXEC);
    bool good = fd >= 0 && write_all(fd, r->text, r->size);
    int sys_errno = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        sys_errno = errno;
    }
    if (good && rename(temporary, r->path) != 0) {
        good = false;
        sys_errno = errno;
    }
    if (!good) {
        status = ggld_fail_errno(
            err, sys_errno, in_file(), "cache %s",
            ggld_quote(cache->folder, strlen(cache->folder)).text);
        if (fd >= 0)
            (void)unlink(temporary);
    }
    free(temporary);
    return status;
}

ggld_status ggld_verify_cache_put(const ggld_verify_cache *cache,
                                  const ggld_file_identity *identity, int fd,
                                  const ggld_file *file,
                                  const ggld_manifest *manifest,
                                  const char *path, bool *stored,
                                  ggld_error *err)
{
    ggld_file_identity now;
    record r;
    if (stored != NULL)
        *stored = false;
    ggld_status status = ggld_file_identity_of_fd(&now, fd, err);
    if (status != GGLD_OK)
        return status;
    if (manifest->identity.algo == 0 || identity->opaque[ID_FRESH] != 0 ||
        !ggld_file_identity_same(identity, &now))
        return GGLD_OK;
    if (!make_folders(cache->folder))
        return ggld_fail_errno(
            err, errno, in_file(), "cache %s",
            ggld_quote(cache->folder, strlen(cache->folder)).text);
    if (!folder_is_ours(cache->folder))
        return GGLD_OK;
    status = record_make(cache, identity, file, manifest, path, &r, err);
    if (status != GGLD_OK)
        return status;
    status = record_write(cache, &r, err);
    record_free(&r);
    if (status == GGLD_OK && stored != NULL)
        *stored = true;
    return status;
}
