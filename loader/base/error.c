/* SPDX-License-Identifier: MIT */
/* Fills in errors. May assume that format strings are the library's own; text
 * out of a file comes in through ggld_quote (quote.h) only. */
#include "error.h"

/* What the header makes of them for the analyser is for callers. */
#undef ggld_fail
#undef ggld_fail_errno

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_where(ggld_error *err, ggld_status code, ggld_place place)
{
    memset(err, 0, sizeof *err);
    err->code = code;
    err->section = place.section;
    err->index = place.index;
    err->offset = place.offset;
}

static void set_message(ggld_error *err, const char *format, va_list args)
{
    int len = vsnprintf(err->message, sizeof err->message, format, args);
    if (len >= (int)sizeof err->message)
        memcpy(err->message + sizeof err->message - 4, "...", 4);
}

ggld_status ggld_fail(ggld_error *err, ggld_status code, ggld_place place,
                      const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        set_where(err, code, place);
        set_message(err, format, args);
        va_end(args);
    }
    return code;
}

/* XSI and GNU strerror_r differ in what they return; musl has the first. */
static const char *errno_text(int sys_errno, char *buffer, size_t size)
{
    snprintf(buffer, size, "error %d", sys_errno);
#if defined(__GLIBC__)
    const char *text = strerror_r(sys_errno, buffer, size);
    return text;
#else
    (void)strerror_r(sys_errno, buffer, size);
    return buffer;
#endif
}

ggld_status ggld_fail_errno(ggld_error *err, int sys_errno, ggld_place place,
                            const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        set_where(err, GGLD_E_IO, place);
        set_message(err, format, args);
        va_end(args);
        err->sys_errno = sys_errno;

        char buffer[96];
        size_t len = strlen(err->message);
        snprintf(err->message + len, sizeof err->message - len, ": %s",
                 errno_text(sys_errno, buffer, sizeof buffer));
    }
    return GGLD_E_IO;
}

const char *ggld_status_name(ggld_status code)
{
    static const struct {
        ggld_status code;
        const char *name;
    } names[] = {
#define NAME(code) { code, #code }
        NAME(GGLD_OK),
        NAME(GGLD_E_INVALID),
        NAME(GGLD_E_NOMEM),
        NAME(GGLD_E_CANCELLED),
        NAME(GGLD_E_ABI),
        NAME(GGLD_E_IO),
        NAME(GGLD_E_CHANGED),
        NAME(GGLD_E_MAGIC),
        NAME(GGLD_E_VERSION),
        NAME(GGLD_E_TRUNCATED),
        NAME(GGLD_E_OVERFLOW),
        NAME(GGLD_E_LIMIT),
        NAME(GGLD_E_STRING),
        NAME(GGLD_E_VALUE_TYPE),
        NAME(GGLD_E_TENSOR_TYPE),
        NAME(GGLD_E_SHAPE),
        NAME(GGLD_E_ALIGNMENT),
        NAME(GGLD_E_OVERLAP),
        NAME(GGLD_E_DUPLICATE),
        NAME(GGLD_E_CHECKSUM),
        NAME(GGLD_E_VALUE),
        NAME(GGLD_E_SHARD),
        NAME(GGLD_E_UNSUPPORTED),
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code)
            return names[i].name;
    return "GGLD_E_?";
}
