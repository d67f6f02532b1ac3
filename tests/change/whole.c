/* SPDX-License-Identifier: MIT */
/* See whole.h. */
#include "whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../views/check.h"
#include "../write/support.h"
#include "syscalls.h"

#define MOST_CALLS 400

/* Where the output goes: over an old file, or into folders that are made. */
typedef struct place {
    const char *what;
    const char *name;
    bool makes_folders;
} place;

static const place places[] = {
    { "over an old file", "out", false },
    { "into new folders", "a/b/out", true },
};

typedef struct scene {
    const writing *w;
    const place *where;
    char *folder;
    char path[256]; /* of the output */
    image whole;    /* what it is to be */
} scene;

static void set(const scene *s)
{
    static const char *const all[] = { "a/b/out", "a/b", "a", "out" };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        remove(folder_path(s->folder, all[i]));
    if (!s->where->makes_folders)
        file_save(s->path, "old", 3);
}

static bool holds(const scene *s, const void *data, size_t size)
{
    image im = file_load(s->path);
    bool same =
        im.data != NULL && im.size == size && memcmp(im.data, data, size) == 0;
    image_free(&im);
    return same;
}

static bool is_whole(const scene *s)
{
    return holds(s, s->whole.data, s->whole.size);
}

/* As it was before, where nothing was, or the old file. */
static bool is_old(const scene *s)
{
    return s->where->makes_folders ? !file_exists(s->path) : holds(s, "old", 3);
}

static int n_entries(const scene *s)
{
    return folder_count(s->folder) +
           (file_exists(s->path) && s->where->makes_folders
                ? folder_count(folder_path(s->folder, "a/b")) - 1
                : 0);
}

static void expect_whole(const scene *s, const char *how, unsigned n)
{
    CHECK(is_whole(s) && n_entries(s) == 1,
          "%s %s, %s %u: expected the new file alone, got %s and %d entries",
          s->w->what, s->where->what, how, n, is_whole(s) ? "it" : "another",
          n_entries(s));
}

static void expect_old(const scene *s, const char *how, unsigned n)
{
    CHECK(is_old(s) && n_entries(s) == !s->where->makes_folders,
          "%s %s, %s %u: expected what was there before, got %s and %d "
          "entries",
          s->w->what, s->where->what, how, n, is_old(s) ? "it" : "another",
          n_entries(s));
}

static ggld_status run(const scene *s, ggld_error *err)
{
    calls.armed = true;
    ggld_status status = s->w->run(s->path, err);
    calls.armed = false;
    return status;
}

/* ---- failing ---- */

/* What is made up for in another way, or is no reason to fail: the first bytes
 * that are read only say which format it may be, and so does the name. */
static bool may_fail_unseen(const char *name, unsigned n, int sys_errno)
{
    return strcmp(name, "copy_file_range") == 0 ||
           (strcmp(name, "pread64") == 0 && n == 0) ||
           (strcmp(name, "fallocate64") == 0 && sys_errno != ENOSPC);
}

/* Calls that a signal interrupts are made again. */
static bool is_interrupted(const char *name)
{
    return strcmp(name, "fchmod") != 0 && strncmp(name, "rename", 6) != 0 &&
           strcmp(name, "mkdirat") != 0 && strcmp(name, "unlinkat") != 0;
}

/* false where there are not as many calls. */
static bool run_fault(const scene *s, unsigned n, int sys_errno)
{
    ggld_error err = { .message = "" };
    char how[96];

    set(s);
    calls_reset();
    calls.reads = true;
    calls.fault_at = n;
    calls.fault_errno = sys_errno;
    ggld_status status = run(s, &err);
    if (calls.faulted == NULL)
        return false;
    snprintf(how, sizeof how, "%s fails with errno %d, call", calls.faulted,
             sys_errno);
    if (sys_errno == EINTR && is_interrupted(calls.faulted))
        CHECK(status == GGLD_OK, "%s, %s %u: expected another try, got: %s",
              s->w->what, how, n, err.message);
    if (status == GGLD_OK) {
        CHECK(sys_errno == EINTR ||
                  may_fail_unseen(calls.faulted, n, sys_errno),
              "%s %s, %s %u: expected an error, got none", s->w->what,
              s->where->what, how, n);
        expect_whole(s, how, n);
        return true;
    }
    CHECK(status == GGLD_E_IO && err.sys_errno == sys_errno,
          "%s, %s %u: expected GGLD_E_IO with this errno, got %s with %d: %s",
          s->w->what, how, n, ggld_status_name(status), err.sys_errno,
          err.message);
    /* Past its name only the folder's sync is left. */
    if (strcmp(calls.faulted, "fsync of a folder") == 0 && is_whole(s))
        expect_whole(s, how, n);
    else
        expect_old(s, how, n);
    return true;
}

static void try_faults(const scene *s)
{
    static const int errnos[] = { ENOSPC, EIO, EINTR };

    for (size_t i = 0; i < sizeof errnos / sizeof errnos[0]; i++) {
        unsigned n = 0;
        while (n < MOST_CALLS && run_fault(s, n, errnos[i]))
            n++;
        CHECK(n > 6 && n < MOST_CALLS, "%s: expected some calls, got %u",
              s->w->what, n);
    }
}

/* ---- doing less ---- */

static void try_short(const scene *s)
{
    static const size_t most[] = { 1000, 4096 };
    ggld_error err = { .message = "" };

    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        set(s);
        calls_reset();
        calls.most_bytes = most[i];
        CHECK_OK(run(s, &err), err, s->w->what);
        expect_whole(s, "bytes of a call:", (unsigned)most[i]);
    }
}

/* ---- killed ---- */

static bool run_killed(const scene *s, unsigned n)
{
    ggld_error err = { .message = "" };
    int how;

    set(s);
    calls_reset();
    calls.kill_at = n;
    pid_t child = fork();
    if (child == 0)
        _exit(run(s, &err) == GGLD_OK ? 0 : 1);
    waitpid(child, &how, 0);
    CHECK(is_old(s) || is_whole(s),
          "%s %s, killed before call %u: expected the old file or the new "
          "one, got another",
          s->w->what, s->where->what, n);
    calls_reset();
    CHECK(s->w->run(s->path, &err) == GGLD_OK && is_whole(s),
          "%s %s, killed before call %u: expected the next run to be good, "
          "got: %s",
          s->w->what, s->where->what, n, err.message);
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s/*", s->folder);
    if (folder_count(s->folder) > 1 && system(command) != 0)
        exit(99);
    return WIFSIGNALED(how);
}

static void try_kills(const scene *s)
{
    unsigned n = 0;

    while (n < MOST_CALLS && run_killed(s, n))
        n++;
    CHECK(n > 6 && n < MOST_CALLS, "%s: expected some calls, got %u",
          s->w->what, n);
}

void try_each_call(const writing *w)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        scene s = { .w = w, .where = &places[i], .folder = folder_new() };
        ggld_error err = { .message = "" };

        snprintf(s.path, sizeof s.path, "%s/%s", s.folder, places[i].name);
        calls_reset();
        set(&s);
        CHECK_OK(w->run(s.path, &err), err, w->what);
        s.whole = file_load(s.path);
        try_faults(&s);
        try_short(&s);
        try_kills(&s);
        image_free(&s.whole);
        folder_remove(s.folder);
    }
}
