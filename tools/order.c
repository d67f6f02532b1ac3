/* SPDX-License-Identifier: MIT */
/* See order.h. */
#include "order.h"

#include <string.h>

bool order_read_line(char *line, size_t size, const char **pattern)
{
    if (strlen(line) != size)
        return false;
    if (size != 0 && line[size - 1] == '\n')
        line[--size] = '\0';
    if (size != 0 && line[size - 1] == '\r')
        line[--size] = '\0';
    *pattern = size != 0 && line[0] != '#' ? line : NULL;
    return true;
}
