/* SPDX-License-Identifier: MIT */
/* See stop.h. A signal handler can speak to the program only through a static
 * variable; this is the only one that the tool has. */
#include "stop.h"

#include <signal.h>
#include <stddef.h>

#include "report.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    if (stop_signal == 0)
        stop_signal = number;
}

/* What was ignored when the command began, as by nohup, stays so. */
static void watch(int number)
{
    /* The second one, or one that nobody asks about, works as ever. */
    const struct sigaction action = { .sa_handler = on_signal,
                                      .sa_flags = (int)SA_RESETHAND };
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        (void)sigaction(number, &action, NULL);
}

void stop_watch(void)
{
    watch(SIGINT);
    watch(SIGTERM);
    watch(SIGHUP);
    watch(SIGQUIT);
}

bool stop_asked(void)
{
    return stop_signal != 0;
}

int stop_report(const char *path)
{
    return report(path, "stopped by a signal; nothing was written");
}

int stop_report_reader(const char *path)
{
    return report(path, "stopped by a signal");
}

void stop_end(void)
{
    if (stop_signal == 0)
        return;
    (void)signal(stop_signal, SIG_DFL);
    raise(stop_signal);
}
