/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILL 0xA5

guard guard_make(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inside = (size + page - 1) / page * page;
    /* cppcheck-suppress invalidFunctionArg; -1 goes with MAP_ANONYMOUS */
    uint8_t *p = mmap(NULL, inside + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED ||
        mprotect(p + page, inside, PROT_READ | PROT_WRITE) != 0) {
        perror("guard pages");
        exit(2);
    }
    guard g = { p + page, p + page + inside };
    /* cppcheck-suppress memleak; it is in g */
    return g;
}

uint8_t *guard_place(const guard *g, size_t size, size_t offset, bool at_end)
{
    return at_end ? g->end - offset - size : g->first + offset;
}

static size_t margin_before(const guard *g, const uint8_t *p)
{
    size_t room = (size_t)(p - g->first);
    return room < GUARD_MARGIN ? room : GUARD_MARGIN;
}

static size_t margin_behind(const guard *g, const uint8_t *p, size_t size)
{
    size_t room = (size_t)(g->end - (p + size));
    return room < GUARD_MARGIN ? room : GUARD_MARGIN;
}

void guard_fill(const guard *g, uint8_t *p, size_t size)
{
    size_t before = margin_before(g, p);
    memset(p - before, FILL, before + size + margin_behind(g, p, size));
}

static bool all_filled(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != FILL)
            return false;
    return true;
}

bool guard_margins_whole(const guard *g, const uint8_t *p, size_t size)
{
    size_t before = margin_before(g, p);
    return all_filled(p - before, before) &&
           all_filled(p + size, margin_behind(g, p, size));
}
