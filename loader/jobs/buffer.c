/* SPDX-License-Identifier: MIT */
/* Buffers straight from the system: their pages go back to it at once, and the
 * app's heap is left alone. */
#include "buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

int ggld_buffer_make(ggld_buffer *out, size_t size)
{
    size_t unit = size >= HUGE_BYTES ? HUGE_BYTES : GGLD_DIRECT_ALIGN;
    size_t spare = unit == HUGE_BYTES ? HUGE_BYTES : 0;
    if (size > PTRDIFF_MAX - 2 * HUGE_BYTES)
        return ENOMEM;

    ggld_buffer buffer = { .size = round_up(size, unit) };
    buffer.mapping_bytes = buffer.size + spare;
    /* cppcheck-suppress invalidFunctionArg; -1 goes with MAP_ANONYMOUS */
    buffer.mapping = mmap(NULL, buffer.mapping_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer.mapping == MAP_FAILED)
        /* cppcheck-suppress memleak; there is no mapping */
        return errno;
    uintptr_t start = (uintptr_t)buffer.mapping;
    buffer.data = (uint8_t *)buffer.mapping + (round_up(start, unit) - start);
#ifdef MADV_HUGEPAGE
    if (unit == HUGE_BYTES)
        (void)madvise(buffer.data, buffer.size, MADV_HUGEPAGE); /* a wish */
#endif
    *out = buffer;
    return 0;
}

void ggld_buffer_free(ggld_buffer *buffer)
{
    if (buffer->data != NULL)
        munmap(buffer->mapping, buffer->mapping_bytes);
    memset(buffer, 0, sizeof *buffer);
}
