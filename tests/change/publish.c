/* SPDX-License-Identifier: MIT */
/* Shards appear together or not at all: every system call of ggld_split_write,
 * and of the set writer that convert and quantize use, fails in turn, or is the
 * last. What stands under the names is the old set,
 * the new one, or one that does not open, and never a mixture. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../views/check.h"
#include "models.h"
#include "syscalls.h"

int n_failed;

#define N_SHARDS 3

static char *folder;
static ggld_file *old_model, *new_model;
static bool over_old;  /* an old set is there, and to be replaced */
static bool by_writer; /* the new one is put, not split from a file */

static ggld_file *open_path(const char *path)
{
    ggld_file *file = NULL;
    ggld_error err;
    if (ggld_open_path(&file, path, NULL, &err) != GGLD_OK)
        return NULL;
    return file;
}

static ggld_file *make_model(const char *name, const char *text)
{
    model_made m = { .unknown = true, .text = text };
    image im = model_image(&m);
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file_save(path, im.data, im.size);
    image_free(&im);
    ggld_file *file = open_path(path);
    if (file == NULL)
        exit(99);
    return file;
}

static void run_shell(const char *format)
{
    char command[512];
    snprintf(command, sizeof command, format, folder);
    if (system(command) != 0)
        exit(99);
}

static ggld_status split(const ggld_file *file, uint32_t flags, ggld_error *err)
{
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    char prefix[256];

    options.max_tensors = 1;
    options.flags = flags;
    snprintf(prefix, sizeof prefix, "%s/sub/m", folder);
    ggld_status status = ggld_split_plan_new(&plan, file, &options, err);
    if (status == GGLD_OK)
        status = ggld_split_write(plan, prefix, err);
    ggld_split_plan_free(plan);
    return status;
}

/* Tensors of types that have kernels are put, the others copied. */
static ggld_status describe(ggld_writer *w, const ggld_file *file,
                            ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_kv_count(file) && status == GGLD_OK; i++)
        status = ggld_writer_copy_kv(w, ggld_kv_at(file, i), err);
    for (uint64_t i = 0; i < ggld_tensor_count(file) && status == GGLD_OK;
         i++) {
        const ggld_tensor *t = ggld_tensor_at(file, i);
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(t, &info);
        status = info.type == GGLD_TYPE_F32
                     ? ggld_writer_declare_tensor(
                           w, info.name.data, (size_t)info.name.len, info.type,
                           info.dims, info.n_dims, err)
                     : ggld_writer_copy_tensor(w, t, err);
    }
    return status;
}

static ggld_status put_data(ggld_set_writer *set, const ggld_file *file,
                            ggld_error *err)
{
    ggld_status status = GGLD_OK;
    uint8_t data[4096];

    for (uint64_t i = 0; i < ggld_tensor_count(file) && status == GGLD_OK;
         i++) {
        const ggld_tensor *t = ggld_tensor_at(file, i);
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(t, &info);
        if (info.type != GGLD_TYPE_F32)
            continue;
        if (info.size_bytes > sizeof data ||
            ggld_tensor_read_bytes(t, 0, data, (size_t)info.size_bytes, err) !=
                GGLD_OK)
            exit(99);
        status =
            ggld_set_writer_put_bytes(set, data, (size_t)info.size_bytes, err);
    }
    return status;
}

static ggld_status put_set(const ggld_file *file,
                           const ggld_split_options *options,
                           const char *prefix, ggld_error *err)
{
    ggld_set_writer *set = NULL;
    ggld_writer *w = NULL;

    ggld_status status = ggld_writer_new(&w, NULL, err);
    if (status == GGLD_OK)
        status = describe(w, file, err);
    if (status == GGLD_OK)
        status = ggld_set_writer_begin(&set, w, prefix, options, err);
    if (status == GGLD_OK)
        status = put_data(set, file, err);
    if (status == GGLD_OK)
        status = ggld_set_writer_seal(set, err);
    if (status == GGLD_OK)
        status = ggld_set_writer_finish(set, err);
    ggld_set_writer_free(set);
    ggld_writer_free(w);
    return status;
}

static ggld_status write_new(uint32_t flags, ggld_error *err)
{
    ggld_split_options options = ggld_split_options_init();
    char prefix[256];

    if (!by_writer)
        return split(new_model, flags, err);
    options.max_tensors = 1;
    options.flags = flags;
    snprintf(prefix, sizeof prefix, "%s/sub/m", folder);
    return put_set(new_model, &options, prefix, err);
}

/* The scene, and then the new model over it. */
static ggld_status set_and_split(ggld_error *err)
{
    syscalls plan = calls;
    calls_reset();
    run_shell("rm -rf %s/sub");
    if (over_old && split(old_model, 0, err) != GGLD_OK)
        exit(99);
    calls = plan;
    calls.armed = true;
    ggld_status status = write_new(over_old ? GGLD_SPLIT_FORCE : 0, err);
    calls.armed = false;
    return status;
}

static int count_difference(const ggld_difference *d, void *user)
{
    (void)d;
    ++*(unsigned *)user;
    return 0;
}

static bool is_model(const ggld_file *file, const ggld_file *model)
{
    unsigned n = 0;
    return ggld_diff(file, model, NULL, count_difference, &n, NULL) ==
               GGLD_OK &&
           n == 0;
}

typedef enum found { NOTHING, NO_SET, OLD_SET, NEW_SET, MIXTURE } found;

static const char *const found_names[] = { "nothing", "no set", "the old set",
                                           "the new set", "a mixture" };

/* What a reader finds. */
static found look(void)
{
    char path[256];
    found what = NO_SET;

    snprintf(path, sizeof path, "%s/sub", folder);
    if (!file_exists(path))
        return NOTHING;
    for (uint32_t i = 0; i < N_SHARDS && what == NO_SET; i++) {
        char prefix[256];
        snprintf(prefix, sizeof prefix, "%s/sub/m", folder);
        ggld_shard_path(path, sizeof path, prefix, i, N_SHARDS);
        ggld_file *set = open_path(path);
        if (set == NULL)
            continue;
        what = is_model(set, new_model)   ? NEW_SET
               : is_model(set, old_model) ? OLD_SET
                                          : MIXTURE;
        ggld_close(set);
    }
    return what;
}

static int n_entries(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/sub", folder);
    return file_exists(path) ? folder_count(path) : 0;
}

static void expect(found want, const char *what, unsigned n)
{
    found got = look();
    int entries = want == NOTHING ? 0 : N_SHARDS;
    CHECK(got == want && n_entries() == entries,
          "%s %u: expected %s, got %s, and %d entries", what, n,
          found_names[want], found_names[got], n_entries());
}

/* ---- faults ---- */

/* What is made up for by another way, or is not worth an error: the old files,
 * put aside, are then left. */
static bool may_fail_unseen(const char *name)
{
    return strcmp(name, "copy_file_range") == 0 ||
           strcmp(name, "unlinkat") == 0;
}

static bool run_fault(unsigned n, int sys_errno)
{
    ggld_error err = { .message = "" };
    char what[96];

    calls_reset();
    calls.fault_at = n;
    calls.fault_errno = sys_errno;
    ggld_status status = set_and_split(&err);
    if (calls.faulted == NULL)
        return false;
    snprintf(what, sizeof what, "%s, errno %d, call", calls.faulted, sys_errno);
    if (status == GGLD_OK) {
        CHECK(may_fail_unseen(calls.faulted) ||
                  (strcmp(calls.faulted, "renameat2") == 0 &&
                   sys_errno == EINVAL) ||
                  (strcmp(calls.faulted, "fsync of a folder") == 0 &&
                   sys_errno == EINVAL),
              "%s %u: not noticed", what, n);
        CHECK(look() == NEW_SET, "%s %u: %s", what, n, found_names[look()]);
        return true;
    }
    CHECK(status == GGLD_E_IO && err.sys_errno == sys_errno &&
              strncmp(err.message, "output '", 8) == 0,
          "%s, %s %u: %s", by_writer ? "put" : "split", what, n, err.message);
    /* Past the last name only the folder's sync is left. */
    if (strstr(err.message, "it is there") != NULL)
        expect(NEW_SET, what, n);
    else
        expect(over_old ? OLD_SET : NOTHING, what, n);
    return true;
}

static void test_faults(void)
{
    for (int over = 0; over <= 1; over++) {
        unsigned n = 0;
        over_old = over;
        while (run_fault(n, over ? EIO : ENOSPC))
            n++;
        CHECK(n > 15, "only %u calls", n);
    }
}

/* ---- killed ---- */

static bool run_killed(unsigned n)
{
    ggld_error err = { .message = "" };
    int how;

    calls_reset();
    calls.kill_at = n;
    pid_t child = fork();
    if (child == 0)
        _exit(set_and_split(&err) == GGLD_OK ? 0 : 1);
    waitpid(child, &how, 0);
    if (WIFEXITED(how))
        return false;
    found got = look();
    CHECK(got != MIXTURE && (over_old || got != OLD_SET),
          "killed before call %u: %s", n, found_names[got]);
    /* The next run is not disturbed. */
    calls_reset();
    CHECK_OK(write_new(GGLD_SPLIT_FORCE, &err), err, "the next run");
    CHECK(look() == NEW_SET, "after call %u: %s", n, found_names[look()]);
    return true;
}

static void test_kills(void)
{
    for (int over = 0; over <= 1; over++) {
        unsigned n = 0;
        over_old = over;
        while (run_killed(n))
            n++;
        CHECK(n > 15, "only %u calls", n);
    }
}

int main(void)
{
    folder = folder_new();
    calls_reset();
    old_model = make_model("old", "the old one");
    new_model = make_model("new", "the new one");
    for (int way = 0; way <= 1; way++) {
        by_writer = way;
        test_faults();
        test_kills();
    }
    ggld_close(old_model);
    ggld_close(new_model);
    folder_remove(folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
