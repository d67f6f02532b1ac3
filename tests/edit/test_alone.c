/* SPDX-License-Identifier: MIT */
/* Files that others use, or change meanwhile, are not edited in place. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "scene.h"

static void expect_refused(const scene *s, const char *text)
{
    for (int only_try = 1; only_try >= 0; only_try--) {
        cr_assert_eq(only_try ? try_scene(s) : edit_scene(s),
                     GGLD_E_UNSUPPORTED, "%s: %s", only_try ? "tried" : "done",
                     scene_err.message);
        cr_assert(strstr(scene_err.message, text) != NULL, "%s",
                  scene_err.message);
        cr_assert(is_old(s));
        expect_clean(text);
    }
    cr_assert_eq(edit_with(s, GGLD_EDIT_FORCE), GGLD_OK, "%s",
                 scene_err.message);
    cr_assert_null(new_differs(s));
    scene_set(s);
}

Test(edit_in_place, a_file_that_others_use_is_refused_unless_forced)
{
    scene s = scene_slack(3, false);
    scene_set(&s);
    int fd = open(FILE_NAME, O_RDONLY);
    expect_refused(&s, "open or mapped");
    close(fd);
    fd = open(FILE_NAME, O_RDONLY);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    expect_refused(&s, "open or mapped");
    munmap(map, 4096);
    cr_assert_eq(link(FILE_NAME, "other.gguf"), 0);
    expect_refused(&s, "2 names");
    remove("other.gguf");
    expect_done(&s);
}

Test(edit_in_place, a_file_that_was_changed_meanwhile_is_refused)
{
    scene s = scene_slack(3, false);
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit *edit = NULL;

    scene_set(&s);
    options.flags = GGLD_EDIT_IN_PLACE;
    cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, &options, &scene_err),
                 GGLD_OK);
    cr_assert_eq(change(edit, &s), GGLD_OK);
    usleep(20000);
    patch(FILE_NAME, -1, "!", 1);
    cr_assert_eq(ggld_edit_in_place(edit, &scene_err), GGLD_E_CHANGED, "%s",
                 scene_err.message);
    ggld_edit_free(edit);
    expect_clean("changed");
}
