/* SPDX-License-Identifier: MIT */
#include "limited.h"
#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool limited_make(cgroup *group, uint64_t limit_bytes)
{
    char why[1200];
    if (cgroup_make(group, limit_bytes, why, sizeof why))
        return true;
    printf("skipped: %s\n", why);
    return false;
}

int limited_run(const cgroup *group, int (*body)(const void *arg),
                const void *arg, uint64_t *peak_bytes)
{
    int code;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        code = cgroup_enter(group) ? body(arg) : 99;
        fflush(stdout);
        _exit(code);
    }
    if (child < 0 || waitpid(child, &code, 0) != child)
        abort();
    bool ended = WIFEXITED(code);
    int result = ended ? WEXITSTATUS(code) : 1;
    CHECK(ended && (result == 0 || result == 77),
          "expected the child to succeed, got %s %d", ended ? "exit" : "signal",
          ended ? result : WTERMSIG(code));
    *peak_bytes = cgroup_peak(group);
    printf("peak of the cgroup, page cache included: %llu MiB\n",
           (unsigned long long)*peak_bytes >> 20);
    cgroup_remove(group);
    return result;
}
