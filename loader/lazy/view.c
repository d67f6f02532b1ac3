/* SPDX-License-Identifier: MIT */
/* Makes views: arithmetic on element numbers, nothing else. Must not touch
 * tensor data, and may assume of a tensor what open has checked, of a view
 * nothing. */
#include "view.h"

#include <inttypes.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../read/file.h"
#include "../spec/limits.h"
#include "../spec/shape.h"
#include "refuse.h"

ggld_status ggld_view_check(const ggld_view *view, ggld_error *err)
{
    const ggld_tensor *t = view->tensor;

    if (t == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "view: it has no tensor (NULL); was the tensor "
                         "found?");
    if ((view->flags & ~GGLD_VIEW_PREAD) != 0 || view->reserved[0] != 0 ||
        view->reserved[1] != 0)
        return ggld_refuse_view(view, GGLD_E_ABI, err,
                                "the view's flags are %#" PRIx32
                                ", of which %#x are known, or its reserved "
                                "fields are not 0",
                                view->flags, GGLD_VIEW_PREAD);
    if (view->n_dims > GGLD_MAX_DIMS)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "the view has %" PRIu32
                                " dimensions, more than %d",
                                view->n_dims, GGLD_MAX_DIMS);
    if (!ggld_fits(view->first_elem, view->n_elems, t->n_elems))
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "view of elements %" PRIu64 " + %" PRIu64
                                " is not inside its %" PRIu64,
                                view->first_elem, view->n_elems, t->n_elems);
    return GGLD_OK;
}

ggld_status ggld_view_check_rows(const ggld_view *view, uint64_t *n_rows,
                                 ggld_error *err)
{
    ggld_status status = ggld_view_check(view, err);
    if (status != GGLD_OK)
        return status;

    uint64_t row = view->tensor->dims[0];
    if (row == 0)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "its rows have 0 elements; there are none to "
                                "take");
    if (view->first_elem % row != 0 || view->n_elems % row != 0)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "view of elements %" PRIu64 " + %" PRIu64
                                " is not whole rows of %" PRIu64,
                                view->first_elem, view->n_elems, row);
    *n_rows = view->n_elems / row;
    return GGLD_OK;
}

/* first and n count what the view has of the unit ("rows", "elements"). */
static ggld_status refuse_range(const ggld_view *view, const char *unit,
                                uint64_t first, uint64_t n, uint64_t has,
                                ggld_error *err)
{
    return ggld_refuse_view(view, GGLD_E_INVALID, err,
                            "%s %" PRIu64 " + %" PRIu64
                            " are not inside the view's %" PRIu64,
                            unit, first, n, has);
}

static ggld_view part_of(const ggld_view *view, uint64_t skip_elems,
                         uint64_t n_elems, uint32_t n_dims)
{
    ggld_view part = *view;
    part.first_elem += skip_elems;
    part.n_elems = n_elems;
    part.n_dims = n_dims;
    return part;
}

ggld_view ggld_tensor_view(const ggld_tensor *tensor)
{
    ggld_view view;
    memset(&view, 0, sizeof view);
    view.tensor = tensor;
    if (tensor != NULL) {
        view.n_elems = tensor->n_elems;
        view.n_dims = tensor->n_dims;
    }
    return view;
}

ggld_status ggld_view_rows(ggld_view *out, const ggld_view *view,
                           uint64_t first_row, uint64_t n_rows, ggld_error *err)
{
    uint64_t has = 0;
    ggld_status status = ggld_view_check_rows(view, &has, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_fits(first_row, n_rows, has))
        return refuse_range(view, "rows", first_row, n_rows, has, err);

    uint64_t row = view->tensor->dims[0];
    *out = part_of(view, first_row * row, n_rows * row, 2);
    return GGLD_OK;
}

/* Elements of one index of the view's outermost dimension. 0 where there are
 * none; the product is past 64 bits only where a dimension outside it is 0,
 * as the tensor's own number of elements is not. */
static uint64_t inner_elems(const ggld_view *view)
{
    uint64_t inner;
    if (ggld_shape_elems(view->tensor->dims, view->n_dims - 1, &inner) !=
        GGLD_SHAPE_OK)
        return 0;
    return inner;
}

/* How many indices the outermost dimension has. A range of rows has fewer of
 * them than the tensor's dimension says, so that the view's elements tell,
 * where there are any. */
static ggld_status count_indices(const ggld_view *view, uint64_t inner,
                                 uint64_t *has, ggld_error *err)
{
    if (inner == 0) {
        *has = view->tensor->dims[view->n_dims - 1];
        return GGLD_OK;
    }
    if (view->n_elems % inner != 0)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "the view's %" PRIu64 " elements are not a "
                                "multiple of the %" PRIu64 " of an index",
                                view->n_elems, inner);
    *has = view->n_elems / inner;
    return GGLD_OK;
}

ggld_status ggld_view_index(ggld_view *out, const ggld_view *view,
                            uint64_t index, ggld_error *err)
{
    ggld_status status = ggld_view_check(view, err);
    if (status != GGLD_OK)
        return status;
    if (view->n_dims == 0)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "index %" PRIu64 " of a view with 0 dimensions "
                                "left",
                                index);

    uint64_t inner = inner_elems(view);
    uint64_t has = 0;
    status = count_indices(view, inner, &has, err);
    if (status != GGLD_OK)
        return status;
    if (index >= has)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "index %" PRIu64 " of dimension %" PRIu32
                                " is not inside the view's %" PRIu64,
                                index, view->n_dims - 1, has);
    *out = part_of(view, index * inner, inner, view->n_dims - 1);
    return GGLD_OK;
}

ggld_status ggld_view_elems(ggld_view *out, const ggld_view *view,
                            uint64_t first_elem, uint64_t n_elems,
                            ggld_error *err)
{
    ggld_status status = ggld_view_check(view, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_fits(first_elem, n_elems, view->n_elems))
        return refuse_range(view, "elements", first_elem, n_elems,
                            view->n_elems, err);

    *out = part_of(view, first_elem, n_elems, 1);
    return GGLD_OK;
}
