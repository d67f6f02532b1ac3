/* SPDX-License-Identifier: MIT */
/* Which chunks are filled ahead of which touches, one touch after the other. */
#include "../jobs/check.h"

#include <string.h>

#include "window/ahead.h"

typedef struct step {
    uint32_t touched;
    const char *ahead; /* chunks that come of it, in order */
} step;

typedef struct pattern {
    const char *name;
    uint32_t n_chunks, most;
    step steps[8]; /* end with a text of NULL */
} pattern;

static const pattern patterns[] = {
    { "in order, doubling",
      100,
      16,
      { { 10, "" },
        { 11, "12 13 " },
        { 14, "15 16 17 18 " },
        { 19, "20 21 22 23 24 25 26 27 " } } },
    { "on its way",
      100,
      4,
      { { 0, "" }, { 1, "2 3 " }, { 2, "4 5 6 " }, { 4, "7 8 " } } },
    { "no further than the most",
      100,
      3,
      { { 0, "" }, { 1, "2 3 " }, { 4, "5 6 7 " }, { 8, "9 10 11 " } } },
    { "to the end of the window",
      6,
      16,
      { { 2, "" }, { 3, "4 5 " }, { 5, "" }, { 5, "" } } },
    { "at random",
      100,
      16,
      { { 50, "" }, { 7, "" }, { 93, "" }, { 20, "" }, { 99, "" } } },
    { "backwards", 100, 16, { { 9, "" }, { 8, "" }, { 7, "" }, { 6, "" } } },
    { "two at a time",
      100,
      16,
      { { 10, "" },
        { 60, "" },
        { 11, "12 13 " },
        { 61, "62 63 " },
        { 14, "15 16 17 18 " },
        { 64, "65 66 67 68 " } } },
    { "the same again", 100, 16, { { 3, "" }, { 3, "" }, { 4, "5 6 " } } },
    { "never", 100, 0, { { 0, "" }, { 1, "" }, { 2, "" } } },
};

static void check_pattern(const pattern *p)
{
    ggld_ahead a;
    ggld_ahead_init(&a, p->n_chunks, p->most);
    for (int i = 0; i < 8 && p->steps[i].ahead != NULL; i++) {
        char got[200] = "";
        uint32_t chunk;
        ggld_ahead_touched(&a, p->steps[i].touched);
        for (int n = 0; n < 20 && ggld_ahead_take(&a, &chunk); n++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%u ", chunk);
        CHECK(strcmp(got, p->steps[i].ahead) == 0,
              "%s, touch of %u: expected \"%s\", got \"%s\"", p->name,
              p->steps[i].touched, p->steps[i].ahead, got);
    }
}

int main(void)
{
    const unsigned n = sizeof patterns / sizeof patterns[0];
    for (unsigned i = 0; i < n; i++)
        check_pattern(&patterns[i]);
    printf("%u passed, %d failed, 0 skipped\n", n, n_failed);
    return n_failed != 0;
}
