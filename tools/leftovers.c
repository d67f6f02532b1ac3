/* SPDX-License-Identifier: MIT */
/* See leftovers.h. Which they are is the library's to know. */
#include "leftovers.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include <ggld/write.h>

#include "report.h"
#include "text.h"

typedef struct leftovers {
    char name[NAME_MAX + 1]; /* the last one's */
    uint64_t n, bytes;
} leftovers;

static void on_removed(const char *name, uint64_t size_bytes, void *user)
{
    leftovers *l = user;

    snprintf(l->name, sizeof l->name, "%s", name);
    l->n++;
    l->bytes += size_bytes;
}

void leftovers_remove(const char *path)
{
    leftovers l = { .n = 0 };

    ggld_remove_leftovers(path, on_removed, &l);
    if (l.n == 1)
        report_note(path,
                    "'%s', which a command that was killed had left, is "
                    "removed: %s",
                    l.name, text_size(l.bytes).text);
    else if (l.n > 1)
        report_note(path,
                    "'%s' and %" PRIu64
                    " more, which commands that were killed had left, are "
                    "removed: %s",
                    l.name, l.n - 1, text_size(l.bytes).text);
}
