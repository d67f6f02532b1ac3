/* SPDX-License-Identifier: MIT */
/* What opens do while another process has a lease on the file, as an edit in
 * place has: they wait until it is given back, and say so where it is not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ggld/edit.h>

#include "model.h"

static ggld_error err;

static ggld_status open_it(const char *path)
{
    ggld_file *file = NULL;
    ggld_status status = ggld_open_path(&file, path, NULL, &err);
    if (status == GGLD_OK)
        ggld_close(file);
    return status;
}

static void on_finding(ggld_severity severity, const ggld_error *finding,
                       void *user)
{
    (void)severity;
    (void)finding;
    (void)user;
}

static ggld_status check_it(const char *path)
{
    return ggld_check_path(path, NULL, on_finding, NULL, &err);
}

static ggld_status edit_it(const char *path)
{
    ggld_edit *edit = NULL;
    ggld_status status = ggld_edit_open(&edit, path, NULL, &err);
    if (status == GGLD_OK)
        ggld_edit_free(edit);
    return status;
}

static ggld_status look_at_it(const char *path)
{
    ggld_edit_trace trace;
    return ggld_edit_pending(path, &trace, NULL, &err);
}

/* In a child: says whether it has the lease, keeps it until somebody opens the
 * file, and longer where it is stubborn. */
static void hold(const char *path, bool stubborn, int told_fd)
{
    sigset_t set;
    int number;
    int fd = open(path, O_RDWR);

    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    sigprocmask(SIG_BLOCK, &set, NULL);
    char has = fd >= 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0 ? 'y' : 'n';
    if (write(told_fd, &has, 1) != 1 || has == 'n')
        _exit(1);
    sigwait(&set, &number);
    if (stubborn)
        pause();
    fcntl(fd, F_SETLEASE, F_UNLCK);
    _exit(0);
}

/* The child, or -1: there are no leases here. */
static pid_t begin(const char *path, bool stubborn)
{
    int told[2];
    char has = 'n';

    if (pipe(told) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        hold(path, stubborn, told[1]);
    close(told[1]);
    if (read(told[0], &has, 1) != 1)
        has = 'n';
    close(told[0]);
    if (has == 'y')
        return child;
    waitpid(child, NULL, 0);
    return -1;
}

static bool is_as_told(const char *name, bool stubborn, ggld_status got)
{
    static const char hint[] = "edited in place: try again";
    ggld_status want = stubborn ? GGLD_E_IO : GGLD_OK;
    bool good =
        got == want && (!stubborn || (err.sys_errno == EWOULDBLOCK &&
                                      strstr(err.message, hint) != NULL));

    if (!good)
        printf("%s, %s: expected %s (%s), got %s (%s)\n", name,
               stubborn ? "kept" : "given back", ggld_status_name(want), hint,
               ggld_status_name(got), got == GGLD_OK ? "" : err.message);
    return good;
}

int main(void)
{
    static const struct {
        const char *name;
        ggld_status (*call)(const char *path);
    } rows[] = { { "open", open_it },
                 { "check", check_it },
                 { "edit", edit_it },
                 { "pending", look_at_it } };
    unsigned n_passed = 0, n_failed = 0, n_skipped = 0;
    char *folder = folder_new();
    const char *path = folder_path(folder, "m.gguf");
    const model_form form = model_plain(3, false);
    image im = model_build(&form);

    file_save(path, im.data, im.size);
    image_free(&im);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        bool stubborn = i % 2 != 0;
        pid_t child = begin(path, stubborn);
        if (child < 0) {
            n_skipped++;
            continue;
        }
        bool good =
            is_as_told(rows[i / 2].name, stubborn, rows[i / 2].call(path));
        n_passed += good;
        n_failed += !good;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    folder_remove(folder);
    printf("%u passed, %u failed, %u skipped\n", n_passed, n_failed, n_skipped);
    return n_failed != 0 ? 1 : n_passed != 0 ? 0 : 77;
}
