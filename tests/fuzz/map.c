/* SPDX-License-Identifier: MIT */
/* Any text as the map of 'ggld convert --map': what is taken is, written as
 * lines, taken as the same; what is not has a reason. */
#include <string.h>

#include "../../tools/renames.h"
#include "fuzz.h"

static bool read_text(renames *r, const void *data, size_t size)
{
    char why[RENAMES_WHY_MAX] = "";
    char *text = fuzz_alloc(size + 1);

    if (size != 0)
        memcpy(text, data, size);
    text[size] = '\0';
    bool good = renames_read(r, text, size, why);
    FUZZ_REQUIRE(good == (why[0] == '\0') && strlen(why) < RENAMES_WHY_MAX,
                 "%s, and: %s", good ? "taken" : "refused", why);
    return good;
}

/* Spaces may be in it, and not around it. */
static bool is_name(const char *text)
{
    size_t n = strlen(text);

    return n != 0 && strpbrk(text, "\t\n") == NULL &&
           strchr(" \r", text[0]) == NULL && strchr(" \r", text[n - 1]) == NULL;
}

/* Lines of the table alone. */
static char *write_lines(const renames *r, size_t room)
{
    char *text = fuzz_alloc(room), *at = text;

    *at = '\0';
    for (size_t i = 0; i < r->n; i++) {
        FUZZ_REQUIRE(is_name(r->table[i].from) && is_name(r->table[i].to) &&
                         r->table[i].from[0] != '#',
                     "'%s' to '%s'", r->table[i].from, r->table[i].to);
        at += sprintf(at, "%s\t%s\n", r->table[i].from, r->table[i].to);
    }
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    renames r, again;

    if (read_text(&r, data, size)) {
        char *text = write_lines(&r, size + 3);
        FUZZ_REQUIRE(read_text(&again, text, strlen(text)) && again.n == r.n,
                     "%zu names, and %zu", r.n, again.n);
        for (size_t i = 0; i < r.n; i++)
            FUZZ_REQUIRE(strcmp(again.table[i].from, r.table[i].from) == 0 &&
                             strcmp(again.table[i].to, r.table[i].to) == 0,
                         "'%s' to '%s'", again.table[i].from,
                         again.table[i].to);
        renames_free(&again);
        free(text);
    }
    renames_free(&r);
    return 0;
}
