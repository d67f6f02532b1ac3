/* SPDX-License-Identifier: MIT */
/* Rows by number, as an embedding look-up takes them. All numbers are checked
 * before any byte is read. */
#include <inttypes.h>

#include <ggld/tensor.h>

#include "../base/checked.h"
#include "../read/file.h"
#include "dequant.h"
#include "refuse.h"
#include "view.h"

static ggld_status check_numbers(const ggld_view *view, const uint64_t *rows,
                                 uint64_t n_rows, uint64_t has, ggld_error *err)
{
    if (rows == NULL && n_rows > 0)
        return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                "rows is NULL, n_rows %" PRIu64, n_rows);
    for (uint64_t i = 0; i < n_rows; i++)
        if (rows[i] >= has)
            return ggld_refuse_view(view, GGLD_E_INVALID, err,
                                    "rows[%" PRIu64 "] is %" PRIu64
                                    ", the view has %" PRIu64 " rows",
                                    i, rows[i], has);
    return GGLD_OK;
}

static ggld_status check_room(const ggld_view *view, uint64_t n_rows,
                              uint64_t dst_elems, ggld_error *err)
{
    uint64_t row = view->tensor->dims[0];
    uint64_t needed;
    if (ggld_mul_u64(n_rows, row, &needed) && needed <= dst_elems)
        return GGLD_OK;
    return ggld_refuse_view(view, GGLD_E_INVALID, err,
                            "the buffer has room for %" PRIu64 " elements, "
                            "%" PRIu64 " rows of %" PRIu64 " are asked for",
                            dst_elems, n_rows, row);
}

ggld_status ggld_view_gather_f32(const ggld_view *view, const uint64_t *rows,
                                 uint64_t n_rows, float *dst,
                                 uint64_t dst_elems, ggld_error *err)
{
    uint64_t has = 0;
    ggld_dequant d;

    ggld_status status = ggld_view_check_rows(view, &has, err);
    if (status == GGLD_OK)
        status = check_room(view, n_rows, dst != NULL ? dst_elems : 0, err);
    if (status == GGLD_OK)
        status = check_numbers(view, rows, n_rows, has, err);
    if (status != GGLD_OK)
        return status;

    uint64_t row = view->tensor->dims[0];
    bool stream = ggld_kern_streams(n_rows * row);
    status = ggld_dequant_init(&d, view, stream, err);
    for (uint64_t i = 0; status == GGLD_OK && i < n_rows; i++) {
        status =
            ggld_dequant_seek(&d, view->first_elem + rows[i] * row, row, err);
        if (status == GGLD_OK)
            status = ggld_dequant_next(&d, row, dst + i * row, err);
    }
    return status;
}
