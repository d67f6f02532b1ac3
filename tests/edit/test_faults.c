/* SPDX-License-Identifier: MIT */
/* Edits in place where every system call in turn fails, is interrupted, or is not
 * made as somebody has said stop: what is said is what is so. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "killing.h"

/* The call number n fails. false where there are not as many. */
static bool run_fault(const scene *s, unsigned n, int sys_errno)
{
    char what[96];

    scene_set(s);
    harness.fault_at = n;
    harness.fault_errno = sys_errno;
    ggld_status status = edit_scene(s);
    if (harness.n_calls <= n)
        return false;
    snprintf(what, sizeof what, "%s, call %u, %s, errno %d", s->what, n,
             call_names[harness.calls[n]], sys_errno);
    if (status == GGLD_OK)
        cr_assert(harness.calls[n] == CLOSE || harness.calls[n] == UNLINKAT ||
                      harness.calls[n] == OPENAT,
                  "%s: not noticed", what);
    else
        cr_assert(scene_err.sys_errno == sys_errno ||
                      status == GGLD_E_UNSUPPORTED,
                  "%s: %s", what, scene_err.message);
    if (status != GGLD_OK && strstr(scene_err.message, "all is done") == NULL)
        cr_assert(is_old(s), "%s: not the old file: %s", what,
                  scene_err.message);
    else
        cr_assert_null(new_differs(s), "%s: not the new file", what);
    expect_recovery(s, what);
    return true;
}

static void fail_everywhere(const scene *s, unsigned least)
{
    const int errnos[] = { EIO, ENOSPC, EDQUOT, EROFS };
    for (size_t e = 0; e < sizeof errnos / sizeof errnos[0]; e++) {
        unsigned n = 0;
        while (run_fault(s, n, errnos[e]))
            n++;
        cr_assert_geq(n, least, "%s: only %u calls", s->what, n);
    }
}

/* What is said is what is so. */
Test(edit_in_place, faults_of_the_journal_are_told_as_they_are)
{
    scene s = scene_same_size();

    scene_set(&s);
    harness_reset();
    cr_assert_eq(edit_scene(&s), GGLD_OK, "%s", scene_err.message);
    unsigned n = harness.n_calls, last = n;
    while (last-- > 0 && harness.calls[last] != FSYNC)
        ;
    scene_set(&s);
    harness.fault_at = last;
    harness.fault_errno = EIO;
    cr_assert_eq(edit_scene(&s), GGLD_E_IO);
    cr_assert(!file_exists(JOURNAL), "the journal is left");
    cr_assert(strstr(scene_err.message, "all is done, and it is removed") !=
                  NULL,
              "%s", scene_err.message);

    bool told = false;
    for (unsigned i = 0; i < n && !told; i++) {
        ggld_edit_trace trace;
        scene_set(&s);
        harness.fault_at = i;
        harness.fault_errno = EMFILE;
        harness.armed = true;
        ggld_status status =
            ggld_edit_pending(FILE_NAME, &trace, NULL, &scene_err);
        harness.armed = false;
        if (status == GGLD_OK)
            continue;
        cr_assert(strstr(scene_err.message, "was interrupted, ") == NULL, "%s",
                  scene_err.message);
        told = strstr(scene_err.message, "can't be told whether") != NULL;
    }
    cr_assert(told, "the journal's opening was not made to fail");
}

static int stop_at(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    unsigned *left = user;
    cr_assert_leq(done_bytes, total_bytes);
    return (*left)-- == 0;
}

Test(edit_in_place, it_is_stopped_until_the_journal_counts)
{
    scene s = scene_same_size();

    for (unsigned at = 0; at < 3; at++) {
        ggld_edit_options options = ggld_edit_options_init();
        ggld_edit *edit = NULL;
        unsigned left = at;
        scene_set(&s);
        options.flags = GGLD_EDIT_IN_PLACE;
        options.progress = stop_at;
        options.progress_user = &left;
        cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, &options, &scene_err),
                     GGLD_OK);
        cr_assert_eq(change(edit, &s), GGLD_OK);
        cr_assert_eq(ggld_edit_in_place(edit, &scene_err),
                     at < 2 ? GGLD_E_CANCELLED : GGLD_OK, "stop %u", at);
        ggld_edit_free(edit);
        cr_assert(at == 2 || is_old(&s), "stop %u: not the old file", at);
        cr_assert(!file_exists(FRESH) && !file_exists(JOURNAL),
                  "stop %u: something is left", at);
    }
    cr_assert_null(new_differs(&s), "not stopped: not the new file");
}

Test(edit_in_place, any_call_may_fail, .timeout = 200)
{
    scene same = scene_same_size(), slack = scene_slack(3, false);
    fail_everywhere(&same, 12);
    fail_everywhere(&slack, 12);
    if (!go_where_ranges_go())
        return;
    scene insert = scene_insert();
    fail_everywhere(&insert, 15);
}

Test(edit_in_place, calls_that_are_interrupted_are_made_again)
{
    scene s = scene_slack(3, false);
    for (unsigned n = 0;; n++) {
        scene_set(&s);
        harness.fault_at = n;
        harness.fault_errno = EINTR;
        ggld_status status = edit_scene(&s);
        if (harness.n_calls <= n)
            break;
        call what = harness.calls[n];
        if (what == RENAMEAT || what == UNLINKAT)
            continue; /* these are not interrupted */
        cr_assert_eq(status, GGLD_OK, "%s: %s", call_names[what],
                     scene_err.message);
        cr_assert_null(new_differs(&s), "%s", call_names[what]);
        expect_clean(call_names[what]);
    }
}
