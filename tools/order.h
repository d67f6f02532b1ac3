/* SPDX-License-Identifier: MIT */
/* The list of tensors of --order, line by line: a name or a pattern each. Blank
 * lines and those that begin with '#' say nothing. */
#ifndef TOOLS_ORDER_H
#define TOOLS_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* A line of size bytes, with a NUL behind them, whose end (LF, CR LF or none) is
 * cut off. *pattern: what it says, or NULL. false: a NUL is in it. */
bool order_read_line(char *line, size_t size, const char **pattern);

#endif /* TOOLS_ORDER_H */
