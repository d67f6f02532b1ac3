/* SPDX-License-Identifier: MIT */
/* See scene.h. */
#include "scene.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

ggld_error scene_err;

static char *folder;
static bool mounted;
static int n_extra; /* entries that a new file system has */

/* ---- where ---- */

bool can_insert(void)
{
    static const char bytes[8192] = { 1 };
    file_save("probe", bytes, sizeof bytes);
    int fd = open("probe", O_RDWR);
    bool can = fd >= 0 && fallocate(fd, FALLOC_FL_INSERT_RANGE, 0, 4096) == 0;
    close(fd);
    remove("probe");
    return can;
}

static bool mount_ext4(void)
{
    return system(
               "truncate -s 32M image && mkfs.ext4 -q image && mkdir disk && "
               "mount -o loop image disk") == 0 &&
           chdir("disk") == 0;
}

static void set_up(void)
{
    harness_reset();
    folder = folder_new();
    cr_assert_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    harness.armed = false;
    cr_assert_eq(chdir(folder), 0);
    if (mounted)
        cr_assert_eq(system("umount disk"), 0);
    mounted = false;
    n_extra = 0;
    cr_assert_eq(chdir("/"), 0);
    folder_remove(folder);
}

TestSuite(edit_in_place, .init = set_up, .fini = tear_down);

bool go_where_ranges_go(void)
{
    if (can_insert())
        return true;
    mounted = mount_ext4();
    n_extra = mounted;
    if (!mounted)
        cr_log_warn("no file system that inserts ranges: left out");
    return mounted;
}

bool mount_xfs(void)
{
    mounted = system("truncate -s 400M image && mkfs.xfs -q image 2>err && "
                     "mkdir disk && mount -o loop image disk") == 0 &&
              chdir("disk") == 0;
    return mounted;
}

/* ---- what is edited ---- */

scene scene_same_size(void)
{
    scene s = { "same size", model_plain(3, false), "other", 0, false };
    return s;
}

scene scene_slack(uint32_t version, bool big_endian)
{
    scene s = { "slack", model_plain(version, big_endian),
                "a name that is longer than the old one, by many bytes", 0,
                false };
    s.old.padding = 300;
    return s;
}

scene scene_insert(void)
{
    scene s = { "insert", model_plain(3, false), "plain", 9000, true };
    s.old.long_bytes = 100;
    return s;
}

void scene_set(const scene *s)
{
    image im = model_build(&s->old);
    remove(JOURNAL);
    remove(FRESH);
    remove(FILE_NAME);
    file_save(FILE_NAME, im.data, im.size);
    image_free(&im);
    harness_reset();
}

ggld_status change(ggld_edit *edit, const scene *s)
{
    ggld_edit_value v = { .struct_size = sizeof v,
                          .type = GGLD_VALUE_STRING,
                          .data = s->name,
                          .size = strlen(s->name) };
    ggld_status status = ggld_edit_set(edit, "general.name", &v, &scene_err);
    if (status != GGLD_OK || s->long_bytes == 0)
        return status;
    char *text = malloc(s->long_bytes);
    memset(text, 'z', s->long_bytes);
    v.data = text;
    v.size = s->long_bytes;
    status = ggld_edit_set(edit, "long", &v, &scene_err);
    free(text);
    return status;
}

/* The harness counts what carry calls. */
static ggld_status call_with(const scene *s, uint32_t flags,
                             ggld_status (*carry)(ggld_edit *edit,
                                                  ggld_error *err))
{
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit *edit = NULL;

    options.flags = GGLD_EDIT_IN_PLACE | flags;
    ggld_status status = ggld_edit_open(&edit, FILE_NAME, &options, &scene_err);
    if (status == GGLD_OK)
        status = change(edit, s);
    harness.armed = status == GGLD_OK;
    if (status == GGLD_OK)
        status = carry(edit, &scene_err);
    harness.armed = false;
    ggld_edit_free(edit);
    return status;
}

ggld_status edit_with(const scene *s, uint32_t flags)
{
    return call_with(s, flags, ggld_edit_in_place);
}

ggld_status try_scene(const scene *s)
{
    return call_with(s, 0, ggld_edit_try_in_place);
}

ggld_status edit_scene(const scene *s)
{
    return edit_with(s, 0);
}

bool is_old(const scene *s)
{
    image im = model_build(&s->old), got = file_load(FILE_NAME);
    bool same = im.size == got.size && memcmp(im.data, got.data, im.size) == 0;
    image_free(&im);
    image_free(&got);
    return same;
}

const char *new_differs(const scene *s)
{
    static char why[300];
    image old = model_build(&s->old), got = file_load(FILE_NAME);
    ggld_file *f = NULL;
    ggld_string name, text = { "", s->old.long_bytes };
    const char *differs = NULL;

    if (ggld_open_path(&f, FILE_NAME, NULL, &scene_err) != GGLD_OK) {
        snprintf(why, sizeof why, "%s", scene_err.message);
        return why;
    }
    const ggld_kv *kv = ggld_kv_find(f, "general.name");
    if (!ggld_kv_get_string(kv, &name) || name.len != strlen(s->name) ||
        memcmp(name.data, s->name, name.len) != 0)
        differs = "the name";
    kv = ggld_kv_find(f, "long");
    if (s->long_bytes != 0 && (!ggld_kv_get_string(kv, &text) ||
                               text.len != s->long_bytes || *text.data != 'z'))
        differs = "the long text";
    if (got.size < old.size || (got.size - old.size) % 1024 != 0)
        differs = "the size";
    else if (memcmp(got.data + got.size - MODEL_DATA_BYTES,
                    old.data + old.size - MODEL_DATA_BYTES,
                    MODEL_DATA_BYTES) != 0)
        differs = "the data";
    ggld_close(f);
    image_free(&old);
    image_free(&got);
    return differs;
}

int entries(void)
{
    return folder_count(".") - n_extra;
}

void expect_clean(const char *what)
{
    ggld_edit_trace trace = GGLD_EDIT_STRANGE;
    cr_assert_eq(ggld_edit_pending(FILE_NAME, &trace, NULL, &scene_err),
                 GGLD_OK, "%s: %s", what, scene_err.message);
    cr_assert_eq(trace, GGLD_EDIT_CLEAN, "%s: trace %d", what, trace);
    cr_assert(!file_exists(JOURNAL), "%s: a journal is left", what);
}

void expect_done(const scene *s)
{
    scene_set(s);
    cr_assert_eq(edit_scene(s), GGLD_OK, "%s: %s", s->what, scene_err.message);
    const char *differs = new_differs(s);
    cr_assert(differs == NULL, "%s: %s", s->what, differs);
    expect_clean(s->what);
    cr_assert(!file_exists(FRESH), "%s: something is left", s->what);
}

void patch(const char *path, long offset, const void *data, size_t size)
{
    int fd = open(path, O_RDWR);
    cr_assert_geq(fd, 0);
    if (offset < 0)
        offset += lseek(fd, 0, SEEK_END);
    cr_assert_eq(pwrite(fd, data, size, offset), (ssize_t)size);
    close(fd);
}
