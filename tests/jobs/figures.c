/* SPDX-License-Identifier: MIT */
#include "figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- series ---- */

double series_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void series_add(series *s, double value)
{
    if (value >= 0 && s->n < SERIES_MAX)
        s->values[s->n++] = value;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* By order, 0 to n - 1. */
static double value_at(const series *s, int i)
{
    series sorted = *s;
    if (s->n == 0)
        return (double)NAN;
    qsort(sorted.values, (size_t)s->n, sizeof sorted.values[0], by_value);
    return sorted.values[i];
}

double series_median(const series *s)
{
    return value_at(s, s->n / 2);
}

double series_least(const series *s)
{
    return value_at(s, 0);
}

double series_most(const series *s)
{
    return value_at(s, s->n - 1);
}

/* ---- figures ---- */

/* Six digits are more than is measured. */
static void json_number(double value)
{
    if (isfinite(value))
        printf("%.15g", value);
    else
        printf("null");
}

static void json_key(figures *f, const char *key)
{
    printf("%s\"%s\": ", f->comma, key);
    f->comma = ", ";
}

void figures_begin(figures *f, bool json)
{
    memset(f, 0, sizeof *f);
    f->json = json;
    f->comma = "";
    if (json)
        printf("{");
}

void figures_table(figures *f, const char *key, const char *title,
                   const char *head, const figures_column *columns,
                   size_t n_columns)
{
    f->columns = columns;
    f->n_columns = n_columns;
    if (f->json) {
        json_key(f, key);
        printf("[");
        f->comma = "";
        return;
    }
    printf("\n%s\n\n| %s |", title, head);
    for (size_t i = 0; i < n_columns; i++)
        printf(" %s |", columns[i].title);
    printf("\n| --- |");
    for (size_t i = 0; i < n_columns; i++)
        printf(" ---: |");
    printf("\n");
}

void figures_row(figures *f, const char *name, const double *cells)
{
    if (f->json)
        printf("%s{\"name\": \"%s\"", f->comma, name);
    else
        printf("| %s |", name);
    for (size_t i = 0; i < f->n_columns; i++) {
        if (f->json) {
            printf(", \"%s\": ", f->columns[i].key);
            json_number(cells[i]);
        } else if (isfinite(cells[i])) {
            printf(" %.*f |", f->columns[i].decimals, cells[i]);
        } else {
            printf(" - |");
        }
    }
    printf(f->json ? "}" : "\n");
    f->comma = ", ";
}

void figures_table_end(figures *f)
{
    if (f->json)
        printf("]");
    f->comma = ", ";
}

void figures_value(figures *f, const char *key, const char *text, double value,
                   int decimals)
{
    if (f->json) {
        json_key(f, key);
        json_number(value);
    } else {
        printf("\n%s: %.*f\n", text, decimals, value);
    }
}

void figures_text(figures *f, const char *key, const char *text,
                  const char *value)
{
    if (f->json) {
        json_key(f, key);
        printf("\"%s\"", value);
    } else {
        printf("\n%s: %s\n", text, value);
    }
}

void figures_note(const figures *f, const char *text)
{
    if (!f->json)
        printf("\n%s\n", text);
}

void figures_promise(figures *f, const char *key, const char *text,
                     double value, const char *wanted)
{
    figures_promise_row row = { key, text, value, "" };
    if (f->n_promises == FIGURES_PROMISES)
        abort();
    snprintf(row.wanted, sizeof row.wanted, "%s", wanted);
    f->promises[f->n_promises++] = row;
}

static void json_promise(const figures_promise_row *row)
{
    double bound =
        strtod(row->wanted + strcspn(row->wanted, "0123456789"), NULL);
    bool kept =
        row->wanted[0] == '<' ? row->value <= bound : row->value >= bound;
    printf("\"%s\": {\"measured\": ", row->key);
    json_number(row->value);
    if (row->wanted[0] != 0 && isfinite(row->value))
        printf(", \"wanted\": \"%s\", \"kept\": %s", row->wanted,
               kept ? "true" : "false");
    printf("}");
}

void figures_end(figures *f)
{
    if (f->json) {
        json_key(f, "promises");
        printf("{");
        for (size_t i = 0; i < f->n_promises; i++) {
            printf(i != 0 ? ", " : "");
            json_promise(&f->promises[i]);
        }
        printf("}}\n");
        return;
    }
    if (f->n_promises != 0)
        printf("\n| promise | measured | wanted |\n| --- | ---: | --- |\n");
    for (size_t i = 0; i < f->n_promises; i++)
        printf("| %s | %.2f | %s |\n", f->promises[i].text,
               f->promises[i].value, f->promises[i].wanted);
}
