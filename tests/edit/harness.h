/* SPDX-License-Identifier: MIT */
/* The library's system calls that edits make, wrapped by the linker (--wrap), as
 * in tests/write: any of them can be made to fail, to do less than was asked, or
 * be the last before the process dies. */
#ifndef TESTS_EDIT_HARNESS_H
#define TESTS_EDIT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum call {
    OPENAT,
    PWRITE,
    FSYNC,
    RENAMEAT,
    UNLINKAT,
    INSERT,
    COLLAPSE,
    ALLOCATE,
    CLOSE
} call;

extern const char *const call_names[];

#define MAX_CALLS 4096

typedef struct harness_state {
    bool armed;
    call calls[MAX_CALLS];
    unsigned n_calls;
    unsigned fault_at; /* the call that fails, with fault_errno */
    int fault_errno;
    unsigned kill_at; /* the call before which the process dies */
    size_t max_write; /* that a call writes; 0: all */
} harness_state;

extern harness_state harness;

void harness_reset(void);
bool was_called(call what);

#endif /* TESTS_EDIT_HARNESS_H */
