/* SPDX-License-Identifier: MIT */
/* A difference of two models as text and as JSON. */
#ifndef TOOLS_DIFFER_H
#define TOOLS_DIFFER_H

#include <ggld/diff.h>

#include "js.h"
#include "out.h"

/* In one line. */
void differ_print(output *o, const ggld_difference *d);
void differ_json(js *w, const ggld_difference *d);

#endif /* TOOLS_DIFFER_H */
