/* SPDX-License-Identifier: MIT */
/* See out.h. After the first error everything more is dropped; the caller
 * asks once, at the end, or earlier to save itself work. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void out_init(output *o, int fd)
{
    o->fd = fd;
    o->sys_errno = 0;
    o->terminal = isatty(fd) == 1;
    o->n = 0;
}

static void out_write(output *o, const char *data, size_t size)
{
    while (size > 0 && o->sys_errno == 0) {
        ssize_t n = write(o->fd, data, size);
        if (n >= 0) {
            data += n;
            size -= (size_t)n;
        } else if (errno != EINTR) {
            o->sys_errno = errno;
        }
    }
}

int out_flush(output *o)
{
    out_write(o, o->buffer, o->n);
    o->n = 0;
    return o->sys_errno;
}

void out_bytes(output *o, const void *data, size_t size)
{
    if (size > sizeof o->buffer - o->n)
        out_flush(o);
    if (size > sizeof o->buffer) {
        out_write(o, data, size);
        return;
    }
    memcpy(o->buffer + o->n, data, size);
    o->n += size;
}

void out_text(output *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

void out_printf(output *o, const char *format, ...)
{
    char text[1001];
    va_list list;

    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0)
        out_bytes(o, text,
                  (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void out_pad(output *o, size_t n)
{
    while (n-- > 0)
        out_bytes(o, " ", 1);
}
