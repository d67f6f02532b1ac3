/* SPDX-License-Identifier: MIT */
/* Buffered output to a descriptor that remembers its first error, errno and
 * all, so that a full disk or a closed pipe is never passed over. What was read
 * of files that may be cut meanwhile is written only once it is known that they
 * were not. */
#ifndef TOOLS_OUT_H
#define TOOLS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where output comes from. */
typedef struct out_source {
    struct out_source *next;
    /* Is what has been read of it so far its own? Says so where it is not. */
    bool (*is_good)(struct out_source *source);
} out_source;

typedef struct output {
    int fd;
    int sys_errno; /* of the first write that failed; 0 while all is well */
    bool spoiled;  /* a source is not what it was: all more is dropped */
    out_source *sources;
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
/* Errno of the first error, or 0: all bytes are with the system. EIO where it
 * is spoiled. */
int out_flush(output *o);

/* Is all more in vain? */
bool out_is_over(const output *o);
/* Forgets what is not with the system yet. */
void out_drop(output *o);

/* Between the two, the source is asked before anything is written. The latter
 * writes what is there. */
void out_attach(output *o, out_source *source);
void out_detach(output *o, out_source *source);

#endif /* TOOLS_OUT_H */
