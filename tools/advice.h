/* SPDX-License-Identifier: MIT */
/* What an option can do about what the library says: the library speaks to
 * programs, and knows nothing of options. */
#ifndef TOOLS_ADVICE_H
#define TOOLS_ADVICE_H

#include "command.h"

/* A line that goes behind the message; NULL where the command has no option
 * that would help. */
const char *advice_of(const args *a, const char *message);

#endif /* TOOLS_ADVICE_H */
