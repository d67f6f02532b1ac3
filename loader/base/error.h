/* SPDX-License-Identifier: MIT */
/* Filling in a ggld_error: the one place that a refusal goes through. */
#ifndef GGLD_BASE_ERROR_H
#define GGLD_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include <ggld/error.h>

/* Where in the file. */
typedef struct ggld_place {
    ggld_section section;
    uint64_t index; /* of the record, or GGLD_NO_INDEX */
    uint64_t offset;
} ggld_place;

static inline ggld_place ggld_nowhere(void)
{
    ggld_place place = { GGLD_IN_NONE, GGLD_NO_INDEX, 0 };
    return place;
}

static inline ggld_place ggld_place_of(ggld_section section, uint64_t index,
                                       uint64_t offset)
{
    ggld_place place = { section, index, offset };
    return place;
}

/* Of the file as a whole. */
static inline ggld_place ggld_in_file(void)
{
    return ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
}

/* Sets *err (where it is not NULL) and returns code, which is not GGLD_OK. A
 * message that is too long ends in "...". */
ggld_status ggld_fail(ggld_error *err, ggld_status code, ggld_place place,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a system's error: GGLD_E_IO, the errno's text behind the
 * message, and sys_errno set. */
ggld_status ggld_fail_errno(ggld_error *err, int sys_errno, ggld_place place,
                            const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#ifdef __clang_analyzer__
/* A refusal is never GGLD_OK: what follows it on the good way has been set. The
 * analyser looks at one file at a time, and does not know. */
static inline ggld_status ggld_failed(ggld_status status)
{
    if (status == GGLD_OK)
        __builtin_unreachable();
    return status;
}
#define ggld_fail(...)       ggld_failed(ggld_fail(__VA_ARGS__))
#define ggld_fail_errno(...) ggld_failed(ggld_fail_errno(__VA_ARGS__))
#endif

#endif /* GGLD_BASE_ERROR_H */
