/* SPDX-License-Identifier: MIT */
/* See halfmerged.h. By names alone: the journal's bytes are the library's. */
#include "halfmerged.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shard.h"

#define JOURNAL_SUFFIX ".ggld-merge"
#define PART_SUFFIX    ".ggld-part"

static bool is_beside(const char *path, size_t len, const char *suffix)
{
    char name[PATH_MAX];
    int n = snprintf(name, sizeof name, "%.*s%s", (int)len, path, suffix);
    return n > 0 && (size_t)n < sizeof name && access(name, F_OK) == 0;
}

bool halfmerged_into(const char *out)
{
    return is_beside(out, strlen(out), JOURNAL_SUFFIX);
}

/* The length of what suffix stands behind; 0: it does not, or there is nothing
 * before it. */
static size_t len_before(const char *name, const char *suffix)
{
    size_t len = strlen(name), n = strlen(suffix);
    return len > n && strcmp(name + len - n, suffix) == 0 ? len - n : 0;
}

/* ---- of its files ---- */

static void note_shard(const char *path, const char *folder, const char *name,
                       size_t len)
{
    report_note(path,
                "a merge that consumes its shards, into '%s%.*s', was "
                "interrupted here: if they are these, 'ggld merge --consume %s "
                "%s%.*s' goes on",
                folder, (int)len, name, path, folder, (int)len, name);
}

static bool note_shards(const char *path)
{
    const char *slash = strrchr(path, '/');
    const struct dirent *entry;
    char folder[PATH_MAX];
    bool noted = false;

    int n = snprintf(folder, sizeof folder, "%.*s",
                     slash != NULL ? (int)(slash - path) + 1 : 0, path);
    if (n < 0 || (size_t)n >= sizeof folder || !shard_lacks_some(path))
        return false;
    DIR *dir = opendir(n != 0 ? folder : ".");
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        size_t len = len_before(entry->d_name, JOURNAL_SUFFIX);
        if (len != 0)
            note_shard(path, folder, entry->d_name, len);
        noted |= len != 0;
    }
    if (dir != NULL)
        closedir(dir);
    return noted;
}

bool halfmerged_note(const char *path)
{
    size_t len = len_before(path, PART_SUFFIX);

    if (len != 0 && is_beside(path, len, JOURNAL_SUFFIX)) {
        report_note(path,
                    "this is what a merge has so far that consumes its shards, "
                    "into '%.*s', and was interrupted: tensors of shards that "
                    "are still there are zeros in it; 'ggld merge --consume "
                    "SHARD %.*s' goes on",
                    (int)len, path, (int)len, path);
        return true;
    }
    if (!halfmerged_into(path))
        return note_shards(path);
    report_note(path,
                "a merge that consumes its shards, into this file, was "
                "interrupted: 'ggld merge --consume SHARD %s' goes on",
                path);
    return true;
}

/* ---- of its failure ---- */

/* Nothing is to be mended but what the error says, or nothing at all? */
static bool goes_on(const ggld_error *err)
{
    return err->code == GGLD_E_CANCELLED ||
           (err->code == GGLD_E_IO && err->sys_errno != ENOENT &&
            err->sys_errno != EBADMSG);
}

void halfmerged_note_failure(const char *out, const ggld_error *err)
{
    if (!halfmerged_into(out) || !is_beside(out, strlen(out), PART_SUFFIX))
        return;
    if (goes_on(err))
        report_note(out, "the merge is halfway, and nothing is lost: the same "
                         "command goes on");
    else
        report_note(out,
                    "the merge is halfway: shards that are gone are in "
                    "'%s" PART_SUFFIX
                    "', keep it; once the above is mended the same command "
                    "goes on",
                    out);
}
