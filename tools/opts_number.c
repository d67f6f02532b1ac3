/* SPDX-License-Identifier: MIT */
/* Numbers and sizes of opts.h. Text alone: nothing is reported from here. */
#include "opts.h"

#include <string.h>

/* n digits, at least one. */
static bool read_digits(const char *text, size_t n, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' ||
            __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *out = value;
    return n != 0;
}

bool opts_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    uint64_t value;

    if (!read_digits(text, strlen(text), &value) || value < least ||
        value > most)
        return false;
    *out = value;
    return true;
}

bool opts_size(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    size_t n = strlen(text);
    const char *unit = n != 0 ? strchr(units, text[n - 1]) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t value;

    if (!read_digits(text, n - (unit != NULL), &value) ||
        value > UINT64_MAX >> shift)
        return false;
    *out = value << shift;
    return true;
}
