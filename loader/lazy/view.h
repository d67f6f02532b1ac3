/* SPDX-License-Identifier: MIT */
/* The check that every call on a view begins with. */
#ifndef GGLD_LAZY_VIEW_H
#define GGLD_LAZY_VIEW_H

#include <ggld/tensor.h>

/* A view comes from the caller and may hold anything: refuses one that has no
 * tensor, is not inside it, or has fields set that are not ours. */
ggld_status ggld_view_check(const ggld_view *view, ggld_error *err);

/* The same, and that the view is made of whole rows; *n_rows is how many. */
ggld_status ggld_view_check_rows(const ggld_view *view, uint64_t *n_rows,
                                 ggld_error *err);

#endif /* GGLD_LAZY_VIEW_H */
