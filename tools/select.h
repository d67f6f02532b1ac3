/* SPDX-License-Identifier: MIT */
/* Tensors by patterns of their names, in an order. */
#ifndef TOOLS_SELECT_H
#define TOOLS_SELECT_H

#include "command.h"
#include "model.h"

typedef struct selection {
    ggld_view *views; /* whole tensors; to be freed */
    size_t n_views;
    uint64_t size_bytes;
} selection;

/* By the values of a repeated option, patterns with commas between; all tensors
 * where it is not given. order_path: a
 * file of names and patterns, one a line, in whose order those that it names
 * come first, the others following in the order of the file; or NULL. A pattern
 * that no tensor has is an error. Exit status; what is wrong is reported. */
int select_tensors(const model *m, const args *a, int option,
                   const char *order_path, selection *out);
void select_free(selection *s);

#endif /* TOOLS_SELECT_H */
