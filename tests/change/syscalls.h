/* SPDX-License-Identifier: MIT */
/* The library's system calls that change files, and those that read them, wrapped
 * by the linker (--wrap): any of them can be made to fail, to do less than was
 * asked, or be the last before the process dies. */
#ifndef TESTS_CHANGE_SYSCALLS_H
#define TESTS_CHANGE_SYSCALLS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define NEVER UINT_MAX

typedef struct syscalls {
    bool armed;
    unsigned n_calls;
    unsigned fault_at; /* the call that fails, with fault_errno */
    int fault_errno;
    unsigned kill_at;    /* the call before which the process dies */
    size_t most_bytes;   /* that a call reads, writes or copies; 0: all */
    bool reads;          /* calls that read count too */
    const char *faulted; /* name of the call that failed */
} syscalls;

extern syscalls calls;

void calls_reset(void);

#endif /* TESTS_CHANGE_SYSCALLS_H */
