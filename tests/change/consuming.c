/* SPDX-License-Identifier: MIT */
/* See consuming.h. */
#include "consuming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../views/check.h"
#include "models.h"

int n_failed;

char *folder;
char *source_folder;
char out_path[128], journal_path[160], part_path[160];

static ggld_file *model;
static image whole; /* what the output is to be */
static char prefix[128];

const char *shard_path(uint32_t no)
{
    static char path[300];
    ggld_shard_path(path, sizeof path, prefix, no, N_SHARDS);
    return path;
}

static void make_source(void)
{
    model_made m = { .unknown = true, .alignment = 64 };
    const char *path = folder_path(source_folder, "whole.gguf");
    ggld_error err;

    whole = model_image(&m);
    file_save(path, whole.data, whole.size);
    if (ggld_open_path(&model, path, NULL, &err) != GGLD_OK)
        exit(99);
}

static void empty_folder(void)
{
    for (uint32_t i = 0; i < N_SHARDS; i++)
        remove(shard_path(i));
    remove(out_path);
    remove(journal_path);
    remove(part_path);
    char command[300];
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    if (folder_count(folder) != 0 && system(command) != 0)
        exit(99);
}

void set_scene(void)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_error err;

    empty_folder();
    options.max_tensors = 1;
    if (ggld_split_plan_new(&plan, model, &options, &err) != GGLD_OK ||
        ggld_split_write(plan, prefix, &err) != GGLD_OK)
        exit(99);
    ggld_split_plan_free(plan);
    file_save(out_path, "old", 3);
}

ggld_status run(ggld_error *err)
{
    char first[300];
    snprintf(first, sizeof first, "%s", shard_path(0));
    return ggld_merge_consume(first, out_path, NULL, err);
}

bool is_whole(void)
{
    image im = file_load(out_path);
    bool same =
        im.size == whole.size && memcmp(im.data, whole.data, im.size) == 0;
    image_free(&im);
    return same;
}

bool is_old(void)
{
    image im = file_load(out_path);
    bool old = im.size == 3 && memcmp(im.data, "old", 3) == 0;
    image_free(&im);
    return old;
}

uint32_t n_shards(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_SHARDS; i++)
        n += file_exists(shard_path(i));
    return n;
}

void expect_done(const char *what, unsigned n)
{
    CHECK(is_whole() && folder_count(folder) == 1,
          "%s %u: the output is %s, %d entries are there", what, n,
          is_whole() ? "whole" : "not whole", folder_count(folder));
}

void expect_untouched(const char *what, unsigned n)
{
    CHECK(is_old() && n_shards() == N_SHARDS &&
              folder_count(folder) == N_SHARDS + 1,
          "%s %u: %s, %u shards, %d entries", what, n,
          is_old() ? "old output" : "another output", (unsigned)n_shards(),
          folder_count(folder));
}

void check_between(const char *what, unsigned n)
{
    CHECK(is_old() || is_whole(), "%s %u: the output is neither", what, n);
    if (n_shards() != N_SHARDS)
        CHECK(file_exists(part_path) || is_whole(),
              "%s %u: shards are gone, and no part is there", what, n);
}

bool run_killed(unsigned n)
{
    ggld_error err;
    int how;

    calls_reset();
    calls.kill_at = n;
    calls.armed = true;
    pid_t child = fork();
    if (child == 0)
        _exit(run(&err) == GGLD_OK ? 0 : 1);
    calls_reset();
    waitpid(child, &how, 0);
    check_between("killed before call", n);
    return WIFSIGNALED(how);
}

void set_halfway(void)
{
    for (unsigned n = 0;; n++) {
        set_scene();
        run_killed(n);
        if (n_shards() == N_SHARDS - 1)
            return;
    }
}

void expect_refusal(ggld_status want, const char *message)
{
    ggld_error err = { .message = "" };
    ggld_status status = run(&err);
    CHECK(status == want && strstr(err.message, message) != NULL,
          "expected %s, '%s', got %s, '%s'", ggld_status_name(want), message,
          ggld_status_name(status), err.message);
}

void consuming_begin(void)
{
    source_folder = folder_new();
    folder = folder_new();
    snprintf(prefix, sizeof prefix, "%s/m", folder);
    snprintf(out_path, sizeof out_path, "%s/out.gguf", folder);
    snprintf(part_path, sizeof part_path, "%s.ggld-part", out_path);
    snprintf(journal_path, sizeof journal_path, "%s.ggld-merge", out_path);
    calls_reset();
    make_source();
}

int consuming_end(void)
{
    ggld_close(model);
    image_free(&whole);
    folder_remove(folder);
    folder_remove(source_folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
