/* SPDX-License-Identifier: MIT */
/* Grades to severities, and the one way in which a message begins. Nothing is
 * formatted that nobody will see. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/quote.h"
#include "guard.h"
#include "split.h"

/* Of a name, quotes and NUL among them, so much is always shown. */
#define NAME_MIN 24u

static ggld_severity severity_of(const ggld_report *r, ggld_grade grade)
{
    switch (grade) {
    case GGLD_GRADE_NOTE:
        return GGLD_NOTE;
    case GGLD_GRADE_ODD:
        return GGLD_WARNING;
    case GGLD_GRADE_STRICT:
        return r->strict ? GGLD_ERROR : GGLD_WARNING;
    case GGLD_GRADE_ERROR:
        break;
    }
    return GGLD_ERROR;
}

static const char *section_word(ggld_section section)
{
    switch (section) {
    case GGLD_IN_HEADER:
        return "header";
    case GGLD_IN_KV:
        return "kv";
    case GGLD_IN_TENSOR_INFO:
    case GGLD_IN_TENSOR_DATA:
        return "tensor";
    default:
        return "file";
    }
}

/* "kv 3 'general.alignment'", the name in name_max bytes */
static void write_subject(char *out, size_t size, ggld_subject subject,
                          size_t name_max)
{
    const char *word = section_word(subject.place.section);
    if (subject.place.index == GGLD_NO_INDEX)
        snprintf(out, size, "%s", word);
    else if (subject.name == NULL)
        snprintf(out, size, "%s %" PRIu64, word, subject.place.index);
    else
        snprintf(
            out, size, "%s %" PRIu64 " %s", word, subject.place.index,
            ggld_quote_within(subject.name->data, subject.name->len, name_max)
                .text);
}

/* How much of a name there is room for where the message would be too long by
 * so many bytes: what to do stands at its end. */
static size_t name_room(ggld_subject subject, size_t over)
{
    size_t len =
        strlen(ggld_quote(subject.name->data, subject.name->len).text) + 1;
    return len > over + NAME_MIN ? len - over : NAME_MIN;
}

static void describe(ggld_error *out, ggld_status code, ggld_subject subject,
                     const char *hint, const char *format, va_list args)
{
    char who[GGLD_QUOTE_MAX + 32];
    char what[GGLD_MESSAGE_MAX];

    vsnprintf(what, sizeof what, format, args);
    write_subject(who, sizeof who, subject, GGLD_QUOTE_MAX);
    size_t bytes = strlen(who) + strlen(what) + strlen(hint) + sizeof ": ";
    if (bytes > GGLD_MESSAGE_MAX && subject.name != NULL)
        write_subject(who, sizeof who, subject,
                      name_room(subject, bytes - GGLD_MESSAGE_MAX));
    (void)ggld_fail(out, code, subject.place, "%s: %s%s", who, what, hint);
}

void ggld_report_describe(ggld_error *out, ggld_status code,
                          ggld_subject subject, const char *hint,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    describe(out, code, subject, hint, format, args);
    va_end(args);
}

/* It may look for files, once. */
static const char *hint_of(ggld_report *r, ggld_status code)
{
    if (code != GGLD_E_TRUNCATED)
        return "";
    if (r->hint == NULL)
        r->hint = ggld_hint_part(r->part);
    return r->hint;
}

static bool deliver(ggld_report *r, ggld_severity severity,
                    const ggld_error *error)
{
    /* What is found in a file that was cut meanwhile is not in the file. */
    if (r->finding != NULL && r->source != NULL) {
        r->status = ggld_guard_intact(r->source, r->err);
        if (r->status != GGLD_OK)
            return false;
    }
    if (r->finding != NULL) {
        ggld_error found = *error;
        if (r->shard_path != NULL)
            ggld_report_blame(&found, r->shard, r->shard_path);
        r->broken |= severity == GGLD_ERROR;
        r->hinted |= 1u << ggld_hint_kind_of(error);
        r->finding(severity, &found, r->user);
        return true;
    }
    if (r->err != NULL)
        *r->err = *error;
    r->status = error->code;
    return false;
}

bool ggld_report_add(ggld_report *r, ggld_grade grade, ggld_status code,
                     ggld_subject subject, const char *format, ...)
{
    ggld_error error;
    va_list args;

    if (!ggld_report_wants(r, grade))
        return true;
    va_start(args, format);
    describe(&error, code, subject, hint_of(r, code), format, args);
    va_end(args);
    return deliver(r, severity_of(r, grade), &error);
}

bool ggld_report_error(ggld_report *r, const ggld_error *error)
{
    return deliver(r, GGLD_ERROR, error);
}

void ggld_report_blame(ggld_error *err, uint32_t shard, const char *path)
{
    char message[GGLD_MESSAGE_MAX];

    if (err == NULL)
        return;
    memcpy(message, err->message, sizeof message);
    ggld_place place = { err->section, err->index, err->offset };
    int sys_errno = err->sys_errno;
    (void)ggld_fail(err, err->code, place, "%s: %s",
                    ggld_split_label(path).text, message);
    err->sys_errno = sys_errno;
    err->shard = shard;
}

bool ggld_report_nomem(ggld_report *r, const char *what)
{
    r->status = ggld_fail(r->err, GGLD_E_NOMEM, ggld_nowhere(),
                          "no memory for %s", what);
    return false;
}

bool ggld_report_wants(const ggld_report *r, ggld_grade grade)
{
    return r->finding != NULL || severity_of(r, grade) == GGLD_ERROR;
}
