/* SPDX-License-Identifier: MIT */
/* For plain mains: a check that failed is printed and counted, and the test
 * goes on. Past MAX_SHOWN they are only counted. */
#ifndef TEST_VIEWS_CHECK_H
#define TEST_VIEWS_CHECK_H

#include <stdio.h>

#define MAX_SHOWN 20

extern int n_failed;

#define CHECK(condition, ...)                         \
    do {                                              \
        if (!(condition) && n_failed++ < MAX_SHOWN) { \
            printf("%s:%d: ", __FILE__, __LINE__);    \
            printf(__VA_ARGS__);                      \
            printf("\n");                             \
        }                                             \
    } while (0)

/* Of a call that must succeed. */
#define CHECK_OK(call, err, what)                                   \
    CHECK((call) == GGLD_OK, "%s: expected GGLD_OK, got: %s", what, \
          (err).message)

#endif /* TEST_VIEWS_CHECK_H */
