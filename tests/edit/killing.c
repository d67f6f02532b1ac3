/* SPDX-License-Identifier: MIT */
/* See killing.h. */
#include "killing.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void expect_recovery(const scene *s, const char *what)
{
    ggld_edit_trace trace, found = GGLD_EDIT_CLEAN;
    ggld_error why;
    bool journal = file_exists(JOURNAL), rest = file_exists(FRESH);

    cr_assert_eq(ggld_edit_pending(FILE_NAME, &trace, &why, &scene_err),
                 GGLD_OK, "%s: %s", what, scene_err.message);
    cr_assert_eq(trace != GGLD_EDIT_CLEAN, journal || rest, "%s: trace %d",
                 what, trace);
    cr_assert(journal || !rest || trace == GGLD_EDIT_REST, "%s: trace %d", what,
              trace);
    cr_assert_neq(trace, GGLD_EDIT_STRANGE, "%s: %s", what, why.message);
    if (journal) {
        ggld_edit *edit = NULL;
        cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, NULL, &scene_err),
                     GGLD_E_INVALID, "%s: edited all the same", what);
        cr_assert(strstr(scene_err.message, "was interrupted") != NULL,
                  "%s: %s", what, scene_err.message);
    }
    cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, &found, &scene_err), GGLD_OK,
                 "%s: %s", what, scene_err.message);
    cr_assert_eq(found, trace, "%s", what);
    expect_clean(what);
    cr_assert(!file_exists(FRESH), "%s: the rest of a journal is left", what);
    if (trace == GGLD_EDIT_UNTOUCHED || trace == GGLD_EDIT_REST)
        cr_assert(is_old(s), "%s: not the old file", what);
    else if (trace != GGLD_EDIT_CLEAN)
        cr_assert_null(new_differs(s), "%s: not the new file", what);
    else
        cr_assert(is_old(s) || new_differs(s) == NULL, "%s: neither", what);
    harness_reset();
    cr_assert_eq(edit_scene(s), GGLD_OK, "%s, again: %s", what,
                 scene_err.message);
    cr_assert_null(new_differs(s), "%s, again", what);
    cr_assert_eq(entries(), 1, "%s: something is left", what);
}

/* Dies before call number n; false where there are not as many. */
static bool run_killed(const scene *s, unsigned n, size_t max_write)
{
    char what[96];
    int how;

    scene_set(s);
    harness.kill_at = n;
    harness.max_write = max_write;
    pid_t child = fork();
    if (child == 0) {
        edit_scene(s);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    if (WIFEXITED(how))
        return false;
    cr_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    snprintf(what, sizeof what, "%s, killed before call %u, writes of %zu",
             s->what, n, max_write);
    expect_recovery(s, what);
    return true;
}

void kill_everywhere(const scene *s, size_t max_write, unsigned least)
{
    unsigned n = 0;
    while (run_killed(s, n, max_write))
        n++;
    cr_assert_geq(n, least, "%s: only %u calls", s->what, n);
}

unsigned call_number(const scene *s, call what, size_t max_write)
{
    scene_set(s);
    harness.max_write = max_write;
    cr_assert_eq(edit_scene(s), GGLD_OK);
    for (unsigned i = 0; i < harness.n_calls; i++)
        if (harness.calls[i] == what)
            return i;
    cr_assert_fail("%s: no %s", s->what, call_names[what]);
    return 0;
}
