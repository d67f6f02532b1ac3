/* SPDX-License-Identifier: MIT */
/* The file at its place: folders, links, modes, full disks, a process that is
 * killed, memory that runs out. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char *folder;
static ggld_error err;

static void set_up(void)
{
    folder = folder_new();
    cr_assert_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    cr_assert_eq(chdir("/"), 0);
    folder_remove(folder);
}

TestSuite(sink, .init = set_up, .fini = tear_down);

#define METADATA_BYTES 96
#define TENSOR_BYTES   (3u << 20)

/* A file of one tensor of 3 MiB, all bytes fill. Stops where a call fails. */
static ggld_status write_file(const char *path, uint8_t fill, uint32_t flags,
                              const ggld_allocator *allocator)
{
    ggld_writer_options o = ggld_writer_options_init();
    const uint64_t dims[] = { TENSOR_BYTES };
    uint8_t *data = malloc(TENSOR_BYTES);
    ggld_writer *w = NULL;

    memset(data, fill, TENSOR_BYTES);
    o.flags = flags;
    o.allocator = allocator;
    ggld_status status = ggld_writer_new(&w, &o, &err);
    if (status == GGLD_OK)
        status = ggld_writer_set_string(w, "k", "value", 5, &err);
    if (status == GGLD_OK)
        status =
            ggld_writer_declare_tensor(w, "t", 1, GGLD_TYPE_I8, dims, 1, &err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, path, &err);
    for (size_t at = 0; at < TENSOR_BYTES && status == GGLD_OK; at += 98304)
        status = ggld_writer_put_bytes(w, data + at, 98304, &err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(w, &err);
    ggld_writer_free(w);
    free(data);
    return status;
}

static void expect_whole(const char *path, uint8_t fill)
{
    image im = file_load(path);
    cr_assert_eq(im.size, METADATA_BYTES + TENSOR_BYTES, "%s: %zu bytes", path,
                 im.size);
    cr_assert_eq(memcmp(im.data, "GGUF", 4), 0);
    for (size_t i = METADATA_BYTES; i < im.size; i++)
        cr_assert_eq(im.data[i], fill, "byte %zu", i);
    image_free(&im);
}

static void ok(ggld_status status)
{
    cr_assert_eq(status, GGLD_OK, "%s: %s", ggld_status_name(status),
                 err.message);
}

static void expect_error(ggld_status status, ggld_status code, int sys_errno,
                         const char *message)
{
    cr_expect_eq(status, code, "expected %s, got %s: %s",
                 ggld_status_name(code), ggld_status_name(status), err.message);
    cr_expect_eq(err.sys_errno, sys_errno, "errno %d: %s", err.sys_errno,
                 err.message);
    cr_expect(strstr(err.message, message) != NULL, "expected \"%s\" in \"%s\"",
              message, err.message);
}

Test(sink, relative_absolute_and_new_folders)
{
    ok(write_file("a.gguf", 1, 0, NULL));
    expect_whole("a.gguf", 1);
    ok(write_file("./b.gguf", 2, 0, NULL));
    expect_whole("b.gguf", 2);
    ok(write_file("x/y//z/c.gguf", 3, 0, NULL));
    expect_whole("x/y/z/c.gguf", 3);
    ok(write_file("x/y/w/../d.gguf", 4, 0, NULL));
    expect_whole("x/y/d.gguf", 4);
    ok(write_file(folder_path(folder, "p/q/e.gguf"), 5, 0, NULL));
    expect_whole("p/q/e.gguf", 5);
    cr_expect_eq(folder_count("x/y/z"), 1);
    cr_expect_eq(folder_count("p/q"), 1);
}

Test(sink, the_folder_is_the_one_at_begin_whatever_becomes_of_its_name)
{
    ggld_writer *w = NULL;
    ok(ggld_writer_new(&w, NULL, &err));
    cr_assert_eq(mkdir("old", 0777), 0);
    ok(ggld_writer_begin(w, "old/a.gguf", &err));
    cr_assert_eq(rename("old", "new"), 0);
    cr_assert_eq(chdir("/"), 0);
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
    cr_expect(file_exists(folder_path(folder, "new/a.gguf")));
    cr_expect_eq(folder_count(folder_path(folder, "new")), 1);
}

Test(sink, folders_that_were_made_go_on_failure_and_no_others)
{
    ggld_writer *w = NULL;
    cr_assert_eq(mkdir("there", 0777), 0);
    cr_assert_eq(mkdir("there/empty", 0777), 0);
    ok(ggld_writer_new(&w, NULL, &err));
    ok(ggld_writer_begin(w, "there/a/../empty/b/c/d.gguf", &err));
    cr_assert(file_exists("there/empty/b/c"));
    cr_assert(file_exists("there/a"));
    ggld_writer_free(w);
    cr_expect(!file_exists("there/empty/b"));
    cr_expect(!file_exists("there/a"));
    cr_expect(file_exists("there/empty"));
}

Test(sink, modes_by_the_umask_or_as_the_old_file_has_it)
{
    static const struct {
        mode_t umask;
        mode_t old; /* 07777: no old file */
        mode_t want;
    } cases[] = {
        { 022, 07777, 0644 }, { 077, 07777, 0600 }, { 0, 07777, 0666 },
        { 077, 0644, 0644 },  { 022, 0600, 0600 },  { 022, 0444, 0444 },
        { 022, 0775, 0775 },  { 022, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stat st;
        umask(cases[i].umask);
        remove("a.gguf");
        if (cases[i].old != 07777) {
            file_save("a.gguf", "old", 3);
            cr_assert_eq(chmod("a.gguf", cases[i].old), 0);
        }
        ok(write_file("a.gguf", 1, 0, NULL));
        cr_assert_eq(stat("a.gguf", &st), 0);
        cr_expect_eq(st.st_mode & 07777, cases[i].want,
                     "case %zu: expected %o, got %o", i, cases[i].want,
                     st.st_mode & 07777);
    }
}

Test(sink, symbolic_links_are_followed)
{
    struct stat st;
    cr_assert_eq(mkdir("d", 0777), 0);
    file_save("d/real.gguf", "old", 3);
    cr_assert_eq(symlink("real.gguf", "d/second"), 0);
    cr_assert_eq(symlink("d/second", "first"), 0);
    ok(write_file("first", 1, 0, NULL));
    expect_whole("d/real.gguf", 1);
    cr_assert_eq(lstat("first", &st), 0);
    cr_expect(S_ISLNK(st.st_mode));
    cr_assert_eq(lstat("d/second", &st), 0);
    cr_expect(S_ISLNK(st.st_mode));
    cr_expect_eq(folder_count("d"), 2);

    /* One that points nowhere yet, past folders that are not there. */
    cr_assert_eq(symlink(folder_path(folder, "e/f/new.gguf"), "dangling"), 0);
    ok(write_file("dangling", 2, 0, NULL));
    expect_whole("e/f/new.gguf", 2);

    /* The folder's part is followed by the system. */
    cr_assert_eq(symlink("d", "folder"), 0);
    ok(write_file("folder/x.gguf", 3, 0, NULL));
    expect_whole("d/x.gguf", 3);

    cr_assert_eq(symlink("loop", "loop"), 0);
    expect_error(write_file("loop", 1, 0, NULL), GGLD_E_IO, ELOOP,
                 "output 'loop': can't follow the links: ");
}

Test(sink, what_is_no_place_for_a_file_is_refused)
{
    static char long_path[5000];
    static char long_name[300];
    cr_assert_eq(mkdir("d", 0777), 0);
    cr_assert_eq(symlink("d", "link"), 0);
    cr_assert_eq(mkfifo("fifo", 0666), 0);
    file_save("file", "old", 3);
    memset(long_path, 'p', sizeof long_path - 1);
    memset(long_name, 'n', sizeof long_name - 1);
    const char *a_folder = " is a folder: give the path of a file";

    expect_error(write_file("", 1, 0, NULL), GGLD_E_INVALID, 0, "is empty");
    expect_error(write_file("d", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file("d/", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file("new/", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file("link", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file(".", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file("d/..", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file("/", 1, 0, NULL), GGLD_E_INVALID, 0, a_folder);
    expect_error(write_file("fifo", 1, 0, NULL), GGLD_E_INVALID, 0,
                 "output 'fifo' is a pipe, where a file is wanted");
    expect_error(write_file("/dev/null", 1, 0, NULL), GGLD_E_INVALID, 0,
                 "output '/dev/null' is a device, where a file is wanted");
    expect_error(write_file("file/x.gguf", 1, 0, NULL), GGLD_E_IO, ENOTDIR,
                 "output 'file/x.gguf': can't open its folder: ");
    ok(write_file("d/a/\xFF/b", 1, 0, NULL));
    expect_error(write_file(long_path, 1, 0, NULL), GGLD_E_IO, ENAMETOOLONG,
                 "");
    expect_error(write_file(long_name, 1, 0, NULL), GGLD_E_IO, ENAMETOOLONG,
                 "");
    image old = file_load("file");
    cr_expect_eq(old.size, 3);
    image_free(&old);
    cr_expect_eq(folder_count("d"), 1);
    cr_expect_eq(folder_count("."), 4);
}

Test(sink, a_name_as_long_as_can_be)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    ok(write_file(name, 7, 0, NULL));
    expect_whole(name, 7);
    cr_expect_eq(folder_count("."), 1);
}

Test(sink, other_writers_do_not_disturb)
{
    ggld_writer *a = NULL;
    ggld_writer *b = NULL;
    ok(ggld_writer_new(&a, NULL, &err));
    ok(ggld_writer_new(&b, NULL, &err));
    ok(ggld_writer_set_u8(a, "a", 1, &err));
    ok(ggld_writer_begin(a, "m.gguf", &err));
    ok(ggld_writer_seal(a, &err));
    ok(ggld_writer_begin(b, "m.gguf", &err));
    cr_expect_eq(folder_count("."), 2, "what is sealed is somebody's too");
    ok(ggld_writer_finish(a, &err));
    ok(ggld_writer_finish(b, &err));
    ggld_writer_free(a);
    ggld_writer_free(b);
    image im = file_load("m.gguf");
    cr_expect_eq(im.size, 32, "the last to finish wins");
    image_free(&im);
    cr_expect_eq(folder_count("."), 1);
}

/* ---- leftovers ---- */

static void make_file(const char *name)
{
    file_save(name, "left", 4);
}

static void make_locked(const char *name)
{
    make_file(name);
    int fd = open(name, O_RDONLY);
    cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
}

static void make_folder(const char *name)
{
    cr_assert_eq(mkdir(name, 0777), 0);
}

static void make_link(const char *name)
{
    file_save("victim", "kept", 4);
    cr_assert_eq(symlink("victim", name), 0);
}

static void make_fifo(const char *name)
{
    cr_assert_eq(mkfifo(name, 0666), 0);
}

/* Of another user; where that can't be had, none. */
static void make_foreign(const char *name)
{
    make_file(name);
    if (chown(name, 65534, 65534) != 0)
        remove(name);
}

/* What a killed writer leaves, and what only looks like it. */
static const struct {
    const char *what;
    const char *name;
    void (*make)(const char *name);
    bool goes;
} leftovers[] = {
    { "a leftover", "m.gguf.tmp.0123456789abcdef", make_file, true },
    { "another", "m.gguf.tmp.ffffffffffffffff", make_file, true },
    { "one that is locked", "m.gguf.tmp.0000000000000000", make_locked, false },
    { "a folder", "m.gguf.tmp.0000000000000001", make_folder, false },
    { "a link", "m.gguf.tmp.0000000000000002", make_link, false },
    { "a FIFO", "m.gguf.tmp.0000000000000003", make_fifo, false },
    { "another user's", "m.gguf.tmp.0000000000000004", make_foreign, false },
    { "a digit too few", "m.gguf.tmp.0123456789abcde", make_file, false },
    { "a digit too many", "m.gguf.tmp.0123456789abcdef0", make_file, false },
    { "a capital", "m.gguf.tmp.0123456789abcdeF", make_file, false },
    { "no digit", "m.gguf.tmp.0123456789abcdeg", make_file, false },
    { "another output's", "n.gguf.tmp.0123456789abcdef", make_file, false },
    { "a longer name's", "mm.gguf.tmp.0123456789abcdef", make_file, false },
    { "an old file's", "m.gguf.old.0123456789abcdef", make_file, false },
    { "a journal", "m.gguf.ggld-journal", make_file, false },
};
#define N_LEFTOVERS (sizeof leftovers / sizeof leftovers[0])

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0;
}

/* Which were made, so that rows that can't be here are left out. */
static void make_leftovers(bool made[static N_LEFTOVERS])
{
    for (size_t i = 0; i < N_LEFTOVERS; i++) {
        leftovers[i].make(leftovers[i].name);
        made[i] = is_there(leftovers[i].name);
    }
}

static void expect_leftovers(const bool made[static N_LEFTOVERS])
{
    for (size_t i = 0; i < N_LEFTOVERS; i++) {
        bool want = made[i] && !leftovers[i].goes;
        cr_expect_eq(is_there(leftovers[i].name), want,
                     "%s: expected it %s, got it %s", leftovers[i].what,
                     want ? "kept" : "removed", want ? "removed" : "kept");
    }
}

Test(sink, leftovers_of_killed_writers_are_removed)
{
    bool made[N_LEFTOVERS];
    make_leftovers(made);
    ok(write_file("m.gguf", 1, 0, NULL));
    expect_whole("m.gguf", 1);
    expect_leftovers(made);
    image victim = file_load("victim");
    cr_expect_eq(victim.size, 4);
    image_free(&victim);
}

typedef struct heard {
    unsigned n;
    uint64_t bytes;
} heard;

static void hear(const char *name, uint64_t size_bytes, void *user)
{
    heard *h = user;
    bool known = false;
    for (size_t i = 0; i < N_LEFTOVERS; i++)
        known |= leftovers[i].goes && strcmp(leftovers[i].name, name) == 0;
    cr_expect(known, "'%s' was told", name);
    h->n++;
    h->bytes += size_bytes;
}

Test(sink, leftovers_are_told_where_that_is_asked)
{
    bool made[N_LEFTOVERS];
    heard h = { 0, 0 };
    make_leftovers(made);
    ggld_remove_leftovers("m.gguf", hear, &h);
    expect_leftovers(made);
    cr_expect_eq(h.n, 2, "expected 2 to be told, got %u", h.n);
    cr_expect_eq(h.bytes, 8);
    ggld_remove_leftovers("m.gguf", hear, &h);
    cr_expect_eq(h.n, 2, "nothing is left to be told");
    ggld_remove_leftovers(NULL, hear, &h);
    ggld_remove_leftovers("no/folder/m.gguf", hear, &h);
    cr_expect(!is_there("no"), "no folder is made");
}

/* Through a link they are beside what it points to. */
Test(sink, leftovers_are_beside_what_a_link_points_to)
{
    cr_assert_eq(mkdir("d", 0777), 0);
    cr_assert_eq(symlink("d/m.gguf", "link"), 0);
    make_file("d/m.gguf.tmp.0123456789abcdef");
    make_file("link.tmp.0123456789abcdef");
    ggld_remove_leftovers("link", NULL, NULL);
    cr_expect(!is_there("d/m.gguf.tmp.0123456789abcdef"));
    cr_expect(is_there("link.tmp.0123456789abcdef"));
}

/* A name that is cut for its temporary files' sake is another output's too. */
Test(sink, leftovers_of_long_names_stay)
{
    char name[236], left[256];
    for (int len = 234; len <= 235; len++) {
        memset(name, 'n', (size_t)len);
        name[len] = '\0';
        snprintf(left, sizeof left, "%.234s.tmp.0123456789abcdef", name);
        make_file(left);
        ok(write_file(name, 1, 0, NULL));
        cr_expect_eq(is_there(left), len == 235, "%d bytes: got it %s", len,
                     is_there(left) ? "kept" : "removed");
    }
}

/* An old file's owner has what is written in its place. */
Test(sink, leftovers_of_the_old_files_owner_are_removed)
{
    const char *left = "m.gguf.tmp.0123456789abcdef";
    make_file("m.gguf");
    make_file(left);
    if (chown("m.gguf", 65534, 65534) != 0 || chown(left, 65534, 65534) != 0)
        cr_skip_test("files can't be given away here");
    ok(write_file("m.gguf", 1, 0, NULL));
    cr_expect(!is_there(left));
}

static bool write_empty(bool finish)
{
    ggld_writer *w = NULL;
    bool good = ggld_writer_new(&w, NULL, &err) == GGLD_OK &&
                ggld_writer_begin(w, "m.gguf", &err) == GGLD_OK;
    if (!finish)
        return good; /* and is left as it is */
    good = good && ggld_writer_finish(w, &err) == GGLD_OK;
    ggld_writer_free(w);
    return good;
}

static void write_often(void)
{
    bool good = true;
    for (unsigned i = 0; i < 60 && good; i++)
        good = write_empty(true);
    if (!good)
        fprintf(stderr, "%s\n", err.message);
    _exit(good ? 0 : 1);
}

/* One after another ends with its file unfinished. */
static void die_often(void)
{
    for (unsigned i = 0; i < 60; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(write_empty(false) ? 0 : 1);
        int how;
        if (waitpid(child, &how, 0) != child || how != 0)
            _exit(1);
    }
    _exit(0);
}

Test(sink, writers_of_one_name_leave_one_anothers_files_alone)
{
    void (*const acts[])(void) = { write_often, write_often, die_often };
    for (size_t i = 0; i < 3; i++)
        if (fork() == 0)
            acts[i]();
    for (size_t i = 0; i < 3; i++) {
        int how = -1;
        cr_assert_gt(wait(&how), 0);
        cr_expect_eq(how, 0, "expected all to be written, got %x", how);
    }
    cr_assert(write_empty(true), "%s", err.message);
    cr_expect_eq(folder_count("."), 1, "expected no leftover, got %d files",
                 folder_count("."));
}

/* ---- failures ---- */

Test(sink, a_limit_of_file_size_leaves_the_old_file)
{
    struct rlimit limit = { 1u << 20, 1u << 20 };
    ok(write_file("a.gguf", 1, 0, NULL));
    cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uint32_t flags = 0; flags <= GGLD_WRITE_SPARSE;
         flags += GGLD_WRITE_SPARSE) {
        expect_error(write_file("a.gguf", 2, flags, NULL), GGLD_E_IO, EFBIG,
                     flags == 0
                         ? "output 'a.gguf': no room; it takes 3145824 bytes: "
                         : "output 'a.gguf': can't write past 1048576 of "
                           "3145824 bytes: ");
        expect_whole("a.gguf", 1);
        cr_expect_eq(folder_count("."), 1);
    }
}

/* Needs the right to mount; where that is not given, the injected ENOSPC of
 * the fault tests has to do. */
Test(sink, a_full_disk_shows_at_begin_or_where_it_is_full)
{
    cr_assert_eq(mkdir("small", 0777), 0);
    if (mount("none", "small", "tmpfs", 0, "size=1m") != 0) {
        cr_log_warn("no tmpfs can be mounted here: skipped");
        cr_skip_test("no tmpfs can be mounted here");
    }
    file_save("small/a.gguf", "old", 3);
    expect_error(write_file("small/a.gguf", 2, 0, NULL), GGLD_E_IO, ENOSPC,
                 "no room; it takes 3145824 bytes: No space left");
    cr_expect_eq(folder_count("small"), 1);
    expect_error(write_file("small/a.gguf", 2, GGLD_WRITE_SPARSE, NULL),
                 GGLD_E_IO, ENOSPC, "can't write past ");
    cr_expect_eq(folder_count("small"), 1);
    image old = file_load("small/a.gguf");
    cr_expect_eq(old.size, 3);
    image_free(&old);
    umount("small");
}

Test(sink, a_folder_that_may_not_be_written)
{
    cr_assert_eq(chmod(folder, 0755), 0);
    cr_assert_eq(mkdir("d", 0755), 0);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        cr_skip_test("can't give up root here");
    expect_error(write_file("d/a.gguf", 1, 0, NULL), GGLD_E_IO, EACCES,
                 "can't make a temporary file beside it: ");
    expect_error(write_file("d/e/a.gguf", 1, 0, NULL), GGLD_E_IO, EACCES,
                 "can't make its folder: ");
    cr_assert_eq(seteuid(65534), 0);
}

Test(sink, killed_midway_leaves_the_old_file)
{
    ok(write_file("a.gguf", 1, 0, NULL));
    for (unsigned n_puts = 0; n_puts < 4; n_puts++) {
        pid_t child = fork();
        if (child == 0) {
            const uint64_t dims[] = { TENSOR_BYTES };
            static uint8_t data[TENSOR_BYTES / 4];
            ggld_writer *w = NULL;
            bool good = ggld_writer_new(&w, NULL, NULL) == GGLD_OK &&
                        ggld_writer_declare_tensor(w, "t", 1, GGLD_TYPE_I8,
                                                   dims, 1, NULL) == GGLD_OK &&
                        ggld_writer_begin(w, "a.gguf", NULL) == GGLD_OK;
            for (unsigned i = 0; i < n_puts && good; i++)
                good = ggld_writer_put_bytes(w, data, sizeof data, NULL) ==
                       GGLD_OK;
            if (good)
                raise(SIGKILL);
            _exit(1);
        }
        int how;
        cr_assert_eq(waitpid(child, &how, 0), child);
        cr_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        expect_whole("a.gguf", 1);
    }
    ok(write_file("a.gguf", 2, 0, NULL));
    expect_whole("a.gguf", 2);
    cr_expect_eq(folder_count("."), 1, "expected the leftovers to go");
}

Test(sink, memory_that_runs_out_at_any_call_leaves_the_old_file)
{
    ok(write_file("a.gguf", 1, 0, NULL));
    image old = file_load("a.gguf");
    long n = 0;
    for (;; n++) {
        faulty f;
        faulty_init(&f, n);
        ggld_status status = write_file("a.gguf", 1, 0, &f.allocator);
        cr_assert_eq(f.live, 0, "call %ld: %ld blocks left", n, f.live);
        cr_assert_eq(folder_count("."), 1);
        if (status == GGLD_OK)
            break;
        cr_assert_eq(status, GGLD_E_NOMEM, "call %ld: %s", n, err.message);
        expect_whole("a.gguf", 1);
    }
    cr_assert_geq(n, 10, "only %ld allocations", n);
    image now = file_load("a.gguf");
    cr_expect(bytes_differ(now.data, now.size, old.data, old.size) == NULL,
              "bytes depend on what fresh memory holds");
    image_free(&now);
    image_free(&old);
}
