/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume goes on only with what it has left: shards, part and journal
 * that are others since are refused, and copies of them are not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../views/check.h"
#include "consuming.h"
#include "models.h"

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

int main(void)
{
    consuming_begin();
    test_shards_that_change();
    test_times_put_back();
    test_copies_go_on();
    test_number_given_again();
    test_journals_that_do_not_fit();
    test_marks_that_are_wrong();
    return consuming_end();
}
