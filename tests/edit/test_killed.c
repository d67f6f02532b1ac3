/* SPDX-License-Identifier: MIT */
/* Edits in place, and recoveries, where every system call in turn is the last
 * before the process is killed: after a recovery the file is the old model or the
 * new one, its data as it was. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "killing.h"

Test(edit_in_place, killed_between_any_two_calls)
{
    scene same = scene_same_size(), slack = scene_slack(3, false);
    kill_everywhere(&same, 0, 12);
    kill_everywhere(&slack, 0, 12);
    kill_everywhere(&slack, 50, 30);
    slack = scene_slack(1, true);
    kill_everywhere(&slack, 0, 12);
}

Test(edit_in_place, killed_between_any_two_calls_that_make_room, .timeout = 200)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    kill_everywhere(&s, 0, 15);
    kill_everywhere(&s, 1000, 30);
}

/* A recovery may be killed as well. */
static bool run_recovery_killed(const scene *s, unsigned killed, unsigned n)
{
    char what[96];
    int how;

    scene_set(s);
    pid_t child = fork();
    if (child == 0) {
        harness.kill_at = killed;
        harness.max_write = 1000;
        edit_scene(s);
        _exit(0);
    }
    waitpid(child, &how, 0);
    child = fork();
    if (child == 0) {
        harness_reset();
        harness.kill_at = n;
        harness.max_write = 1000;
        harness.armed = true;
        (void)!ggld_edit_recover(FILE_NAME, 0, NULL, &scene_err);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    snprintf(what, sizeof what, "%s, recovery of %u killed before call %u",
             s->what, killed, n);
    harness_reset();
    expect_recovery(s, what);
    return !WIFEXITED(how);
}

Test(edit_in_place, recovery_killed_between_any_two_calls, .timeout = 200)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    unsigned after_insert = call_number(&s, INSERT, 1000) + 1;
    for (unsigned k = after_insert; k < after_insert + 6; k += 5) {
        unsigned n = 0;
        while (run_recovery_killed(&s, k, n))
            n++;
        cr_assert_geq(n, 10, "only %u calls", n);
    }
}

/* ---- moved in part ---- */

/* The system went down in the kernel's work: the end of the file was moved, its
 * start was not. */
Test(edit_in_place, a_file_that_was_moved_in_part_is_brought_back)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    s.old.long_bytes = 30000;
    s.long_bytes = 50000;
    unsigned after = call_number(&s, INSERT, 1000) + 1;
    for (off_t at = 4096; at <= 28672 + 4096; at += 8192) {
        ggld_edit_trace found = GGLD_EDIT_CLEAN;
        int how;
        scene_set(&s);
        pid_t child = fork();
        if (child == 0) {
            harness.kill_at = after;
            harness.max_write = 1000;
            edit_scene(&s);
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &how, 0), child);
        struct stat st;
        image old = model_build(&s.old);
        cr_assert_eq(stat(FILE_NAME, &st), 0);
        off_t moved = st.st_size - (off_t)old.size;
        cr_assert_gt(moved, 0);
        int fd = open(FILE_NAME, O_RDWR);
        cr_assert_eq(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, moved), 0);
        if (at < (off_t)old.size)
            cr_assert_eq(fallocate(fd, FALLOC_FL_INSERT_RANGE, at, moved), 0);
        else
            cr_assert_eq(ftruncate(fd, st.st_size), 0);
        cr_assert_eq(fsync(fd), 0);
        close(fd);
        image_free(&old);
        cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, &found, &scene_err),
                     GGLD_OK, "at %lld: %s", (long long)at, scene_err.message);
        cr_assert_eq(found, GGLD_EDIT_SHIFTED, "at %lld: %d", (long long)at,
                     found);
        cr_assert(is_old(&s), "at %lld", (long long)at);
        expect_clean("moved back");
    }
}
