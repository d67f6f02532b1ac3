/* SPDX-License-Identifier: MIT */
/* What the fuzzers share. Each is one file with LLVMFuzzerTestOneInput, which
 * libFuzzer calls with inputs of its own, and replay.c with those of folders. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/error.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input: says what does not, and aborts. */
#define FUZZ_REQUIRE(holds, ...)                                        \
    do {                                                                \
        if (!(holds)) {                                                 \
            fprintf(stderr, "%s:%d: expected %s: ", __FILE__, __LINE__, \
                    #holds);                                            \
            fprintf(stderr, __VA_ARGS__);                               \
            fputc('\n', stderr);                                        \
            abort();                                                    \
        }                                                               \
    } while (0)

/* Memory of just that size, so that a byte past it is noticed. */
static inline void *fuzz_alloc(size_t size)
{
    void *ptr = malloc(size);
    FUZZ_REQUIRE(ptr != NULL || size == 0, "no memory for %zu bytes", size);
    return ptr;
}

/* Numbers that follow from the input alone. */
static inline uint64_t fuzz_hash(const uint8_t *data, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash;
}

static inline uint64_t fuzz_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* A refusal is one clean line, with the code that was returned. */
static inline void fuzz_require_line(const ggld_error *err, ggld_status status)
{
    FUZZ_REQUIRE(err->code == status, "code %d, status %d", err->code, status);
    FUZZ_REQUIRE(err->message[0] != '\0' &&
                     memchr(err->message, '\0', GGLD_MESSAGE_MAX) != NULL,
                 "no message");
    for (const char *c = err->message; *c != '\0'; c++)
        FUZZ_REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F, "%s",
                     err->message);
}

#endif /* TESTS_FUZZ_FUZZ_H */
