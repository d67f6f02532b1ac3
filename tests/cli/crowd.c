/* SPDX-License-Identifier: MIT */
/* crowd KIND N: writes a GGUF file to standard output that is odd in one way,
 * N times: "tensors" of an unknown type, "bytes" of one array, "zeros" of one
 * text (to be made sparse by the caller: the bytes before it only). For
 * little-endian machines. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(const void *data, size_t size)
{
    if (fwrite(data, 1, size, stdout) != size)
        exit(1);
}

static void put_u32(uint32_t value)
{
    put(&value, sizeof value);
}

static void put_u64(uint64_t value)
{
    put(&value, sizeof value);
}

static void put_text(const char *text)
{
    put_u64(strlen(text));
    put(text, strlen(text));
}

static void put_header(uint64_t n_tensors, uint64_t n_kvs)
{
    put("GGUF", 4);
    put_u32(3);
    put_u64(n_tensors);
    put_u64(n_kvs);
}

static void put_tensors(uint64_t n)
{
    char name[32];

    put_header(n, 0);
    for (uint64_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "t%" PRIu64, i);
        put_text(name);
        put_u32(1);
        put_u64(32);
        put_u32(99);
        put_u64(32 * i);
    }
    for (uint64_t i = 0; i < 32 * n + 32; i++)
        putchar(0);
}

static void put_bytes(uint64_t n)
{
    put_header(0, 1);
    put_text("x");
    put_u32(9);
    put_u32(0);
    put_u64(n);
    for (uint64_t i = 0; i < n; i++)
        putchar((int)(i % 256));
}

static void put_zeros(uint64_t n)
{
    put_header(0, 1);
    put_text("x");
    put_u32(8);
    put_u64(n);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *kind;
        void (*put)(uint64_t n);
    } kinds[] = { { "tensors", put_tensors },
                  { "bytes", put_bytes },
                  { "zeros", put_zeros } };
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(argv[1], kinds[i].kind) == 0) {
            kinds[i].put(strtoull(argv[2], NULL, 10));
            return fflush(stdout) != 0;
        }
    return 2;
}
