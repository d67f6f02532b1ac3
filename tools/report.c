/* SPDX-License-Identifier: MIT */
/* See report.h. A diagnostic is put together first and written at once, so
 * that two programs on one terminal do not mix their lines. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/* Of a line: commands are told that have several paths. */
#define LINE_BYTES 8192u

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
    char safe[LINE_BYTES];

    text_escape(safe, sizeof safe, text, strlen(text));
    report_line(subject, safe);
}

report_text report_words(const char *message, bool has_single)
{
    static const char constant[] = "GGLD_OPEN_SINGLE";
    const char *at = strstr(message, constant), *from = at;
    report_text words;

    while (from != NULL && from > message && strchr(";,", *from) == NULL)
        from--;
    if (at == NULL || from == message)
        snprintf(words.text, sizeof words.text, "%s", message);
    else if (has_single)
        snprintf(words.text, sizeof words.text, "%.*s--single%s",
                 (int)(at - message), message, at + sizeof constant - 1);
    else
        snprintf(words.text, sizeof words.text, "%.*s%s", (int)(from - message),
                 message, at + sizeof constant - 1);
    return words;
}

/* The library names the file that it could not open, as does this line. */
static int report_as(const char *path, const ggld_error *err, bool has_single)
{
    static const char opening[] = "file: opening ";
    report_text words = report_words(err->message, has_single);
    const char *text = words.text;
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

int report_error(const char *path, const ggld_error *err)
{
    return report_as(path, err, false);
}

int report_error_single(const char *path, const ggld_error *err)
{
    return report_as(path, err, true);
}

bool report_is_onto_itself(const ggld_error *err)
{
    return err->code == GGLD_E_INVALID &&
           strstr(err->message, " is the input: give it another name") != NULL;
}

int report_errno(const char *path, int sys_errno, const char *what)
{
    char text[LINE_BYTES];

    snprintf(text, sizeof text, "%s: %s", what, strerror(sys_errno));
    report_line(path, text);
    return STATUS_FAULT;
}

int report(const char *path, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    report_line_safe(path, text);
    return STATUS_FAULT;
}

void report_note(const char *path, const char *format, ...)
{
    char text[LINE_BYTES] = "note: ";
    va_list list;

    va_start(list, format);
    vsnprintf(text + 6, sizeof text - 6, format, list);
    va_end(list);
    report_line_safe(path, text);
}

int report_usage(const args *a, const char *format, ...)
{
    const char *name = a->command != NULL ? a->command->name : NULL;
    char text[LINE_BYTES];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "; see 'ggld %s%s--help'",
             name ? name : "", name ? " " : "");
    report_line_safe(name, text);
    return STATUS_USAGE;
}
