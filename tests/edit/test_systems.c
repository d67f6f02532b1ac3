/* SPDX-License-Identifier: MIT */
/* File systems: what those do that insert ranges or share blocks, and what is
 * said where they offer neither. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "killing.h"

Test(edit_in_place, what_a_file_system_does_not_offer_is_said)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    unsigned insert = call_number(&s, INSERT, 1000);
    scene_set(&s);
    harness.fault_at = insert;
    harness.max_write = 1000;
    harness.fault_errno = EOPNOTSUPP;
    cr_assert_eq(edit_scene(&s), GGLD_E_UNSUPPORTED);
    cr_assert(strstr(scene_err.message, "no room in place") != NULL, "%s",
              scene_err.message);
    cr_assert(is_old(&s));
    expect_clean("no insert");
}

static long blocks_used(void)
{
    struct statvfs st;
    cr_assert_eq(system("sync -f ."), 0);
    cr_assert_eq(statvfs(".", &st), 0);
    return (long)((st.f_blocks - st.f_bfree) * (st.f_frsize / 512));
}

Test(edit_in_place, a_new_file_shares_blocks_where_it_can)
{
    if (!mount_xfs()) {
        cr_log_warn("no file system that shares blocks: left out");
        return;
    }
    const size_t many = 16u << 20;
    scene s = scene_insert();
    scene_set(&s);
    /* Bytes behind the last tensor go along. */
    uint8_t *bytes = malloc(many);
    for (size_t i = 0; i < many; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 4096);
    int fd = open(FILE_NAME, O_WRONLY | O_APPEND);
    cr_assert_eq(write(fd, bytes, many), (ssize_t)many);
    close(fd);
    image old = file_load(FILE_NAME);
    size_t old_data = model_data_offset(&s.old);

    long before = blocks_used();
    ggld_edit *edit = NULL;
    cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, NULL, &scene_err), GGLD_OK);
    cr_assert_eq(change(edit, &s), GGLD_OK);
    cr_assert_eq(ggld_edit_write(edit, "new.gguf", &scene_err), GGLD_OK, "%s",
                 scene_err.message);
    ggld_edit_free(edit);
    long more = blocks_used() - before;
    cr_assert_lt(more, 4096, "%ld blocks of 512 bytes more", more);

    ggld_file *f = NULL;
    ggld_file_info info = { .struct_size = sizeof info };
    cr_assert_eq(ggld_open_path(&f, "new.gguf", NULL, &scene_err), GGLD_OK);
    ggld_file_get_info(f, &info);
    ggld_close(f);
    cr_assert_eq(info.metadata_bytes % 4096, old_data % 4096);
    image new = file_load("new.gguf");
    cr_assert_null(bytes_differ(new.data + info.metadata_bytes,
                                new.size - info.metadata_bytes,
                                old.data + old_data, old.size - old_data));
    image_free(&old);
    image_free(&new);
    free(bytes);
}

Test(edit_in_place, room_is_made_on_xfs_too)
{
    if (!mount_xfs()) {
        cr_log_warn("no xfs: left out");
        return;
    }
    scene s = scene_insert();
    expect_done(&s);
    cr_assert(was_called(INSERT));
    kill_everywhere(&s, 1000, 30);
}
