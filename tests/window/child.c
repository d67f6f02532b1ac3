/* SPDX-License-Identifier: MIT */
/* See child.h. Signals become exit codes by handlers of our own, so that it is
 * the same under sanitizers. */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int number)
{
    _exit(number == SIGSEGV  ? CHILD_SEGV
          : number == SIGBUS ? CHILD_BUS
                             : CHILD_LATE);
}

int child_run(int (*function)(void *arg), void *arg)
{
    int code = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        sigaction(SIGALRM, &action, NULL);
        alarm(20);
        _exit(function(arg));
    }
    if (child < 0 || waitpid(child, &code, 0) != child)
        return 99;
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}

const char *child_text(int code)
{
    static char text[32];
    switch (code) {
    case CHILD_WRONG:
        return "a wrong value";
    case CHILD_SEGV:
        return "SIGSEGV";
    case CHILD_BUS:
        return "SIGBUS";
    case CHILD_LATE:
        return "no end in 20 s";
    default:
        snprintf(text, sizeof text, code > 128 ? "signal %d" : "exit %d",
                 code > 128 ? code - 128 : code);
        return text;
    }
}
