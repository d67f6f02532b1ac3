/* SPDX-License-Identifier: MIT */
/* Work in a child process, whose end is the result: for what ends a process. */
#ifndef TEST_WINDOW_CHILD_H
#define TEST_WINDOW_CHILD_H

/* Ends of a child other than the function's own result (below 60, or 77). */
enum {
    CHILD_WRONG = 60, /* it saw a value that is not right */
    CHILD_SEGV = 61,
    CHILD_BUS = 62,
    CHILD_LATE = 63 /* it did not end within 20 s */
};

int child_run(int (*function)(void *arg), void *arg);
const char *child_text(int code);

#endif /* TEST_WINDOW_CHILD_H */
