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
    stop_signal = number;
}

void stop_watch(void)
{
    /* The second one, or one that nobody asks about, works as ever. */
    const struct sigaction action = { .sa_handler = on_signal,
                                      .sa_flags = (int)SA_RESETHAND };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool stop_asked(void)
{
    return stop_signal != 0;
}

int stop_report(const char *path)
{
    return report(path, "stopped by a signal; nothing was written");
}
