/* SPDX-License-Identifier: MIT */
/* Every system call of the writer in turn fails, is interrupted, does less
 * than asked, or is the last before the process is killed: the name holds the
 * old file or the whole new one. The calls are wrapped by the linker
 * (--wrap), so this needs neither strace nor a faulty disk. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "wraps.h"

/* ---- the wrapped calls ---- */

typedef enum call {
    READLINK,
    OPENAT,
    MKDIRAT,
    FSTATAT,
    FLOCK,
    FSTATAT_TEMP, /* is the temporary file still there, once it is locked? */
    FCHMOD,
    FALLOCATE,
    PWRITE,
    COPY_RANGE,
    FTRUNCATE,
    FSYNC_FILE,
    FSYNC_FOLDER,
    CLOSE,
    RENAMEAT,
    UNLINKAT
} call;

static const char *const call_names[] = {
    "readlink",      "openat",        "mkdirat",   "fstatat",
    "flock",         "fstatat(temp)", "fchmod",    "fallocate",
    "pwrite",        "copy_range",    "ftruncate", "fsync(file)",
    "fsync(folder)", "close",         "renameat",  "unlinkat"
};

#define MAX_CALLS 256

static struct {
    bool armed;
    call calls[MAX_CALLS];
    unsigned n_calls;
    unsigned fault_at; /* the call that fails; MAX_CALLS: none */
    int fault_errno;
    unsigned kill_at; /* the call before which the process dies */
    size_t max_write; /* bytes that a pwrite does at most; 0: all */
    bool zero_writes;
    size_t max_copy; /* likewise of a copy_file_range */
    bool zero_copies;
    call always_failing; /* with always_errno, where that is not 0 */
    int always_errno;
    uint32_t system; /* the file system that fstatfs tells of; 0: what it is */
} harness;

/* Notes the call; true where it is to fail, with errno set. */
static bool intercept(call what)
{
    if (!harness.armed)
        return false;
    if (harness.n_calls == harness.kill_at)
        raise(SIGKILL);
    cr_assert_lt(harness.n_calls, MAX_CALLS);
    bool fault = harness.n_calls == harness.fault_at;
    harness.calls[harness.n_calls++] = what;
    if (harness.always_errno != 0 && what == harness.always_failing) {
        errno = harness.always_errno;
        return true;
    }
    if (fault)
        errno = harness.fault_errno;
    return fault;
}

ssize_t __real_readlink(const char *path, char *out, size_t n);
ssize_t __wrap_readlink(const char *path, char *out, size_t n);
ssize_t __wrap_readlink(const char *path, char *out, size_t n)
{
    return intercept(READLINK) ? -1 : __real_readlink(path, out, n);
}

WRAP_OPENAT(OPENAT, false)

WRAP_MKDIRAT(MKDIRAT)

int __real_fstatat64(int at, const char *path, struct stat *st, int flags);
int __wrap_fstatat64(int at, const char *path, struct stat *st, int flags);
int __wrap_fstatat64(int at, const char *path, struct stat *st, int flags)
{
    call what = strstr(path, ".tmp.") != NULL ? FSTATAT_TEMP : FSTATAT;
    return intercept(what) ? -1 : __real_fstatat64(at, path, st, flags);
}

WRAP(flock, FLOCK, int, (int fd, int operation), (fd, operation))

int __real_fstatfs64(int fd, struct statfs *out);
int __wrap_fstatfs64(int fd, struct statfs *out);
int __wrap_fstatfs64(int fd, struct statfs *out)
{
    int result = __real_fstatfs64(fd, out);
    if (harness.armed && harness.system != 0)
        out->f_type = (int32_t)harness.system; /* as 32 bits have it */
    return result;
}

WRAP_FCHMOD(FCHMOD)

int __real_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len)
{
    return intercept(FALLOCATE) ? -1
                                : __real_fallocate64(fd, mode, offset, len);
}

ssize_t __real_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset)
{
    if (intercept(PWRITE))
        return -1;
    if (harness.armed && harness.zero_writes)
        return 0;
    if (harness.armed && harness.max_write != 0 && n > harness.max_write)
        n = harness.max_write;
    return __real_pwrite64(fd, data, n, offset);
}

ssize_t __real_copy_file_range(int from, off_t *from_at, int to, off_t *to_at,
                               size_t n, unsigned flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at,
                               size_t n, unsigned flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at,
                               size_t n, unsigned flags)
{
    if (intercept(COPY_RANGE))
        return -1;
    if (harness.armed && harness.zero_copies)
        return 0;
    if (harness.armed && harness.max_copy != 0 && n > harness.max_copy)
        n = harness.max_copy;
    return __real_copy_file_range(from, from_at, to, to_at, n, flags);
}

WRAP_FTRUNCATE(FTRUNCATE)

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat st;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    return intercept(folder ? FSYNC_FOLDER : FSYNC_FILE) ? -1
                                                         : __real_fsync(fd);
}

WRAP_CLOSE(CLOSE)

WRAP_RENAMEAT(RENAMEAT)

WRAP_UNLINKAT(UNLINKAT)

/* ---- one file written ---- */

static char *folder;
static char *source_folder;
static ggld_file *source; /* what is copied; NULL: data is put */
static ggld_error err;

static void set_up(void)
{
    folder = folder_new();
    source_folder = folder_new();
    cr_assert_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    harness.armed = false;
    cr_assert_eq(chdir("/"), 0);
    ggld_close(source);
    source = NULL;
    folder_remove(source_folder);
    folder_remove(folder);
}

TestSuite(faults, .init = set_up, .fini = tear_down);

static void harness_reset(void)
{
    memset(&harness, 0, sizeof harness);
    harness.fault_at = MAX_CALLS;
    harness.kill_at = MAX_CALLS;
}

#define TENSOR_BYTES   2500000u
#define METADATA_BYTES 96
#define FILE_BYTES     2500096u

static ggld_status copy_all(ggld_writer *w, const char *path)
{
    ggld_status status = ggld_writer_copy_kv(w, ggld_kv_at(source, 0), &err);
    if (status == GGLD_OK)
        status = ggld_writer_copy_tensor(w, ggld_tensor_at(source, 0), &err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, path, &err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(w, &err);
    return status;
}

static ggld_status put_all(ggld_writer *w, const char *path)
{
    static uint8_t data[TENSOR_BYTES];
    const uint64_t dims[] = { TENSOR_BYTES };

    memset(data, 0x5A, sizeof data);
    ggld_status status = ggld_writer_set_string(w, "k", "value", 5, &err);
    if (status == GGLD_OK)
        status =
            ggld_writer_declare_tensor(w, "t", 1, GGLD_TYPE_I8, dims, 1, &err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, path, &err);
    for (size_t at = 0; at < sizeof data && status == GGLD_OK; at += 500000)
        status = ggld_writer_put_bytes(w, data + at, 500000, &err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(w, &err);
    return status;
}

/* The harness counts from begin to free. */
static ggld_status write_file(const char *path)
{
    ggld_writer *w = NULL;
    cr_assert_eq(ggld_writer_new(&w, NULL, &err), GGLD_OK);
    harness.armed = true;
    ggld_status status = source != NULL ? copy_all(w, path) : put_all(w, path);
    ggld_writer_free(w);
    harness.armed = false;
    return status;
}

static bool is_whole(const char *path)
{
    image im = file_load(path);
    bool whole = im.size == FILE_BYTES && memcmp(im.data, "GGUF", 4) == 0;
    for (size_t i = METADATA_BYTES; whole && i < METADATA_BYTES + TENSOR_BYTES;
         i++)
        whole = im.data[i] == 0x5A;
    image_free(&im);
    return whole;
}

static bool is_old(const char *path)
{
    image im = file_load(path);
    bool old = im.size == 3 && memcmp(im.data, "old", 3) == 0;
    image_free(&im);
    return old;
}

/* With an old file in place, or with folders to be made. */
static const char *const paths[] = { "a.gguf", "p/q/a.gguf" };

static void scene_set(const char *path)
{
    harness_reset();
    if (strchr(path, '/') == NULL) {
        file_save(path, "old", 3);
        return;
    }
    remove("p/q/a.gguf");
    remove("p/q");
    remove("p");
}

/* After a run: what the name holds, and that nothing else is there. */
static void scene_check(const char *path, bool whole, const char *what)
{
    bool in_folder = strchr(path, '/') != NULL;
    if (whole)
        cr_assert(is_whole(path), "%s: the new file is not whole", what);
    else if (in_folder)
        cr_assert(!file_exists("p"), "%s: folders are left", what);
    else
        cr_assert(is_old(path), "%s: the old file is touched", what);
    cr_assert_eq(folder_count("."), whole || !in_folder,
                 "%s: something is left", what);
    if (whole && in_folder)
        cr_assert_eq(folder_count("p/q"), 1, "%s: something is left", what);
}

static bool was_called(call what)
{
    for (unsigned i = 0; i < harness.n_calls; i++)
        if (harness.calls[i] == what)
            return true;
    return false;
}

/* From here on files are copied, not put. */
static const char *copy_from_now_on(void)
{
    const char *path = folder_path(source_folder, "in.gguf");

    harness_reset();
    cr_assert_eq(write_file(path), GGLD_OK, "%s", err.message);
    cr_assert_eq(ggld_open_path(&source, path, NULL, &err), GGLD_OK);
    return path;
}

/* ---- order ---- */

static void expect_calls(const char *path, const call *want, unsigned n_want)
{
    scene_set(path);
    cr_assert_eq(write_file(path), GGLD_OK, "%s", err.message);
    for (unsigned i = 0; i < n_want || i < harness.n_calls; i++)
        cr_assert(
            i < n_want && i < harness.n_calls && want[i] == harness.calls[i],
            "call %u: expected %s, got %s", i,
            i < n_want ? call_names[want[i]] : "no more",
            i < harness.n_calls ? call_names[harness.calls[i]] : "no more");
    scene_check(path, true, path);
}

Test(faults, file_is_synced_then_renamed_then_its_folder_synced)
{
    static const call over_old[] = {
        READLINK,   OPENAT,    FSTATAT,  OPENAT,       FLOCK,  FSTATAT_TEMP,
        FCHMOD,     FALLOCATE, PWRITE,   PWRITE,       PWRITE, FTRUNCATE,
        FSYNC_FILE, CLOSE,     RENAMEAT, FSYNC_FOLDER, CLOSE,  CLOSE
    };
    expect_calls("a.gguf", over_old, sizeof over_old / sizeof over_old[0]);
}

/* To the first block, and the rest at once. */
Test(faults, data_that_is_copied_goes_from_file_to_file)
{
    static const call calls[] = {
        READLINK,   OPENAT,    FSTATAT,  OPENAT,       FLOCK,      FSTATAT_TEMP,
        FCHMOD,     FALLOCATE, PWRITE,   COPY_RANGE,   COPY_RANGE, FTRUNCATE,
        FSYNC_FILE, CLOSE,     RENAMEAT, FSYNC_FOLDER, CLOSE,      CLOSE
    };
    copy_from_now_on();
    expect_calls("a.gguf", calls, sizeof calls / sizeof calls[0]);
}

Test(faults, new_folders_are_synced_too)
{
    static const call in_new[] = {
        READLINK,     OPENAT,  OPENAT,   OPENAT,       MKDIRAT,
        FSYNC_FOLDER, OPENAT,  MKDIRAT,  FSYNC_FOLDER, OPENAT,
        CLOSE,        FSTATAT, OPENAT,   FLOCK,        FSTATAT_TEMP,
        FALLOCATE,    PWRITE,  PWRITE,   PWRITE,       FTRUNCATE,
        FSYNC_FILE,   CLOSE,   RENAMEAT, CLOSE,        FSYNC_FOLDER,
        CLOSE,        CLOSE
    };
    remove("a.gguf");
    expect_calls("p/q/a.gguf", in_new, sizeof in_new / sizeof in_new[0]);
}

/* ---- faults ---- */

/* The call number n fails. false where there are not as many. */
static bool run_fault(const char *path, unsigned n, int sys_errno)
{
    char what[96];
    scene_set(path);
    harness.fault_at = n;
    harness.fault_errno = sys_errno;
    ggld_status status = write_file(path);
    if (harness.n_calls <= n)
        return false;

    call failed = harness.calls[n];
    snprintf(what, sizeof what, "%s, call %u, %s, errno %d", path, n,
             call_names[failed], sys_errno);
    bool renamed = was_called(RENAMEAT) && failed != RENAMEAT;
    cr_assert(status == GGLD_OK || status == GGLD_E_IO, "%s: %s", what,
              ggld_status_name(status));
    if (status != GGLD_OK) {
        cr_assert_eq(err.sys_errno, sys_errno, "%s: %s", what, err.message);
        cr_assert(strstr(err.message, "output '") == err.message, "%s: %s",
                  what, err.message);
    }
    /* Of all calls only the closing of a folder may fail unseen, what is done
     * another way or again then, and looking for a link where there is
     * nothing. */
    if (status == GGLD_OK)
        cr_assert(failed == CLOSE || failed == COPY_RANGE || failed == FLOCK ||
                      failed == FSTATAT_TEMP ||
                      (failed == READLINK && sys_errno != EIO),
                  "%s: not noticed", what);
    scene_check(path, status == GGLD_OK || renamed, what);
    return true;
}

static void run_faults(void)
{
    const int errnos[] = { EIO, ENOSPC, EDQUOT, EACCES, EROFS, EXDEV };
    for (size_t p = 0; p < 2; p++) {
        remove("a.gguf");
        for (size_t e = 0; e < sizeof errnos / sizeof errnos[0]; e++) {
            unsigned n = 0;
            while (run_fault(paths[p], n, errnos[e]))
                n++;
            cr_assert_geq(n, 14, "only %u calls", n);
        }
    }
}

Test(faults, any_call_may_fail)
{
    run_faults();
    scene_set("p/q/a.gguf");
    copy_from_now_on();
    run_faults();
}

static void run_interrupted(void)
{
    for (unsigned n = 0;; n++) {
        scene_set("a.gguf");
        harness.fault_at = n;
        harness.fault_errno = EINTR;
        ggld_status status = write_file("a.gguf");
        if (harness.n_calls <= n)
            break;
        call what = harness.calls[n];
        if (what == FSTATAT || what == FSTATAT_TEMP || what == FCHMOD ||
            what == RENAMEAT)
            continue; /* these are not interrupted */
        cr_assert_eq(status, GGLD_OK, "%s: %s", call_names[what], err.message);
        scene_check("a.gguf", true, call_names[what]);
    }
}

Test(faults, calls_that_are_interrupted_are_made_again)
{
    run_interrupted();
    copy_from_now_on();
    run_interrupted();
}

Test(faults, short_copies_are_gone_on_with)
{
    const size_t most[] = { 30000, 65536, 99999, 1048576 };
    copy_from_now_on();
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        scene_set("a.gguf");
        harness.max_copy = most[i];
        cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
        cr_assert(was_called(COPY_RANGE));
        scene_check("a.gguf", true, "short copies");
    }
}

Test(faults, what_the_system_does_not_copy_is_read_and_written)
{
    const int errnos[] = { EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, ETXTBSY };
    copy_from_now_on();
    for (size_t i = 0; i < sizeof errnos / sizeof errnos[0]; i++) {
        scene_set("a.gguf");
        harness.always_failing = COPY_RANGE;
        harness.always_errno = errnos[i];
        cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
        scene_check("a.gguf", true, "no copy_file_range");
    }
    scene_set("a.gguf");
    harness.zero_copies = true;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    scene_check("a.gguf", true, "copies of nothing");
    scene_set("a.gguf");
    harness.max_copy = 100000; /* the second one fails, in the middle */
    harness.fault_at = 10;
    harness.fault_errno = EXDEV;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    cr_assert_eq(harness.calls[10], COPY_RANGE);
    scene_check("a.gguf", true, "a copy that ends halfway");
}

Test(faults, a_source_that_is_cut_meanwhile_is_an_error)
{
    const char *path = copy_from_now_on();
    cr_assert_eq(truncate(path, 1000000), 0);
    scene_set("a.gguf");
    cr_assert_eq(write_file("a.gguf"), GGLD_E_TRUNCATED);
    cr_assert_str_eq(err.message,
                     "tensor 0 't': its file has been cut to 1000000 bytes; "
                     "what is copied ends at 2500096");
    scene_check("a.gguf", false, "a source that is cut");
}

Test(faults, short_writes_are_gone_on_with)
{
    const size_t most[] = { 50000, 65536, 99999, 1048576 };
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        scene_set("a.gguf");
        harness.max_write = most[i];
        cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
        scene_check("a.gguf", true, "short writes");
    }
    scene_set("a.gguf");
    harness.zero_writes = true;
    cr_assert_eq(write_file("a.gguf"), GGLD_E_IO);
    scene_check("a.gguf", false, "writes of nothing");
}

Test(faults, what_a_file_system_does_not_offer_is_done_without)
{
    scene_set("a.gguf");
    harness.always_failing = FALLOCATE;
    harness.always_errno = EOPNOTSUPP;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    scene_check("a.gguf", true, "no fallocate");
    scene_set("a.gguf");
    harness.always_failing = FSYNC_FOLDER;
    harness.always_errno = EINVAL;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    scene_check("a.gguf", true, "no fsync of folders");
}

/* Between its making and its lock another writer may take it for a leftover:
 * it holds the lock, or has removed the file. */
Test(faults, a_temporary_file_that_another_removes_is_made_again)
{
    const struct {
        unsigned at;
        call what;
        int sys_errno;
    } cases[] = { { 4, FLOCK, EWOULDBLOCK }, { 5, FSTATAT_TEMP, ENOENT } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene_set("a.gguf");
        harness.fault_at = cases[i].at;
        harness.fault_errno = cases[i].sys_errno;
        cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
        cr_assert_eq(harness.calls[cases[i].at], cases[i].what);
        scene_check("a.gguf", true, call_names[cases[i].what]);
    }
}

Test(faults, where_there_are_no_locks_leftovers_stay)
{
    const int errnos[] = { ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL, EBADF };
    const char *left = "a.gguf.tmp.0123456789abcdef";
    for (size_t i = 0; i < sizeof errnos / sizeof errnos[0]; i++) {
        scene_set("a.gguf");
        file_save(left, "left", 4);
        harness.always_failing = FLOCK;
        harness.always_errno = errnos[i];
        cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
        cr_assert(file_exists(left), "errno %d", errnos[i]);
        remove(left);
        scene_check("a.gguf", true, "no locks");
    }
}

/* Another machine's locks may not be seen there, and with SMB one's own are in
 * the way. */
Test(faults, on_file_systems_of_networks_nothing_is_locked_nor_removed)
{
    const struct {
        const char *name;
        uint32_t system;
        bool network;
    } cases[] = { { "nfs", 0x6969, true },      { "smb", 0x517B, true },
                  { "cifs", 0xFF534D42, true }, { "smb2", 0xFE534D42, true },
                  { "fuse", 0x65735546, true }, { "9p", 0x01021997, true },
                  { "ext4", 0xEF53, false },    { "tmpfs", 0x01021994, false },
                  { "xfs", 0x58465342, false } };
    const char *left = "a.gguf.tmp.0123456789abcdef";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene_set("a.gguf");
        file_save(left, "left", 4);
        harness.system = cases[i].system;
        cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
        cr_expect_eq(file_exists(left), cases[i].network,
                     "%s: expected it %s, got it %s", cases[i].name,
                     cases[i].network ? "kept" : "removed",
                     cases[i].network ? "removed" : "kept");
        cr_expect_neq(was_called(FLOCK), cases[i].network, "%s: flock",
                      cases[i].name);
        remove(left);
        scene_check("a.gguf", true, cases[i].name);
    }
}

/* What has no lock is known by its name still. */
Test(faults, without_locks_too_a_file_that_is_gone_is_made_again)
{
    scene_set("a.gguf");
    harness.always_failing = FLOCK;
    harness.always_errno = ENOLCK;
    harness.fault_at = 5;
    harness.fault_errno = ENOENT;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    cr_assert_eq(harness.calls[5], FSTATAT_TEMP);
    cr_assert_eq(harness.calls[6], CLOSE, "expected it to be given up");
    scene_check("a.gguf", true, "no locks, and it is gone");
}

Test(faults, leftovers_that_cannot_be_removed_are_no_failure)
{
    const char *left = "a.gguf.tmp.0123456789abcdef";
    scene_set("a.gguf");
    file_save(left, "left", 4);
    harness.always_failing = UNLINKAT;
    harness.always_errno = EACCES;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    cr_assert(file_exists(left) && was_called(UNLINKAT));
    remove(left);
    scene_check("a.gguf", true, "a leftover that can't be removed");
}

Test(faults, a_link_that_cannot_be_read_is_not_replaced)
{
    struct stat st;
    scene_set("a.gguf");
    cr_assert_eq(symlink("a.gguf", "link.gguf"), 0);
    harness.fault_at = 0;
    harness.fault_errno = EIO;
    cr_assert_eq(write_file("link.gguf"), GGLD_E_IO);
    cr_assert_eq(harness.calls[0], READLINK);
    cr_assert(lstat("link.gguf", &st) == 0 && S_ISLNK(st.st_mode));
    remove("link.gguf");
    scene_check("a.gguf", false, "a link that can't be read");
}

/* The second openat makes the temporary file. */
Test(faults, a_name_that_is_taken_is_passed_by)
{
    scene_set("a.gguf");
    harness.fault_at = 3;
    harness.fault_errno = EEXIST;
    cr_assert_eq(write_file("a.gguf"), GGLD_OK, "%s", err.message);
    cr_assert_eq(harness.calls[3], OPENAT);
    cr_assert_eq(harness.calls[4], OPENAT);
    scene_check("a.gguf", true, "a name that is taken");
}

Test(faults, names_that_are_taken_are_not_tried_for_ever)
{
    scene_set("a.gguf");
    harness.always_failing = OPENAT;
    harness.always_errno = EEXIST;
    cr_assert_eq(write_file("a.gguf"), GGLD_E_IO);
    scene_check("a.gguf", false, "every name is taken");
}

/* ---- killed ---- */

/* Temporary files beside the target. Their names do not end like a model's, so
 * that whoever looks for models, or for the other shards of one, passes them
 * by. */
static int count_leftovers(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    char in[64];
    snprintf(in, sizeof in, "%.*s.",
             slash != NULL ? (int)(slash - path + 1) : 0, path);
    DIR *d = opendir(in);
    const struct dirent *entry;
    int n = 0;
    while (d != NULL && (entry = readdir(d)) != NULL) {
        const char *name = entry->d_name;
        size_t len = strlen(base);
        if (name[0] == '.' || strcmp(name, base) == 0)
            continue;
        cr_assert(strncmp(name, base, len) == 0 &&
                      strncmp(name + len, ".tmp.", 5) == 0 &&
                      strspn(name + len + 5, "0123456789abcdef") == 16 &&
                      strlen(name) == len + 21,
                  "'%s' is left, which is no temporary file's name", name);
        n++;
    }
    if (d != NULL)
        closedir(d);
    return n;
}

static void remove_folders(void)
{
    cr_assert_eq(system("rm -rf p"), 0);
}

/* Dies before call number n; false where there are not as many. */
static bool run_killed(const char *path, unsigned n, unsigned rename_at,
                       unsigned *n_with_leftovers)
{
    int how;
    scene_set(path);
    harness.kill_at = n;
    pid_t child = fork();
    if (child == 0) {
        write_file(path);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    if (WIFEXITED(how))
        return false;
    cr_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    if (n > rename_at)
        cr_assert(is_whole(path), "killed before call %u", n);
    else if (strchr(path, '/') == NULL)
        cr_assert(is_old(path), "killed before call %u", n);
    else
        cr_assert(!file_exists(path), "killed before call %u", n);

    /* The next run is not disturbed, and removes what is left. */
    int n_left = count_leftovers(path);
    cr_assert_leq(n_left, 1, "killed before call %u", n);
    *n_with_leftovers += (unsigned)n_left;
    harness_reset();
    cr_assert_eq(write_file(path), GGLD_OK, "after call %u: %s", n,
                 err.message);
    cr_assert(is_whole(path));
    cr_assert_eq(count_leftovers(path), 0, "after call %u", n);
    return true;
}

static void run_kills(void)
{
    for (size_t p = 0; p < 2; p++) {
        scene_set(paths[p]);
        cr_assert_eq(write_file(paths[p]), GGLD_OK);
        unsigned rename_at = 0;
        while (harness.calls[rename_at] != RENAMEAT)
            rename_at++;
        unsigned n = 0, n_with_leftovers = 0;
        while (run_killed(paths[p], n, rename_at, &n_with_leftovers)) {
            remove_folders();
            n++;
        }
        cr_assert_geq(n, 14, "only %u calls", n);
        cr_assert_geq(n_with_leftovers, 6, "of %u kills left one", n);
        remove_folders();
    }
}

Test(faults, killed_between_any_two_calls)
{
    run_kills();
    copy_from_now_on();
    run_kills();
}
