/* SPDX-License-Identifier: MIT */
/* Buffered output to a descriptor that remembers its first error, errno and
 * all, so that a full disk or a closed pipe is never passed over. */
#ifndef TOOLS_OUT_H
#define TOOLS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct output {
    int fd;
    int sys_errno; /* of the first write that failed; 0 while all is well */
    bool terminal;
    size_t n;
    char buffer[1 << 16];
} output;

void out_init(output *o, int fd);
void out_bytes(output *o, const void *data, size_t size);
void out_text(output *o, const char *text);
/* Of at most 1000 characters: text of any length goes through out_text. */
void out_printf(output *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void out_pad(output *o, size_t n); /* n spaces */
/* Errno of the first error, or 0: all bytes are with the system. */
int out_flush(output *o);

#endif /* TOOLS_OUT_H */
