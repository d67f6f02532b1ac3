/* SPDX-License-Identifier: MIT */
/* See report.h. A diagnostic is put together first and written at once, so
 * that two programs on one terminal do not mix their lines. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static void report_line(const char *subject, const char *text)
{
    output o;

    out_init(&o, STDERR_FILENO);
    out_text(&o, "ggld: ");
    if (subject != NULL) {
        text_put_name(&o, subject, strlen(subject));
        out_text(&o, ": ");
    }
    out_text(&o, text);
    out_text(&o, "\n");
    /* There is no one left to tell where this fails. */
    (void)out_flush(&o);
}

/* For text that may quote names as they are. */
static void report_line_safe(const char *subject, const char *text)
{
    char safe[1024];

    text_escape(safe, sizeof safe, text, strlen(text));
    report_line(subject, safe);
}

/* The library names the file that it could not open, as does this line. */
int report_error(const char *path, const ggld_error *err)
{
    static const char opening[] = "file: opening ";
    const char *text = err->message;
    size_t n = strlen(path), at = sizeof opening - 1;

    if (strncmp(text, opening, at) == 0 && text[at] == '\'' &&
        strncmp(text + at + 1, path, n) == 0 && text[at + 1 + n] == '\'') {
        char shorter[sizeof err->message];
        snprintf(shorter, sizeof shorter, "cannot open%s", text + at + n + 2);
        report_line(path, shorter);
    } else {
        report_line(path, text);
    }
    return STATUS_FAULT;
}

int report_errno(const char *path, int sys_errno, const char *what)
{
    char text[512];

    snprintf(text, sizeof text, "%s: %s", what, strerror(sys_errno));
    report_line(path, text);
    return STATUS_FAULT;
}

int report(const char *path, const char *format, ...)
{
    char text[512];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    report_line_safe(path, text);
    return STATUS_FAULT;
}

void report_note(const char *path, const char *format, ...)
{
    char text[512] = "note: ";
    va_list list;

    va_start(list, format);
    vsnprintf(text + 6, sizeof text - 6, format, list);
    va_end(list);
    report_line_safe(path, text);
}

int report_usage(const args *a, const char *format, ...)
{
    const char *name = a->command != NULL ? a->command->name : NULL;
    char text[512];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    report_line_safe(name, text);
    snprintf(text, sizeof text, "see 'ggld %s%s--help'", name ? name : "",
             name ? " " : "");
    report_line(NULL, text);
    return STATUS_USAGE;
}
