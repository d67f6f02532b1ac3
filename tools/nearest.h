/* SPDX-License-Identifier: MIT */
/* "Did you mean": the known word that is nearest to what was typed. */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX 80

typedef struct nearest {
    const char *typed;
    size_t distance;
    char word[NEAREST_MAX]; /* empty: none is near enough to be meant */
} nearest;

nearest nearest_begin(const char *typed);
/* One of the words there are; those of NEAREST_MAX bytes and more are not
 * considered. */
void nearest_offer(nearest *n, const char *word, size_t len);

#endif /* TOOLS_NEAREST_H */
