/* SPDX-License-Identifier: MIT */
/* Edits in place that end well: the file is the new model, its data as it was,
 * and nothing is left beside it. */
#include <criterion/criterion.h>
#include <sys/stat.h>

#include "harness.h"
#include "scene.h"

Test(edit_in_place, same_size_and_slack)
{
    scene s = scene_same_size();
    expect_done(&s);
    image im = file_load(FILE_NAME);
    cr_assert_eq(im.size, model_data_offset(&s.old) + MODEL_DATA_BYTES);
    image_free(&im);
    const bool big[] = { false, true, false, false, true };
    const uint32_t versions[] = { 3, 3, 2, 1, 1 };
    for (int i = 0; i < 5; i++) {
        s = scene_slack(versions[i], big[i]);
        expect_done(&s);
        cr_assert(!was_called(INSERT));
        im = file_load(FILE_NAME);
        cr_assert_eq(im.size, model_data_offset(&s.old) + MODEL_DATA_BYTES);
        image_free(&im);
    }
}

Test(edit_in_place, what_gets_shorter_leaves_slack)
{
    scene s = scene_slack(3, false);
    s.old.padding = -1;
    s.old.long_bytes = 500;
    s.long_bytes = 10;
    expect_done(&s);
    ggld_file *f = NULL;
    cr_assert_eq(ggld_open_path(&f, FILE_NAME, NULL, &scene_err), GGLD_OK);
    cr_assert_not_null(ggld_kv_find(f, "ggld.padding"));
    ggld_close(f);
    /* And takes it again. */
    s.long_bytes = 440;
    cr_assert_eq(edit_scene(&s), GGLD_OK, "%s", scene_err.message);
    cr_assert_null(new_differs(&s));
    cr_assert(!was_called(INSERT));
}

Test(edit_in_place, room_is_made)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    expect_done(&s);
    cr_assert(was_called(INSERT));
    image im = file_load(FILE_NAME);
    cr_assert_gt(im.size, model_data_offset(&s.old) + MODEL_DATA_BYTES);
    image_free(&im);
    s.old.version = 1;
    s.old.big_endian = true;
    expect_done(&s);
}

Test(edit_in_place, nothing_to_do_writes_nothing)
{
    scene s = scene_same_size();
    s.name = "plain";
    scene_set(&s);
    struct stat before, after;
    stat(FILE_NAME, &before);
    cr_assert_eq(edit_scene(&s), GGLD_OK, "%s", scene_err.message);
    stat(FILE_NAME, &after);
    cr_assert_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    cr_assert_eq(harness.n_calls, 0, "%u calls", harness.n_calls);
}

Test(edit_in_place, trying_writes_nothing)
{
    scene scenes[] = { scene_same_size(), scene_slack(3, false),
                       scene_insert() };
    for (size_t i = 0; i < 3; i++) {
        scene_set(&scenes[i]);
        ggld_status status = try_scene(&scenes[i]);
        cr_assert(status == GGLD_OK || (scenes[i].inserts && !can_insert()),
                  "%s: %s", scenes[i].what, scene_err.message);
        cr_assert(is_old(&scenes[i]), "%s: not the old file", scenes[i].what);
        cr_assert_eq(entries(), 1, "%s: something is left", scenes[i].what);
        cr_assert(!was_called(PWRITE) && !was_called(RENAMEAT),
                  "%s: something was written", scenes[i].what);
        cr_assert_eq(edit_scene(&scenes[i]), status, "%s: %s", scenes[i].what,
                     scene_err.message);
    }
}
