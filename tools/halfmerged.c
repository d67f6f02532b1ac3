/* SPDX-License-Identifier: MIT */
/* See halfmerged.h. By names alone: the journal's bytes are the library's. */
#include "halfmerged.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "report.h"
#include "shard.h"

#define JOURNAL_SUFFIX ".ggld-merge"
#define PART_SUFFIX    ".ggld-part"

/* folder has its slash, or is "". */
static bool name_of(char name[PATH_MAX], const char *folder, const char *path,
                    size_t len, const char *suffix)
{
    int n =
        snprintf(name, PATH_MAX, "%s%.*s%s", folder, (int)len, path, suffix);
    return n > 0 && (size_t)n < PATH_MAX;
}

static bool is_beside(const char *path, size_t len, const char *suffix)
{
    char name[PATH_MAX];
    return name_of(name, "", path, len, suffix) && access(name, F_OK) == 0;
}

/* A merge holds its journal's lock. */
static bool is_at_work(const char *folder, const char *path, size_t len)
{
    char name[PATH_MAX];
    int fd = -1;
    bool locked = false;

    if (name_of(name, folder, path, len, JOURNAL_SUFFIX))
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
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

/* what: of the path. */
static void note(const char *path, const char *what, const char *folder,
                 const char *name, size_t len)
{
    const char *shard = what[0] == '\0' ? path : "SHARD";

    if (is_at_work(folder, name, len))
        report_note(path,
                    "%sa merge that consumes its shards, into '%s%.*s', is at "
                    "work here: wait for its end",
                    what, folder, (int)len, name);
    else
        report_note(path,
                    "%sa merge that consumes its shards, into '%s%.*s', was "
                    "interrupted here: %s'ggld merge --consume %s %s%.*s' "
                    "goes on",
                    what, folder, (int)len, name,
                    shard == path ? "if they are these, " : "", shard, folder,
                    (int)len, name);
}

/* Is there a journal beside a shard of a set that lacks some? */
static bool of_shards(const char *path, bool notes)
{
    const char *slash = strrchr(path, '/');
    const struct dirent *entry;
    char folder[PATH_MAX];
    bool any = false;

    int n = snprintf(folder, sizeof folder, "%.*s",
                     slash != NULL ? (int)(slash - path) + 1 : 0, path);
    if (n < 0 || (size_t)n >= sizeof folder || !shard_lacks_some(path))
        return false;
    DIR *dir = opendir(n != 0 ? folder : ".");
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        size_t len = len_before(entry->d_name, JOURNAL_SUFFIX);
        if (len != 0 && notes)
            note(path, "", folder, entry->d_name, len);
        any |= len != 0;
    }
    if (dir != NULL)
        closedir(dir);
    return any;
}

/* The length of the output's name; 0: that is no part of a merge. */
static size_t part_of(const char *path)
{
    size_t len = len_before(path, PART_SUFFIX);
    return len != 0 && is_beside(path, len, JOURNAL_SUFFIX) ? len : 0;
}

bool halfmerged_needs(const char *path)
{
    return part_of(path) != 0 || of_shards(path, false);
}

bool halfmerged_note(const char *path)
{
    size_t len = part_of(path);

    if (len != 0)
        note(path,
             "this is what a merge has so far, and tensors of shards that are "
             "still there are zeros in it: ",
             "", path, len);
    else if (halfmerged_into(path))
        note(path,
             access(path, F_OK) == 0 ? "this is to be replaced: "
                                     : "this is still to be made: ",
             "", path, strlen(path));
    else
        return of_shards(path, true);
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
