/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume: what is refused before anything is done, files that are not
 * its own, and a call for nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../views/check.h"
#include "consuming.h"
#include "models.h"

/* What the merge has not made is not touched. */
static void expect_foreign(const char *path, const char *name)
{
    ggld_error err = { .message = "" };

    set_scene();
    file_save(path, "foreign", 7);
    ggld_status status = run(&err);
    image im = file_load(path);
    CHECK(status == GGLD_E_INVALID && strstr(err.message, name) != NULL &&
              strstr(err.message, "no journal says whose it is") != NULL,
          "%s: %s: %s", name, ggld_status_name(status), err.message);
    CHECK(im.size == 7 && memcmp(im.data, "foreign", 7) == 0, "%s is kept",
          name);
    CHECK(is_old() && n_shards() == N_SHARDS &&
              folder_count(folder) == N_SHARDS + 2,
          "%s: %d entries", name, folder_count(folder));
    image_free(&im);
}

static void test_foreign_files(void)
{
    char fresh[200];

    expect_foreign(part_path, "out.gguf.ggld-part");
    snprintf(fresh, sizeof fresh, "%s-new", journal_path);
    expect_foreign(fresh, "out.gguf.ggld-merge-new");
    /* That of another's writing stays, whatever becomes of the merge. */
    ggld_error err = { .message = "" };
    set_scene();
    snprintf(fresh, sizeof fresh, "%s.tmp.notes", part_path);
    file_save(fresh, "foreign", 7);
    CHECK_OK(run(&err), err, "beside a file of a like name");
    CHECK(is_whole() && file_exists(fresh), "a file of a like name is kept");
}

static void test_again(void)
{
    ggld_error err = { .message = "" };

    set_scene();
    CHECK_OK(run(&err), err, "once");
    expect_refusal(GGLD_E_SHARD, "they were merged before, it seems, and "
                                 "nothing is left to do");
    expect_done("twice", 0);
}

static void test_refusals(void)
{
    ggld_merge_options options = ggld_merge_options_init();
    ggld_error err;

    set_scene();
    CHECK(ggld_merge_consume(out_path, out_path, NULL, &err) ==
                  GGLD_E_INVALID &&
              strstr(err.message, "is no name of a shard") != NULL,
          "%s", err.message);
    options.flags = GGLD_MERGE_DELETE;
    CHECK(ggld_merge_consume(shard_path(0), out_path, &options, &err) ==
              GGLD_E_ABI,
          "flags");
    char out[300];
    snprintf(out, sizeof out, "%s", shard_path(1));
    CHECK(ggld_merge_consume(shard_path(0), out, NULL, &err) == GGLD_E_INVALID,
          "%s", err.message);
    expect_untouched("refused", 0);

    snprintf(out, sizeof out, "%s/there", folder);
    if (rename(shard_path(1), out) != 0 || symlink(out, shard_path(1)) != 0)
        exit(99);
    CHECK(run(&err) == GGLD_E_CHANGED &&
              strstr(err.message, "is a link") != NULL,
          "%s", err.message);
    CHECK(is_old() && folder_count(folder) == N_SHARDS + 2, "%d entries",
          folder_count(folder));
    remove(shard_path(1));
    CHECK(run(&err) == GGLD_E_IO, "a missing shard: %s", err.message);
    CHECK(is_old() && folder_count(folder) == N_SHARDS + 1, "%d entries",
          folder_count(folder));
}

static int cancel_second(uint64_t done, uint64_t total, void *user)
{
    (void)done;
    (void)total;
    return ++*(unsigned *)user == 1;
}

static void test_cancelled_and_resumed(void)
{
    ggld_merge_options options = ggld_merge_options_init();
    unsigned calls_heard = 0;
    ggld_error err;

    set_scene();
    options.progress = cancel_second;
    options.progress_user = &calls_heard;
    /* A model of one step: it is called when there is nothing to give up. */
    CHECK_OK(ggld_merge_consume(shard_path(0), out_path, &options, &err), err,
             "too late");
    CHECK(calls_heard == 1, "%u calls", calls_heard);
    expect_done("cancelled too late", 0);
}

int main(void)
{
    consuming_begin();
    test_foreign_files();
    test_again();
    test_refusals();
    test_cancelled_and_resumed();
    return consuming_end();
}
