/* SPDX-License-Identifier: MIT */
/* The command line, by a command's table: options before, between and behind
 * operands, "--" ends them. Unknown words get the nearest known one. */
#ifndef TOOLS_OPTS_H
#define TOOLS_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"

/* words[0] is the first behind the command's name; operands move to the front.
 * STATUS_GOOD, or what was reported. *help: --help was among them, nothing else counts. */
int opts_parse(args *a, char **words, int n_words, bool *help);
void opts_help(output *o, const command_row *command);

/* The values of a repeated option, one by one, in the order that they were given
 * in; NULL: there are no more. *at is 0 before the first. */
const char *opts_given(const args *a, int option, int *at);

/* Strictly a decimal number within [least, most], nothing before or behind;
 * false otherwise. */
bool opts_number(const char *text, uint64_t least, uint64_t most,
                 uint64_t *out);
/* The same with K, M, G or T behind it (times 1024 each). */
bool opts_size(const char *text, uint64_t *out);

#endif /* TOOLS_OPTS_H */
