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
    o->spoiled = false;
    o->sources = NULL;
}

/* Asked after what is to be written was read. */
static bool sources_good(output *o)
{
    for (out_source *s = o->sources; s != NULL && !o->spoiled; s = s->next)
        o->spoiled = !s->is_good(s);
    return !o->spoiled;
}

static void out_write(output *o, const char *data, size_t size)
{
    if (!sources_good(o))
        return;
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
    return o->spoiled ? EIO : o->sys_errno;
}

bool out_is_over(const output *o)
{
    return o->spoiled || o->sys_errno != 0;
}

void out_drop(output *o)
{
    o->n = 0;
}

void out_attach(output *o, out_source *source)
{
    source->next = o->sources;
    o->sources = source;
}

void out_detach(output *o, out_source *source)
{
    out_source **link = &o->sources;

    (void)out_flush(o);
    while (*link != NULL && *link != source)
        link = &(*link)->next;
    if (*link != NULL)
        *link = source->next;
}

void out_bytes(output *o, const void *data, size_t size)
{
    const char *from = data;

    /* Always by way of the buffer: the system can't read what is gone. */
    while (size > sizeof o->buffer - o->n) {
        size_t fits = sizeof o->buffer - o->n;
        memcpy(o->buffer + o->n, from, fits);
        o->n += fits;
        out_flush(o);
        from += fits;
        size -= fits;
    }
    memcpy(o->buffer + o->n, from, size);
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
