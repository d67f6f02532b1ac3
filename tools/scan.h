/* SPDX-License-Identifier: MIT */
/* ggld check --data: every scale and float of a model, looked at once. */
#ifndef TOOLS_SCAN_H
#define TOOLS_SCAN_H

#include "js.h"
#include "model.h"

/* Lists tensors with values that are no numbers: on o, or into list where
 * that is not NULL. *n_bad: how many there are. Exit status, of trouble with
 * reading only. */
int scan_data(model *m, output *o, js *list, uint64_t *n_bad);

#endif /* TOOLS_SCAN_H */
