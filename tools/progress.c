/* SPDX-License-Identifier: MIT */
/* See progress.h. Drawn at most ten times a second, in one write each. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define BAR_MAX 40
#define BAR_MIN 5

double progress_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_begin(progress *p, const char *label, uint64_t total_bytes)
{
    p->label = label;
    p->total_bytes = total_bytes;
    p->done_bytes = 0;
    p->started = progress_clock();
    p->shown = p->started + 0.9; /* so that the first comes after a second */
    p->terminal = isatty(STDERR_FILENO) == 1;
    p->visible = false;
}

static int bar_width(int columns, int beside)
{
    int width = columns - beside;
    return width < BAR_MIN ? 0 : width > BAR_MAX ? BAR_MAX : width;
}

/* Of a line that fits: the bar gives way to the numbers, and they to the
 * label. */
static void progress_draw(const progress *p, double now)
{
    char line[256], out[272], bar[BAR_MAX + 1], right[128];
    double part = p->total_bytes == 0
                      ? 1
                      : (double)p->done_bytes / (double)p->total_bytes;
    double seconds = now - p->started;
    double left = part > 0 ? seconds / part - seconds : 0;
    uint64_t rate = (uint64_t)((double)p->done_bytes / seconds);
    /* The last column stays free: some terminals wrap when it is written. */
    int columns = (int)text_terminal_columns(STDERR_FILENO) - 1;

    int n = snprintf(right, sizeof right, "%3d%% of %s, %s/s, %d:%02d left",
                     (int)(part * 100), text_size(p->total_bytes).text,
                     text_size(rate).text, (int)left / 60, (int)left % 60);
    int width = bar_width(columns, (int)strlen(p->label) + n + 4);
    memset(bar, '.', sizeof bar);
    memset(bar, '#', (size_t)(part * width));
    bar[width] = '\0';
    if (width > 0)
        n = snprintf(line, sizeof line, "%s [%s] %s", p->label, bar, right);
    else
        n = snprintf(line, sizeof line, "%s %s", p->label, right);
    n = snprintf(out, sizeof out, "\r%.*s\033[K", n < columns ? n : columns,
                 line);
    if (write(STDERR_FILENO, out, (size_t)n) < 0)
        return; /* a bar that can't be drawn is no error */
}

void progress_add(progress *p, uint64_t bytes)
{
    p->done_bytes += bytes;
    if (!p->terminal)
        return;
    double now = progress_clock();
    if (now - p->shown < 0.1)
        return;
    p->shown = now;
    p->visible = true;
    progress_draw(p, now);
}

void progress_end(progress *p)
{
    if (p->visible && write(STDERR_FILENO, "\r\033[K", 4) < 0)
        return;
    p->visible = false;
}
