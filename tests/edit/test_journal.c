/* SPDX-License-Identifier: MIT */
/* A journal that does not fit, or whose file has changed, is never applied. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "killing.h"

static void leave_halfway(const scene *s)
{
    int how;
    unsigned rename_at = call_number(s, RENAMEAT, 150);
    scene_set(s);
    pid_t child = fork();
    if (child == 0) {
        harness.kill_at = rename_at + 4;
        harness.max_write = 150;
        edit_scene(s);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    cr_assert(WIFSIGNALED(how));
    cr_assert(file_exists(JOURNAL));
}

static void expect_strange(const char *what, ggld_status status,
                           const char *text)
{
    image before = file_load(FILE_NAME);
    ggld_edit_trace trace = GGLD_EDIT_CLEAN;
    ggld_error why;

    cr_assert_eq(ggld_edit_pending(FILE_NAME, &trace, &why, &scene_err),
                 GGLD_OK);
    cr_assert_eq(trace, GGLD_EDIT_STRANGE, "%s: trace %d", what, trace);
    cr_assert(strstr(why.message, text) != NULL, "%s: %s", what, why.message);
    cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, NULL, &scene_err), status,
                 "%s: %s", what, scene_err.message);
    cr_assert(strstr(scene_err.message, text) != NULL, "%s: %s", what,
              scene_err.message);
    cr_assert(file_exists(JOURNAL), "%s: the journal is gone", what);
    image after = file_load(FILE_NAME);
    cr_assert_null(
        bytes_differ(after.data, after.size, before.data, before.size),
        "%s: the file was touched", what);
    image_free(&before);
    image_free(&after);
}

Test(edit_in_place, a_journal_that_does_not_fit_is_never_applied)
{
    scene s = scene_slack(3, false);
    image im;

    leave_halfway(&s);
    im = file_load(JOURNAL);
    /* Every byte of it counts, and its length. */
    for (size_t at = 0; at < im.size; at++) {
        uint8_t byte = (uint8_t)(im.data[at] ^ 4);
        patch(JOURNAL, (long)at, &byte, 1);
        expect_strange("damaged", GGLD_E_CHECKSUM, "not applied");
        patch(JOURNAL, (long)at, &im.data[at], 1);
    }
    const size_t sizes[] = { 0, 7, 71, 72, im.size - 1 };
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(truncate(JOURNAL, (off_t)sizes[i]), 0);
        expect_strange("cut", GGLD_E_CHECKSUM, "not applied");
        file_save(JOURNAL, im.data, im.size);
    }

    /* The file is another one. */
    image model = file_load(FILE_NAME);
    cr_assert_eq(rename(FILE_NAME, "aside"), 0);
    file_save(FILE_NAME, model.data, model.size);
    expect_strange("inode", GGLD_E_CHANGED, "another inode");
    cr_assert_eq(rename("aside", FILE_NAME), 0);

    /* It is the same one, and was changed. */
    patch(FILE_NAME, 30, "?", 1);
    expect_strange("metadata", GGLD_E_CHANGED, "neither those before");
    patch(FILE_NAME, 30, &model.data[30], 1);
    patch(FILE_NAME, -3, "?", 1);
    expect_strange("data", GGLD_E_CHANGED, "neither those before");
    patch(FILE_NAME, -3, &model.data[model.size - 3], 1);
    cr_assert_eq(truncate(FILE_NAME, (off_t)model.size + 1), 0);
    expect_strange("size", GGLD_E_CHANGED, "another size");
    cr_assert_eq(truncate(FILE_NAME, (off_t)model.size), 0);

    ggld_edit_trace found;
    cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, &found, &scene_err), GGLD_OK,
                 "%s", scene_err.message);
    cr_assert_eq(found, GGLD_EDIT_HALFWAY);
    cr_assert_null(new_differs(&s));
    image_free(&im);
    image_free(&model);
}
