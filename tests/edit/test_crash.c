/* SPDX-License-Identifier: MIT */
/* Edits in place, where every system call in turn fails, is interrupted, does
 * less than asked, or is the last before the process is killed: afterwards, and
 * after a recovery, the file is the old model or the new one, its data as it
 * was. The calls are wrapped by the linker (--wrap), as in tests/write.
 *
 * Paths that insert a range need a file system that can; the test makes one
 * (ext4 on a loop device) where the temporary folder's can't, and may. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ggld/edit.h>

#include "../write/wraps.h"
#include "model.h"

/* ---- the wrapped calls ---- */

typedef enum call {
    OPENAT,
    PWRITE,
    FSYNC,
    RENAMEAT,
    UNLINKAT,
    INSERT,
    COLLAPSE,
    ALLOCATE,
    CLOSE
} call;

static const char *const call_names[] = { "openat",   "pwrite",   "fsync",
                                          "renameat", "unlinkat", "insert",
                                          "collapse", "allocate", "close" };

#define MAX_CALLS 4096

static struct {
    bool armed;
    call calls[MAX_CALLS];
    unsigned n_calls;
    unsigned fault_at;
    int fault_errno;
    unsigned kill_at;
    size_t max_write;
} harness;

static bool intercept(call what)
{
    if (!harness.armed)
        return false;
    if (harness.n_calls == harness.kill_at)
        raise(SIGKILL);
    cr_assert_lt(harness.n_calls, MAX_CALLS);
    bool fault = harness.n_calls == harness.fault_at;
    harness.calls[harness.n_calls++] = what;
    if (fault)
        errno = harness.fault_errno;
    return fault;
}

WRAP_OPENAT(OPENAT, false)

int __real_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len)
{
    call what = mode == FALLOC_FL_INSERT_RANGE     ? INSERT
                : mode == FALLOC_FL_COLLAPSE_RANGE ? COLLAPSE
                                                   : ALLOCATE;
    return intercept(what) ? -1 : __real_fallocate64(fd, mode, offset, len);
}

ssize_t __real_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset)
{
    if (intercept(PWRITE))
        return -1;
    if (harness.armed && harness.max_write != 0 && n > harness.max_write)
        n = harness.max_write;
    return __real_pwrite64(fd, data, n, offset);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return intercept(FSYNC) ? -1 : __real_fsync(fd);
}

WRAP_CLOSE(CLOSE)

WRAP_RENAMEAT(RENAMEAT)

WRAP_UNLINKAT(UNLINKAT)

static void harness_reset(void)
{
    memset(&harness, 0, sizeof harness);
    harness.fault_at = MAX_CALLS;
    harness.kill_at = MAX_CALLS;
}

/* ---- where ---- */

static char *folder;
static bool mounted;
static int n_extra; /* entries that a new file system has */
static ggld_error err;

static bool can_insert(void)
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

/* false: no range can be inserted anywhere, and what needs it is left out. */
static bool go_where_ranges_go(void)
{
    if (can_insert())
        return true;
    mounted = mount_ext4();
    n_extra = mounted;
    if (!mounted)
        cr_log_warn("no file system that inserts ranges: left out");
    return mounted;
}

/* A file system that shares blocks between files. */
static bool mount_xfs(void)
{
    return system("truncate -s 400M image && mkfs.xfs -q image 2>err && "
                  "mkdir disk && mount -o loop image disk") == 0 &&
           chdir("disk") == 0;
}

/* ---- what is edited ---- */

#define FILE_NAME "m.gguf"
#define JOURNAL   "m.gguf.ggld-journal"
#define FRESH     "m.gguf.ggld-journal-new"

typedef struct scene {
    const char *what;
    model_form old;
    const char *name;  /* that general.name becomes */
    size_t long_bytes; /* that "long" becomes; 0: it stays */
    bool inserts;
} scene;

static scene scene_same_size(void)
{
    scene s = { "same size", model_plain(3, false), "other", 0, false };
    return s;
}

static scene scene_slack(uint32_t version, bool big_endian)
{
    scene s = { "slack", model_plain(version, big_endian),
                "a name that is longer than the old one, by many bytes", 0,
                false };
    s.old.padding = 300;
    return s;
}

static scene scene_insert(void)
{
    scene s = { "insert", model_plain(3, false), "plain", 9000, true };
    s.old.long_bytes = 100;
    return s;
}

static void scene_set(const scene *s)
{
    image im = model_build(&s->old);
    remove(JOURNAL);
    remove(FRESH);
    remove(FILE_NAME);
    file_save(FILE_NAME, im.data, im.size);
    image_free(&im);
    harness_reset();
}

static ggld_status change(ggld_edit *edit, const scene *s)
{
    ggld_edit_value v = { .struct_size = sizeof v,
                          .type = GGLD_VALUE_STRING,
                          .data = s->name,
                          .size = strlen(s->name) };
    ggld_status status = ggld_edit_set(edit, "general.name", &v, &err);
    if (status != GGLD_OK || s->long_bytes == 0)
        return status;
    char *text = malloc(s->long_bytes);
    memset(text, 'z', s->long_bytes);
    v.data = text;
    v.size = s->long_bytes;
    status = ggld_edit_set(edit, "long", &v, &err);
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
    ggld_status status = ggld_edit_open(&edit, FILE_NAME, &options, &err);
    if (status == GGLD_OK)
        status = change(edit, s);
    harness.armed = status == GGLD_OK;
    if (status == GGLD_OK)
        status = carry(edit, &err);
    harness.armed = false;
    ggld_edit_free(edit);
    return status;
}

static ggld_status edit_with(const scene *s, uint32_t flags)
{
    return call_with(s, flags, ggld_edit_in_place);
}

static ggld_status try_scene(const scene *s)
{
    return call_with(s, 0, ggld_edit_try_in_place);
}

static ggld_status edit_scene(const scene *s)
{
    return edit_with(s, 0);
}

static bool is_old(const scene *s)
{
    image im = model_build(&s->old), got = file_load(FILE_NAME);
    bool same = im.size == got.size && memcmp(im.data, got.data, im.size) == 0;
    image_free(&im);
    image_free(&got);
    return same;
}

/* What differs between the file and the new model; NULL: nothing. */
static const char *new_differs(const scene *s)
{
    static char why[300];
    image old = model_build(&s->old), got = file_load(FILE_NAME);
    ggld_file *f = NULL;
    ggld_string name, text = { "", s->old.long_bytes };
    const char *differs = NULL;

    if (ggld_open_path(&f, FILE_NAME, NULL, &err) != GGLD_OK) {
        snprintf(why, sizeof why, "%s", err.message);
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

static void expect_clean(const char *what)
{
    ggld_edit_trace trace = GGLD_EDIT_STRANGE;
    cr_assert_eq(ggld_edit_pending(FILE_NAME, &trace, NULL, &err), GGLD_OK,
                 "%s: %s", what, err.message);
    cr_assert_eq(trace, GGLD_EDIT_CLEAN, "%s: trace %d", what, trace);
    cr_assert(!file_exists(JOURNAL), "%s: a journal is left", what);
}

/* ---- done ---- */

static void expect_done(const scene *s)
{
    scene_set(s);
    cr_assert_eq(edit_scene(s), GGLD_OK, "%s: %s", s->what, err.message);
    const char *differs = new_differs(s);
    cr_assert(differs == NULL, "%s: %s", s->what, differs);
    expect_clean(s->what);
    cr_assert(!file_exists(FRESH), "%s: something is left", s->what);
}

static bool was_called(call what)
{
    for (unsigned i = 0; i < harness.n_calls; i++)
        if (harness.calls[i] == what)
            return true;
    return false;
}

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
    cr_assert_eq(ggld_open_path(&f, FILE_NAME, NULL, &err), GGLD_OK);
    cr_assert_not_null(ggld_kv_find(f, "ggld.padding"));
    ggld_close(f);
    /* And takes it again. */
    s.long_bytes = 440;
    cr_assert_eq(edit_scene(&s), GGLD_OK, "%s", err.message);
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
    cr_assert_eq(edit_scene(&s), GGLD_OK, "%s", err.message);
    stat(FILE_NAME, &after);
    cr_assert_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    cr_assert_eq(harness.n_calls, 0, "%u calls", harness.n_calls);
}

/* ---- killed ---- */

/* As a new run finds it: recovered, it is old or new, and can be edited. */
static void expect_recovery(const scene *s, const char *what)
{
    ggld_edit_trace trace, found = GGLD_EDIT_CLEAN;
    ggld_error why;
    bool journal = file_exists(JOURNAL), rest = file_exists(FRESH);

    cr_assert_eq(ggld_edit_pending(FILE_NAME, &trace, &why, &err), GGLD_OK,
                 "%s: %s", what, err.message);
    cr_assert_eq(trace != GGLD_EDIT_CLEAN, journal || rest, "%s: trace %d",
                 what, trace);
    cr_assert(journal || !rest || trace == GGLD_EDIT_REST, "%s: trace %d", what,
              trace);
    cr_assert_neq(trace, GGLD_EDIT_STRANGE, "%s: %s", what, why.message);
    if (journal) {
        ggld_edit *edit = NULL;
        cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, NULL, &err),
                     GGLD_E_INVALID, "%s: edited all the same", what);
        cr_assert(strstr(err.message, "was interrupted") != NULL, "%s: %s",
                  what, err.message);
    }
    cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, &found, &err), GGLD_OK,
                 "%s: %s", what, err.message);
    cr_assert_eq(found, trace, "%s", what);
    expect_clean(what);
    cr_assert(!file_exists(FRESH), "%s: the rest of a journal is left", what);
    if (trace == GGLD_EDIT_UNTOUCHED || trace == GGLD_EDIT_REST)
        cr_assert(is_old(s), "%s: not the old file", what);
    else if (trace != GGLD_EDIT_CLEAN)
        cr_assert_null(new_differs(s), "%s: not the new file", what);
    else
        cr_assert(is_old(s) || new_differs(s) == NULL, "%s: neither", what);
    harness_reset();
    cr_assert_eq(edit_scene(s), GGLD_OK, "%s, again: %s", what, err.message);
    cr_assert_null(new_differs(s), "%s, again", what);
    cr_assert_eq(folder_count(".") - n_extra, 1, "%s: something is left", what);
}

/* Dies before call number n; false where there are not as many. */
static bool run_killed(const scene *s, unsigned n, size_t max_write)
{
    char what[96];
    int how;

    scene_set(s);
    harness.kill_at = n;
    harness.max_write = max_write;
    pid_t child = fork();
    if (child == 0) {
        edit_scene(s);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    if (WIFEXITED(how))
        return false;
    cr_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    snprintf(what, sizeof what, "%s, killed before call %u, writes of %zu",
             s->what, n, max_write);
    expect_recovery(s, what);
    return true;
}

static void kill_everywhere(const scene *s, size_t max_write, unsigned least)
{
    unsigned n = 0;
    while (run_killed(s, n, max_write))
        n++;
    cr_assert_geq(n, least, "%s: only %u calls", s->what, n);
}

Test(edit_in_place, killed_between_any_two_calls)
{
    scene same = scene_same_size(), slack = scene_slack(3, false);
    kill_everywhere(&same, 0, 12);
    kill_everywhere(&slack, 0, 12);
    kill_everywhere(&slack, 50, 30);
    slack = scene_slack(1, true);
    kill_everywhere(&slack, 0, 12);
}

Test(edit_in_place, killed_between_any_two_calls_that_make_room, .timeout = 200)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    kill_everywhere(&s, 0, 15);
    kill_everywhere(&s, 1000, 30);
}

/* A recovery may be killed as well. */
static bool run_recovery_killed(const scene *s, unsigned killed, unsigned n)
{
    char what[96];
    int how;

    scene_set(s);
    pid_t child = fork();
    if (child == 0) {
        harness.kill_at = killed;
        harness.max_write = 1000;
        edit_scene(s);
        _exit(0);
    }
    waitpid(child, &how, 0);
    child = fork();
    if (child == 0) {
        harness_reset();
        harness.kill_at = n;
        harness.max_write = 1000;
        harness.armed = true;
        (void)!ggld_edit_recover(FILE_NAME, 0, NULL, &err);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    snprintf(what, sizeof what, "%s, recovery of %u killed before call %u",
             s->what, killed, n);
    harness_reset();
    expect_recovery(s, what);
    return !WIFEXITED(how);
}

static unsigned call_number(const scene *s, call what, size_t max_write)
{
    scene_set(s);
    harness.max_write = max_write;
    cr_assert_eq(edit_scene(s), GGLD_OK);
    for (unsigned i = 0; i < harness.n_calls; i++)
        if (harness.calls[i] == what)
            return i;
    cr_assert_fail("%s: no %s", s->what, call_names[what]);
    return 0;
}

Test(edit_in_place, recovery_killed_between_any_two_calls, .timeout = 200)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    unsigned after_insert = call_number(&s, INSERT, 1000) + 1;
    for (unsigned k = after_insert; k < after_insert + 6; k += 5) {
        unsigned n = 0;
        while (run_recovery_killed(&s, k, n))
            n++;
        cr_assert_geq(n, 10, "only %u calls", n);
    }
}

/* ---- faults ---- */

/* The call number n fails. false where there are not as many. */
static bool run_fault(const scene *s, unsigned n, int sys_errno)
{
    char what[96];

    scene_set(s);
    harness.fault_at = n;
    harness.fault_errno = sys_errno;
    ggld_status status = edit_scene(s);
    if (harness.n_calls <= n)
        return false;
    snprintf(what, sizeof what, "%s, call %u, %s, errno %d", s->what, n,
             call_names[harness.calls[n]], sys_errno);
    if (status == GGLD_OK)
        cr_assert(harness.calls[n] == CLOSE || harness.calls[n] == UNLINKAT ||
                      harness.calls[n] == OPENAT,
                  "%s: not noticed", what);
    else
        cr_assert(err.sys_errno == sys_errno || status == GGLD_E_UNSUPPORTED,
                  "%s: %s", what, err.message);
    if (status != GGLD_OK && strstr(err.message, "all is done") == NULL)
        cr_assert(is_old(s), "%s: not the old file: %s", what, err.message);
    else
        cr_assert_null(new_differs(s), "%s: not the new file", what);
    expect_recovery(s, what);
    return true;
}

static void fail_everywhere(const scene *s, unsigned least)
{
    const int errnos[] = { EIO, ENOSPC, EDQUOT, EROFS };
    for (size_t e = 0; e < sizeof errnos / sizeof errnos[0]; e++) {
        unsigned n = 0;
        while (run_fault(s, n, errnos[e]))
            n++;
        cr_assert_geq(n, least, "%s: only %u calls", s->what, n);
    }
}

/* What is said is what is so. */
Test(edit_in_place, faults_of_the_journal_are_told_as_they_are)
{
    scene s = scene_same_size();

    scene_set(&s);
    harness_reset();
    cr_assert_eq(edit_scene(&s), GGLD_OK, "%s", err.message);
    unsigned n = harness.n_calls, last = n;
    while (last-- > 0 && harness.calls[last] != FSYNC)
        ;
    scene_set(&s);
    harness.fault_at = last;
    harness.fault_errno = EIO;
    cr_assert_eq(edit_scene(&s), GGLD_E_IO);
    cr_assert(!file_exists(JOURNAL), "the journal is left");
    cr_assert(strstr(err.message, "all is done, and it is removed") != NULL,
              "%s", err.message);

    bool told = false;
    for (unsigned i = 0; i < n && !told; i++) {
        ggld_edit_trace trace;
        scene_set(&s);
        harness.fault_at = i;
        harness.fault_errno = EMFILE;
        harness.armed = true;
        ggld_status status = ggld_edit_pending(FILE_NAME, &trace, NULL, &err);
        harness.armed = false;
        if (status == GGLD_OK)
            continue;
        cr_assert(strstr(err.message, "was interrupted, ") == NULL, "%s",
                  err.message);
        told = strstr(err.message, "can't be told whether") != NULL;
    }
    cr_assert(told, "the journal's opening was not made to fail");
}

static int stop_at(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    unsigned *left = user;
    cr_assert_leq(done_bytes, total_bytes);
    return (*left)-- == 0;
}

Test(edit_in_place, it_is_stopped_until_the_journal_counts)
{
    scene s = scene_same_size();

    for (unsigned at = 0; at < 3; at++) {
        ggld_edit_options options = ggld_edit_options_init();
        ggld_edit *edit = NULL;
        unsigned left = at;
        scene_set(&s);
        options.flags = GGLD_EDIT_IN_PLACE;
        options.progress = stop_at;
        options.progress_user = &left;
        cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, &options, &err), GGLD_OK);
        cr_assert_eq(change(edit, &s), GGLD_OK);
        cr_assert_eq(ggld_edit_in_place(edit, &err),
                     at < 2 ? GGLD_E_CANCELLED : GGLD_OK, "stop %u", at);
        ggld_edit_free(edit);
        cr_assert(at == 2 || is_old(&s), "stop %u: not the old file", at);
        cr_assert(!file_exists(FRESH) && !file_exists(JOURNAL),
                  "stop %u: something is left", at);
    }
    cr_assert_null(new_differs(&s), "not stopped: not the new file");
}

Test(edit_in_place, any_call_may_fail, .timeout = 200)
{
    scene same = scene_same_size(), slack = scene_slack(3, false);
    fail_everywhere(&same, 12);
    fail_everywhere(&slack, 12);
    if (!go_where_ranges_go())
        return;
    scene insert = scene_insert();
    fail_everywhere(&insert, 15);
}

Test(edit_in_place, calls_that_are_interrupted_are_made_again)
{
    scene s = scene_slack(3, false);
    for (unsigned n = 0;; n++) {
        scene_set(&s);
        harness.fault_at = n;
        harness.fault_errno = EINTR;
        ggld_status status = edit_scene(&s);
        if (harness.n_calls <= n)
            break;
        call what = harness.calls[n];
        if (what == RENAMEAT || what == UNLINKAT)
            continue; /* these are not interrupted */
        cr_assert_eq(status, GGLD_OK, "%s: %s", call_names[what], err.message);
        cr_assert_null(new_differs(&s), "%s", call_names[what]);
        expect_clean(call_names[what]);
    }
}

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
    cr_assert(strstr(err.message, "no room in place") != NULL, "%s",
              err.message);
    cr_assert(is_old(&s));
    expect_clean("no insert");
}

/* ---- blocks that are shared ---- */

static long blocks_used(void)
{
    struct statvfs st;
    cr_assert_eq(system("sync -f ."), 0);
    cr_assert_eq(statvfs(".", &st), 0);
    return (long)((st.f_blocks - st.f_bfree) * (st.f_frsize / 512));
}

Test(edit_in_place, a_new_file_shares_blocks_where_it_can)
{
    mounted = mount_xfs();
    if (!mounted) {
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
    cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, NULL, &err), GGLD_OK);
    cr_assert_eq(change(edit, &s), GGLD_OK);
    cr_assert_eq(ggld_edit_write(edit, "new.gguf", &err), GGLD_OK, "%s",
                 err.message);
    ggld_edit_free(edit);
    long more = blocks_used() - before;
    cr_assert_lt(more, 4096, "%ld blocks of 512 bytes more", more);

    ggld_file *f = NULL;
    ggld_file_info info = { .struct_size = sizeof info };
    cr_assert_eq(ggld_open_path(&f, "new.gguf", NULL, &err), GGLD_OK);
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
    mounted = mount_xfs();
    if (!mounted) {
        cr_log_warn("no xfs: left out");
        return;
    }
    scene s = scene_insert();
    expect_done(&s);
    cr_assert(was_called(INSERT));
    kill_everywhere(&s, 1000, 30);
}

/* ---- moved in part ---- */

/* The system went down in the kernel's work: the end of the file was moved, its
 * start was not. */
Test(edit_in_place, a_file_that_was_moved_in_part_is_brought_back)
{
    if (!go_where_ranges_go())
        return;
    scene s = scene_insert();
    s.old.long_bytes = 30000;
    s.long_bytes = 50000;
    unsigned after = call_number(&s, INSERT, 1000) + 1;
    for (off_t at = 4096; at <= 28672 + 4096; at += 8192) {
        ggld_edit_trace found = GGLD_EDIT_CLEAN;
        int how;
        scene_set(&s);
        pid_t child = fork();
        if (child == 0) {
            harness.kill_at = after;
            harness.max_write = 1000;
            edit_scene(&s);
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &how, 0), child);
        struct stat st;
        image old = model_build(&s.old);
        cr_assert_eq(stat(FILE_NAME, &st), 0);
        off_t moved = st.st_size - (off_t)old.size;
        cr_assert_gt(moved, 0);
        int fd = open(FILE_NAME, O_RDWR);
        cr_assert_eq(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, moved), 0);
        if (at < (off_t)old.size)
            cr_assert_eq(fallocate(fd, FALLOC_FL_INSERT_RANGE, at, moved), 0);
        else
            cr_assert_eq(ftruncate(fd, st.st_size), 0);
        cr_assert_eq(fsync(fd), 0);
        close(fd);
        image_free(&old);
        cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, &found, &err), GGLD_OK,
                     "at %lld: %s", (long long)at, err.message);
        cr_assert_eq(found, GGLD_EDIT_SHIFTED, "at %lld: %d", (long long)at,
                     found);
        cr_assert(is_old(&s), "at %lld", (long long)at);
        expect_clean("moved back");
    }
}

/* ---- journals that do not fit ---- */

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

    cr_assert_eq(ggld_edit_pending(FILE_NAME, &trace, &why, &err), GGLD_OK);
    cr_assert_eq(trace, GGLD_EDIT_STRANGE, "%s: trace %d", what, trace);
    cr_assert(strstr(why.message, text) != NULL, "%s: %s", what, why.message);
    cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, NULL, &err), status, "%s: %s",
                 what, err.message);
    cr_assert(strstr(err.message, text) != NULL, "%s: %s", what, err.message);
    cr_assert(file_exists(JOURNAL), "%s: the journal is gone", what);
    image after = file_load(FILE_NAME);
    cr_assert_null(
        bytes_differ(after.data, after.size, before.data, before.size),
        "%s: the file was touched", what);
    image_free(&before);
    image_free(&after);
}

static void patch(const char *path, long offset, const void *data, size_t size)
{
    int fd = open(path, O_RDWR);
    cr_assert_geq(fd, 0);
    if (offset < 0)
        offset += lseek(fd, 0, SEEK_END);
    cr_assert_eq(pwrite(fd, data, size, offset), (ssize_t)size);
    close(fd);
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
    cr_assert_eq(ggld_edit_recover(FILE_NAME, 0, &found, &err), GGLD_OK, "%s",
                 err.message);
    cr_assert_eq(found, GGLD_EDIT_HALFWAY);
    cr_assert_null(new_differs(&s));
    image_free(&im);
    image_free(&model);
}

/* ---- not alone ---- */

static void expect_refused(const scene *s, const char *text)
{
    for (int only_try = 1; only_try >= 0; only_try--) {
        cr_assert_eq(only_try ? try_scene(s) : edit_scene(s),
                     GGLD_E_UNSUPPORTED, "%s: %s", only_try ? "tried" : "done",
                     err.message);
        cr_assert(strstr(err.message, text) != NULL, "%s", err.message);
        cr_assert(is_old(s));
        expect_clean(text);
    }
    cr_assert_eq(edit_with(s, GGLD_EDIT_FORCE), GGLD_OK, "%s", err.message);
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

Test(edit_in_place, trying_writes_nothing)
{
    scene scenes[] = { scene_same_size(), scene_slack(3, false),
                       scene_insert() };
    for (size_t i = 0; i < 3; i++) {
        scene_set(&scenes[i]);
        ggld_status status = try_scene(&scenes[i]);
        cr_assert(status == GGLD_OK || (scenes[i].inserts && !can_insert()),
                  "%s: %s", scenes[i].what, err.message);
        cr_assert(is_old(&scenes[i]), "%s: not the old file", scenes[i].what);
        cr_assert_eq(folder_count(".") - n_extra, 1, "%s: something is left",
                     scenes[i].what);
        cr_assert(!was_called(PWRITE) && !was_called(RENAMEAT),
                  "%s: something was written", scenes[i].what);
        cr_assert_eq(edit_scene(&scenes[i]), status, "%s: %s", scenes[i].what,
                     err.message);
    }
}

Test(edit_in_place, a_file_that_was_changed_meanwhile_is_refused)
{
    scene s = scene_slack(3, false);
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit *edit = NULL;

    scene_set(&s);
    options.flags = GGLD_EDIT_IN_PLACE;
    cr_assert_eq(ggld_edit_open(&edit, FILE_NAME, &options, &err), GGLD_OK);
    cr_assert_eq(change(edit, &s), GGLD_OK);
    usleep(20000);
    patch(FILE_NAME, -1, "!", 1);
    cr_assert_eq(ggld_edit_in_place(edit, &err), GGLD_E_CHANGED, "%s",
                 err.message);
    ggld_edit_free(edit);
    expect_clean("changed");
}
