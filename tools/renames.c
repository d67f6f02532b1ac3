/* SPDX-License-Identifier: MIT */
#include "renames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where an old name stands. */
typedef struct line {
    const char *from;
    size_t number;
} line;

/* Without what is around it. */
static char *trim(char *text)
{
    static const char blank[] = " \t\r";

    text += strspn(text, blank);
    size_t n = strlen(text);
    while (n > 0 && strchr(blank, text[n - 1]) != NULL)
        n--;
    text[n] = '\0';
    return text;
}

/* A tab says that spaces are part of names. */
static bool take_line(renames *r, line *lines, char *text, size_t number,
                      char why[RENAMES_WHY_MAX])
{
    char *from = trim(text);
    const char *between = strchr(from, '\t') != NULL ? "\t" : " \r";
    char *to = strpbrk(from, between);

    if (from[0] == '\0' || from[0] == '#')
        return true;
    if (to != NULL) {
        *to = '\0';
        to = trim(to + 1);
        from = trim(from);
    }
    if (to == NULL || strpbrk(to, between) != NULL) {
        snprintf(why, RENAMES_WHY_MAX,
                 "line %zu: two names are wanted, OLD NEW; a tab parts names "
                 "that have spaces",
                 number);
        return false;
    }
    lines[r->n] = (line){ from, number };
    r->table[r->n++] = (ggld_export_rename){ from, to };
    return true;
}

static int by_name(const void *a, const void *b)
{
    const line *x = a, *y = b;
    int order = strcmp(x->from, y->from);
    return order != 0 ? order
                      : (x->number > y->number) - (x->number < y->number);
}

/* An old name has one new name. */
static bool each_once(line *lines, size_t n, char why[RENAMES_WHY_MAX])
{
    const line *twice = NULL;

    if (n != 0)
        qsort(lines, n, sizeof *lines, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(lines[i - 1].from, lines[i].from) == 0 &&
            (twice == NULL || lines[i].number < twice->number))
            twice = &lines[i];
    if (twice != NULL)
        snprintf(why, RENAMES_WHY_MAX,
                 "line %zu: '%.200s' has a new name already, by line %zu",
                 twice->number, twice->from, twice[-1].number);
    return twice == NULL;
}

static bool take_lines(renames *r, line *lines, size_t n_lines,
                       char why[RENAMES_WHY_MAX])
{
    char *text = r->text;

    for (size_t i = 1; i <= n_lines; i++) {
        char *end = text + strcspn(text, "\n");
        *end = '\0';
        if (!take_line(r, lines, text, i, why))
            return false;
        text = end + 1;
    }
    return each_once(lines, r->n, why);
}

bool renames_read(renames *r, char *text, size_t size,
                  char why[RENAMES_WHY_MAX])
{
    size_t n_lines = 1;

    memset(r, 0, sizeof *r);
    r->text = text;
    if (strlen(text) != size) {
        snprintf(why, RENAMES_WHY_MAX, "has a NUL");
        return false;
    }
    for (const char *p = text; *p != '\0'; p++)
        n_lines += *p == '\n';
    r->table = calloc(n_lines, sizeof *r->table);
    line *lines = calloc(n_lines, sizeof *lines);
    bool good = r->table != NULL && lines != NULL;
    if (good)
        good = take_lines(r, lines, n_lines, why);
    else
        snprintf(why, RENAMES_WHY_MAX, "no memory for it");
    free(lines);
    return good;
}

void renames_free(renames *r)
{
    free(r->table);
    free(r->text);
    memset(r, 0, sizeof *r);
}
