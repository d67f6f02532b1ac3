/* SPDX-License-Identifier: MIT */
/* malloc and its like as the library calls them, put in their place by the linker
 * (--wrap): the n-th call finds no memory, and all are counted. For the one file
 * of a test that has a CHECK. Run with a sanitizer this finds leaks. */
#ifndef TESTS_WRITE_NO_HEAP_H
#define TESTS_WRITE_NO_HEAP_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <ggld/error.h>

static _Atomic long calls_left = -1; /* to the one that fails; < 0: none */
static _Atomic bool refused;

static bool refuse(void)
{
    if (atomic_load(&calls_left) < 0 || atomic_fetch_sub(&calls_left, 1) != 0)
        return false;
    refused = true;
    errno = ENOMEM;
    return true;
}

#define WRAP_HEAP(name, parameters, arguments)            \
    void *__real_##name parameters;                       \
    void *__wrap_##name parameters;                       \
    void *__wrap_##name parameters                        \
    {                                                     \
        return refuse() ? NULL : __real_##name arguments; \
    }
WRAP_HEAP(malloc, (size_t size), (size))
WRAP_HEAP(calloc, (size_t n, size_t size), (n, size))
WRAP_HEAP(realloc, (void *old, size_t size), (old, size))
WRAP_HEAP(reallocarray, (void *old, size_t n, size_t size), (old, n, size))
WRAP_HEAP(aligned_alloc, (size_t unit, size_t size), (unit, size))
WRAP_HEAP(strdup, (const char *text), (text))
WRAP_HEAP(strndup, (const char *text, size_t n), (text, n))

/* Each call for memory of try(user) fails in its turn, until none is refused any
 * more. It may do without what it does not get. How many there are. */
static long fail_each_call(const char *what,
                           ggld_status (*try)(void *user, ggld_error *err),
                           void *user)
{
    for (long n = 0; n < 3000; n++) {
        ggld_error err = { .code = GGLD_OK };
        refused = false;
        calls_left = n;
        ggld_status status = try(user, &err);
        calls_left = -1;
        if (!refused) {
            CHECK(status == GGLD_OK, "%s: expected success, got %s", what,
                  err.message);
            return n;
        }
        CHECK(status == GGLD_E_NOMEM || status == GGLD_OK,
              "%s, call %ld: expected GGLD_E_NOMEM, got %s: %s", what, n,
              ggld_status_name(status), err.message);
    }
    CHECK(false, "%s: expected at most 3000 calls", what);
    return 0;
}

#endif /* TESTS_WRITE_NO_HEAP_H */
