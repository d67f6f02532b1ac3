/* SPDX-License-Identifier: MIT */
/* See shard.h. */
#include "shard.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/shards.h>

/* "-00002-of-00003.gguf" */
#define SUFFIX_BYTES 20u

bool shard_place_of(const ggld_file *file, shard_place *out)
{
    const ggld_kv *no = ggld_kv_find(file, "split.no");
    const ggld_kv *count = ggld_kv_find(file, "split.count");
    uint64_t i, n;

    if (no == NULL || count == NULL || !ggld_kv_get_u64(no, &i) ||
        !ggld_kv_get_u64(count, &n) || n < 2 || n > UINT16_MAX || i >= n)
        return false;
    *out = (shard_place){ (uint32_t)i, (uint32_t)n };
    return true;
}

bool shard_is_named(const char *path, const shard_place *at)
{
    char suffix[SUFFIX_BYTES + 1];
    size_t len = strlen(path);

    ggld_shard_path(suffix, sizeof suffix, "", at->no, at->count);
    return len >= SUFFIX_BYTES &&
           strcmp(path + len - SUFFIX_BYTES, suffix) == 0;
}

/* By its name alone. */
static bool read_name(const char *path, size_t len, shard_place *out)
{
    const char *digits = path + len - SUFFIX_BYTES + 1;

    if (len < SUFFIX_BYTES || strspn(digits, "0123456789") != 5)
        return false;
    out->no = (uint32_t)strtoul(digits, NULL, 10) - 1;
    out->count = (uint32_t)strtoul(digits + 9, NULL, 10);
    return out->count <= UINT16_MAX && out->no < out->count &&
           shard_is_named(path, out);
}

bool shard_place_named(const char *path, shard_place *out)
{
    return read_name(path, strlen(path), out);
}

char *shard_beside(const char *path, uint32_t no, uint32_t count)
{
    size_t len = strlen(path);
    char *other = malloc(len + 1);
    char *prefix =
        len < SUFFIX_BYTES ? NULL : strndup(path, len - SUFFIX_BYTES);

    if (other != NULL && prefix != NULL) {
        ggld_shard_path(other, len + 1, prefix, no, count);
    } else {
        free(other);
        other = NULL;
    }
    free(prefix);
    return other;
}

bool shard_lacks_some(const char *path)
{
    size_t len = strlen(path);
    char *prefix, other[PATH_MAX];
    shard_place at;
    bool lacks = false;

    if (!read_name(path, len, &at) || len >= sizeof other)
        return false;
    prefix = strndup(path, len - SUFFIX_BYTES);
    for (uint32_t i = 0; prefix != NULL && i < at.count && !lacks; i++) {
        ggld_shard_path(other, sizeof other, prefix, i, at.count);
        lacks = access(other, F_OK) != 0;
    }
    free(prefix);
    return lacks;
}

void shard_cut_name(char *name)
{
    size_t len = strlen(name);

    if (len > 5 && strcmp(name + len - 5, ".gguf") == 0)
        name[len -= 5] = '\0';
    if (len > 15 && name[len - 15] == '-' &&
        strspn(name + len - 14, "0123456789") == 5 &&
        strncmp(name + len - 9, "-of-", 4) == 0 &&
        strspn(name + len - 5, "0123456789") == 5)
        name[len - 15] = '\0';
}

char *shard_name(const char *path, uint32_t no, uint32_t count)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name) + SUFFIX_BYTES + 1;
    char *prefix = strdup(name), *out = malloc(size);

    if (prefix != NULL && out != NULL) {
        shard_cut_name(prefix);
        ggld_shard_path(out, size, prefix, no, count);
    } else {
        free(out);
        out = NULL;
    }
    free(prefix);
    return out;
}
