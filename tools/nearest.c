/* SPDX-License-Identifier: MIT */
/* See nearest.h. Nearness is the number of letters to insert, delete or
 * replace; a word that what was typed is the beginning of is one away. */
#include "nearest.h"

#include <string.h>

static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Both shorter than NEAREST_MAX. */
static size_t edit_distance(const char *a, size_t a_len, const char *b,
                            size_t b_len)
{
    size_t row[NEAREST_MAX];

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least_of(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    return row[b_len];
}

nearest nearest_begin(const char *typed)
{
    nearest n = { .typed = typed, .distance = 3 };
    return n;
}

void nearest_offer(nearest *n, const char *word, size_t len)
{
    size_t typed_len = strlen(n->typed);

    if (typed_len >= NEAREST_MAX || len >= NEAREST_MAX)
        return;
    size_t distance = edit_distance(n->typed, typed_len, word, len);
    if (typed_len >= 2 && len > typed_len &&
        memcmp(n->typed, word, typed_len) == 0)
        distance = 1;
    if (distance >= n->distance || distance >= len)
        return;
    memcpy(n->word, word, len);
    n->word[len] = '\0';
    n->distance = distance;
}
