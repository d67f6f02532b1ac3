/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume: whatever system call fails or is the last, the same call
 * goes on from there, and the model is whole in the end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../views/check.h"
#include "models.h"
#include "syscalls.h"

int n_failed;

#define N_SHARDS 3

static char *folder; /* has nothing but the scene */
static char *source_folder;
static ggld_file *model;
static image whole; /* what the output is to be */
static char prefix[128], out_path[128], journal_path[160], part_path[160];

static const char *shard_path(uint32_t no)
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

/* The shards, and an old file where the output is to be. */
static void set_scene(void)
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

static ggld_status run(ggld_error *err)
{
    char first[300];
    snprintf(first, sizeof first, "%s", shard_path(0));
    return ggld_merge_consume(first, out_path, NULL, err);
}

static bool is_whole(void)
{
    image im = file_load(out_path);
    bool same =
        im.size == whole.size && memcmp(im.data, whole.data, im.size) == 0;
    image_free(&im);
    return same;
}

static bool is_old(void)
{
    image im = file_load(out_path);
    bool old = im.size == 3 && memcmp(im.data, "old", 3) == 0;
    image_free(&im);
    return old;
}

static uint32_t n_shards(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_SHARDS; i++)
        n += file_exists(shard_path(i));
    return n;
}

static void expect_done(const char *what, unsigned n)
{
    CHECK(is_whole() && folder_count(folder) == 1,
          "%s %u: the output is %s, %d entries are there", what, n,
          is_whole() ? "whole" : "not whole", folder_count(folder));
}

static void expect_untouched(const char *what, unsigned n)
{
    CHECK(is_old() && n_shards() == N_SHARDS &&
              folder_count(folder) == N_SHARDS + 1,
          "%s %u: %s, %u shards, %d entries", what, n,
          is_old() ? "old output" : "another output", (unsigned)n_shards(),
          folder_count(folder));
}

/* ---- crashes ---- */

static void check_between(const char *what, unsigned n)
{
    CHECK(is_old() || is_whole(), "%s %u: the output is neither", what, n);
    if (n_shards() != N_SHARDS)
        CHECK(file_exists(part_path) || is_whole(),
              "%s %u: shards are gone, and no part is there", what, n);
}

/* false where there are not as many calls. */
static bool run_killed(unsigned n)
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

static void test_crashes(void)
{
    unsigned n = 0;
    bool killed = true;

    for (; killed; n++) {
        ggld_error err = { .message = "" };
        set_scene();
        killed = run_killed(n);
        if (is_whole() && n_shards() == 0 && !file_exists(journal_path))
            continue; /* only the last sync was left */
        CHECK_OK(run(&err), err, "the next run");
        expect_done("killed before call", n);
    }
    CHECK(n > 25, "only %u calls", n);
}

/* And again, while it goes on. */
static void test_crashes_twice(void)
{
    for (unsigned n = 4; n < 40; n += 5)
        for (unsigned m = 0; m < 40; m += 7) {
            ggld_error err = { .message = "" };
            set_scene();
            run_killed(n);
            run_killed(m);
            if (!is_whole() || file_exists(journal_path))
                CHECK_OK(run(&err), err, "the next run");
            expect_done("killed twice before call", n * 100 + m);
        }
}

/* ---- faults ---- */

static bool may_fail_unseen(const char *name)
{
    return strcmp(name, "copy_file_range") == 0;
}

static bool run_fault(unsigned n, int sys_errno)
{
    ggld_error err = { .message = "" };
    char what[64];

    set_scene();
    calls_reset();
    calls.fault_at = n;
    calls.fault_errno = sys_errno;
    calls.armed = true;
    ggld_status status = run(&err);
    const char *name = calls.faulted;
    calls_reset();
    if (name == NULL)
        return false;
    snprintf(what, sizeof what, "%s, call", name);
    if (status == GGLD_OK) {
        CHECK(may_fail_unseen(name), "%s %u: not noticed", what, n);
        expect_done(what, n);
        return true;
    }
    CHECK(status == GGLD_E_IO && err.sys_errno == sys_errno, "%s %u: %s", what,
          n, err.message);
    check_between(what, n);
    if (!file_exists(journal_path) && n_shards() == N_SHARDS) {
        expect_untouched(what, n);
        return true;
    }
    if (file_exists(journal_path))
        CHECK_OK(run(&err), err, "the next run");
    expect_done(what, n);
    return true;
}

static void test_faults(void)
{
    unsigned n = 0;
    while (run_fault(n, EIO))
        n++;
    CHECK(n > 25, "only %u calls", n);
    n = 0;
    while (run_fault(n, ENOSPC))
        n++;
}

/* ---- what does not fit ---- */

/* Two shards are left, and one is in the part. */
static void set_halfway(void)
{
    for (unsigned n = 0;; n++) {
        set_scene();
        run_killed(n);
        if (n_shards() == N_SHARDS - 1)
            return;
    }
}

static void expect_refusal(ggld_status want, const char *message)
{
    ggld_error err = { .message = "" };
    ggld_status status = run(&err);
    CHECK(status == want && strstr(err.message, message) != NULL,
          "expected %s, '%s', got %s, '%s'", ggld_status_name(want), message,
          ggld_status_name(status), err.message);
}

static void flip_byte(const char *path, size_t from_end)
{
    image im = file_load(path);
    im.data[im.size - from_end] ^= 1;
    file_save(path, im.data, im.size);
    image_free(&im);
}

/* The same bytes in another file, of another time. */
static void copy_over(const char *path)
{
    image im = file_load(path);
    char copy[300];
    snprintf(copy, sizeof copy, "%s.copy", path);
    file_save(copy, im.data, im.size);
    image_free(&im);
    if (rename(copy, path) != 0)
        exit(99);
}

static void test_shards_that_change(void)
{
    static const char another[] = "is not the one that was there when the "
                                  "merge began";
    set_halfway();
    int fd = open(shard_path(2), O_WRONLY | O_APPEND);
    if (fd < 0 || write(fd, "x", 1) != 1)
        exit(99);
    close(fd);
    expect_refusal(GGLD_E_CHANGED, another);
    CHECK(file_exists(shard_path(1)),
          "the second is kept where the third has changed");
    set_halfway();
    flip_byte(shard_path(2), 1);
    expect_refusal(GGLD_E_CHANGED, another);
    CHECK(file_exists(shard_path(1)),
          "the second is kept where a byte of the third has changed");
    flip_byte(shard_path(2), 1);
    ggld_error err = { .message = "" };
    CHECK_OK(run(&err), err, "put back as it was");
    expect_done("put back as it was", 0);
    set_halfway();
    remove(shard_path(2));
    expect_refusal(GGLD_E_IO, "shard 'm-00003-of-00003.gguf': can't look");
    CHECK(file_exists(part_path) && file_exists(shard_path(1)),
          "what is there is kept");
}

/* A byte is another, and the time of the last write as it was: as after a copy
 * that keeps times. */
static void test_times_put_back(void)
{
    struct stat then, now;

    set_halfway();
    if (stat(shard_path(2), &then) != 0)
        exit(99);
    const struct timespec times[2] = { then.st_atim, then.st_mtim };
    /* Until the system's clock has gone on. */
    do {
        flip_byte(shard_path(2), 1);
        flip_byte(shard_path(2), 1);
        if (stat(shard_path(2), &now) != 0)
            exit(99);
    } while (now.st_ctim.tv_sec == then.st_ctim.tv_sec &&
             now.st_ctim.tv_nsec == then.st_ctim.tv_nsec);
    flip_byte(shard_path(2), 1);
    if (utimensat(AT_FDCWD, shard_path(2), times, 0) != 0)
        exit(99);
    expect_refusal(GGLD_E_CHANGED, "is not the one that was there when the "
                                   "merge began");
    CHECK(n_shards() == 2, "the shards are kept: expected 2, got %u",
          (unsigned)n_shards());
}

static void test_copies_go_on(void)
{
    ggld_error err = { .message = "" };

    set_halfway();
    copy_over(shard_path(1));
    copy_over(shard_path(2));
    CHECK_OK(run(&err), err, "copied shards");
    expect_done("copied shards", 0);
    set_halfway();
    copy_over(part_path);
    CHECK_OK(run(&err), err, "a copied part");
    expect_done("a copied part", 0);
    /* All is done and named, but for the journal's end. */
    for (unsigned n = 0;; n++) {
        set_scene();
        run_killed(n);
        if (is_whole() && file_exists(journal_path))
            break;
    }
    copy_over(out_path);
    CHECK_OK(run(&err), err, "a copied output");
    expect_done("a copied output", 0);
}

/* A part that lacks what was consumed, once by the number of the one that is
 * gone. Where the system gives no number twice, there is nothing to try. */
static void test_number_given_again(void)
{
    struct stat then, now = { .st_ino = 0 };
    char kept[200];

    set_halfway();
    image part = file_load(part_path);
    if (stat(part_path, &then) != 0 || remove(part_path) != 0)
        exit(99);
    memset(part.data + part.size * 2 / 5, 0, part.size * 3 / 5);
    for (unsigned i = 0; i < 64 && now.st_ino != then.st_ino; i++) {
        file_save(part_path, part.data, part.size);
        snprintf(kept, sizeof kept, "%s/kept-%u", source_folder, i);
        if (stat(part_path, &now) != 0 ||
            (now.st_ino != then.st_ino && rename(part_path, kept) != 0))
            exit(99);
    }
    image_free(&part);
    if (now.st_ino != then.st_ino)
        return;
    expect_refusal(GGLD_E_CHANGED,
                   "is not the file that its journal speaks of");
    CHECK(n_shards() == 2, "the shards are kept: expected 2, got %u",
          (unsigned)n_shards());
}

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

static void test_journals_that_do_not_fit(void)
{
    set_halfway();
    image im = file_load(journal_path);
    im.data[20] ^= 1;
    file_save(journal_path, im.data, im.size);
    expect_refusal(GGLD_E_IO, "its journal is damaged, or of another version");
    im.data[20] ^= 1;
    file_save(journal_path, im.data, im.size - 1);
    expect_refusal(GGLD_E_IO, "its journal is damaged, or of another version");
    file_save(journal_path, im.data, im.size);
    image_free(&im);

    copy_over(part_path);
    image part = file_load(part_path);
    /* The first shard's tensor is the first: one that is a hole again. */
    memset(part.data + part.size * 2 / 5, 0, part.size * 3 / 5);
    file_save(part_path, part.data, part.size);
    image_free(&part);
    copy_over(part_path);
    expect_refusal(GGLD_E_CHANGED,
                   "is not the file that its journal speaks of");
    CHECK(n_shards() == 2, "the shards are kept");

    ggld_error err;
    char other[300];
    set_halfway();
    snprintf(other, sizeof other, "%s/n-00001-of-00003.gguf", folder);
    CHECK(ggld_merge_consume(other, out_path, NULL, &err) == GGLD_E_CHANGED &&
              strstr(err.message, "of another model") != NULL,
          "%s", err.message);
    CHECK_OK(run(&err), err, "the right one");
    expect_done("the right one", 0);
}

/* Two shards are left, and a mark is not what it should be: nothing is lost. */
static const struct {
    const char *name;
    uint32_t shard;
    uint8_t mark;
    ggld_status want;
    const char *message;
} wrong_marks[] = {
    { "of the shard that is gone, lost", 0, 0, GGLD_E_IO,
      "shard 'm-00001-of-00003.gguf': can't look" },
    { "of a shard that is not in the part", 1, 1, GGLD_OK, "" },
    { "of no value that there is", 2, 2, GGLD_E_IO,
      "its journal is damaged, or of another version" },
};

static void test_marks_that_are_wrong(void)
{
    for (size_t i = 0; i < sizeof wrong_marks / sizeof wrong_marks[0]; i++) {
        ggld_error err = { .message = "" };
        set_halfway();
        image im = file_load(journal_path);
        im.data[im.size - N_SHARDS + wrong_marks[i].shard] =
            wrong_marks[i].mark;
        file_save(journal_path, im.data, im.size);
        image_free(&im);
        ggld_status status = run(&err);
        CHECK(status == wrong_marks[i].want &&
                  strstr(err.message, wrong_marks[i].message) != NULL,
              "a mark %s: expected %s, '%s', got %s, '%s'", wrong_marks[i].name,
              ggld_status_name(wrong_marks[i].want), wrong_marks[i].message,
              ggld_status_name(status), err.message);
        if (status == GGLD_OK)
            expect_done(wrong_marks[i].name, 0);
        else
            CHECK(n_shards() == 2 && file_exists(part_path),
                  "a mark %s: expected 2 shards and the part, got %u and %s",
                  wrong_marks[i].name, (unsigned)n_shards(),
                  file_exists(part_path) ? "the part" : "none");
    }
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
    source_folder = folder_new();
    folder = folder_new();
    snprintf(prefix, sizeof prefix, "%s/m", folder);
    snprintf(out_path, sizeof out_path, "%s/out.gguf", folder);
    snprintf(part_path, sizeof part_path, "%s.ggld-part", out_path);
    snprintf(journal_path, sizeof journal_path, "%s.ggld-merge", out_path);
    calls_reset();
    make_source();
    test_crashes();
    test_crashes_twice();
    test_faults();
    test_shards_that_change();
    test_times_put_back();
    test_copies_go_on();
    test_number_given_again();
    test_foreign_files();
    test_again();
    test_journals_that_do_not_fit();
    test_marks_that_are_wrong();
    test_refusals();
    test_cancelled_and_resumed();
    ggld_close(model);
    image_free(&whole);
    folder_remove(folder);
    folder_remove(source_folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
