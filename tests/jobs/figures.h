/* SPDX-License-Identifier: MIT */
/* What programs that measure share: times taken in turn and their medians, and
 * figures as tables to read or one JSON object. Promises come with what was
 * wanted, and are printed last. */
#ifndef TEST_JOBS_FIGURES_H
#define TEST_JOBS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#define SERIES_MAX       32
#define FIGURES_PROMISES 32

typedef struct series {
    double values[SERIES_MAX];
    int n;
} series;

double series_clock(void); /* seconds, monotonic */
/* Less than 0: it could not be done, and none is added. */
void series_add(series *s, double value);
/* NAN of none. */
double series_median(const series *s);
double series_least(const series *s);
double series_most(const series *s);

typedef struct figures_column {
    const char *key, *title;
    int decimals;
} figures_column;

typedef struct figures_promise_row {
    const char *key, *text;
    double value;
    char wanted[24];
} figures_promise_row;

typedef struct figures {
    bool json;
    const char *comma; /* before what comes next */
    const figures_column *columns;
    size_t n_columns;
    figures_promise_row promises[FIGURES_PROMISES];
    size_t n_promises;
} figures;

void figures_begin(figures *f, bool json);
/* Rows follow, and figures_table_end. head is the title of their names. */
void figures_table(figures *f, const char *key, const char *title,
                   const char *head, const figures_column *columns,
                   size_t n_columns);
/* A cell for each column; NAN: there is none here. */
void figures_row(figures *f, const char *name, const double *cells);
void figures_table_end(figures *f);
void figures_value(figures *f, const char *key, const char *text, double value,
                   int decimals);
void figures_text(figures *f, const char *key, const char *text,
                  const char *value);
/* A line for who reads; not in the JSON. */
void figures_note(const figures *f, const char *text);
/* wanted: ">= 0.9", "<= 2", or "". key and text are kept until the end. */
void figures_promise(figures *f, const char *key, const char *text,
                     double value, const char *wanted);
void figures_end(figures *f);

#endif /* TEST_JOBS_FIGURES_H */
