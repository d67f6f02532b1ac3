/* SPDX-License-Identifier: MIT */
/* See setting_text.h. */
#include "setting_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "setting.h"

/* ---- files ---- */

static __attribute__((format(printf, 3, 4))) char *
fail(char *why, const char *path, const char *format, ...)
{
    char what[SETTING_WHY_MAX - 140];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    snprintf(why, SETTING_WHY_MAX, "file '%.120s': %s", path, what);
    return NULL;
}

/* size bytes, or up to the end where that comes before, and a NUL. */
static char *read_bytes(int fd, const char *path, size_t *size, char *why)
{
    char *text = malloc(*size + 1);
    size_t got = 0;

    if (text == NULL)
        return fail(why, path, "no memory for its %zu bytes", *size);
    while (got < *size) {
        ssize_t n = read(fd, text + got, *size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(text);
            return fail(why, path, "%s", strerror(errno));
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    text[got] = '\0';
    *size = got;
    return text;
}

/* What is no regular file may have no end, or never begin. */
static char *read_open(int fd, const char *path, size_t *size, char *why)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return fail(why, path, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(why, path, "is no regular file");
    if ((uint64_t)st.st_size > SETTING_TEXT_MAX)
        return fail(why, path, "%" PRIu64 " bytes, more than %u",
                    (uint64_t)st.st_size, SETTING_TEXT_MAX);
    *size = (size_t)st.st_size;
    return read_bytes(fd, path, size, why);
}

char *setting_load_text(const char *text, bool files, size_t *size, char *why)
{
    if (files && text[0] == '@' && text[1] != '@') {
        int fd = open(text + 1, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return fail(why, text + 1, "%s", strerror(errno));
        char *loaded = read_open(fd, text + 1, size, why);
        close(fd);
        return loaded;
    }
    text += text[0] == '@' && text[1] == '@';
    *size = strlen(text);
    char *copy = strdup(text);
    if (copy == NULL)
        snprintf(why, SETTING_WHY_MAX, "no memory");
    return copy;
}

/* ---- escapes ---- */

/* The number of \uNNNN at that place, or -1. */
static long escaped_at(const char *json, size_t len, size_t at)
{
    char digits[5] = "";

    if (len - at < 6 || json[at] != '\\' || json[at + 1] != 'u')
        return -1;
    memcpy(digits, json + at + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4
               ? strtol(digits, NULL, 16)
               : -1;
}

/* A backslash is only in strings, or else the list is none. */
bool setting_has_lone_surrogate(const char *json, size_t len, size_t *at)
{
    for (size_t i = 0; i < len; i++) {
        if (json[i] != '\\')
            continue;
        long unit = escaped_at(json, len, i);
        if (unit < 0xD800 || unit > 0xDFFF) {
            i++; /* what is escaped, as another backslash */
            continue;
        }
        long next = escaped_at(json, len, i + 6);
        if (unit > 0xDBFF || next < 0xDC00 || next > 0xDFFF) {
            *at = i;
            return true;
        }
        i += 11;
    }
    return false;
}
