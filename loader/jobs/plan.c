/* SPDX-License-Identifier: MIT */
/* Views to extents. Offsets and sizes come from an open file's table, which
 * the reader has checked; views come from the app and are checked here. */
#include "plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/quote.h"

/* Reading over a gap of this size costs less than another request. */
#define GAP_MAX_BYTES 65536u

/* The last part of the shard's path. Of a set the name tells them apart by its
 * end, which is what is kept of a long one. */
static void shard_label(const ggld_piece *piece, char *out, size_t size)
{
    const ggld_file *file = ggld_tensor_file(piece->tensor);
    ggld_file_info info = { sizeof info };
    const char *path = ggld_file_path(ggld_file_shard(file, piece->shard));
    size_t most = 56;

    out[0] = '\0';
    ggld_file_get_info(file, &info);
    if (info.n_shards < 2 || path == NULL)
        return;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t len = strlen(name);
    if (len > most)
        name += len - most;
    snprintf(out, size, " in %s", ggld_quote(name, strlen(name)).text);
}

ggld_status ggld_piece_fail(const ggld_piece *piece, ggld_status code,
                            int sys_errno, uint64_t offset, ggld_error *err,
                            const char *format, ...)
{
    char what[GGLD_MESSAGE_MAX], shard[GGLD_QUOTE_MAX + 8];
    ggld_tensor_info info = { sizeof info };
    ggld_place place =
        ggld_place_of(GGLD_IN_TENSOR_DATA, piece->tensor_index, offset);
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    ggld_tensor_get_info(piece->tensor, &info);
    shard_label(piece, shard, sizeof shard);
    ggld_quoted name = ggld_quote(info.name.data, info.name.len);
    if (sys_errno != 0)
        (void)ggld_fail_errno(err, sys_errno, place,
                              "tensor %" PRIu64 " %s%s: %s",
                              piece->tensor_index, name.text, shard, what);
    else
        (void)ggld_fail(err, code, place, "tensor %" PRIu64 " %s%s: %s",
                        piece->tensor_index, name.text, shard, what);
    if (err != NULL)
        err->shard = piece->shard;
    return sys_errno != 0 ? GGLD_E_IO : code;
}

/* ---- views to pieces ---- */

/* The job's file may be one shard of the set that was opened. */
static bool is_of(const ggld_tensor *tensor, const ggld_file *file)
{
    const ggld_file *opened = ggld_tensor_file(tensor);
    ggld_tensor_info info = { sizeof info };
    if (opened == file)
        return true;
    ggld_tensor_get_info(tensor, &info);
    return ggld_file_shard(opened, info.shard) == file;
}

static ggld_status check_view(const ggld_file *file, const ggld_view *view,
                              size_t number, ggld_error *err)
{
    if (view->tensor == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "view %zu: has no tensor; was it looked up by a name "
                         "that the file does not have?",
                         number);
    if (!is_of(view->tensor, file))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "view %zu: is of another file than the job's", number);
    return GGLD_OK;
}

static ggld_status check_values(const ggld_piece *piece, ggld_error *err)
{
    const ggld_type_traits *traits = ggld_type_traits_of(piece->type);
    if (traits == NULL)
        return ggld_piece_fail(piece, GGLD_E_TENSOR_TYPE, 0, piece->offset, err,
                               "type %" PRIu32 " is not known; only its bytes "
                               "can be streamed",
                               piece->type);
    if (!traits->can_dequantize)
        return ggld_piece_fail(piece, GGLD_E_UNSUPPORTED, 0, piece->offset, err,
                               "type %s can't be dequantised; only its bytes "
                               "can be streamed",
                               traits->name);
    return GGLD_OK;
}

/* Blocks of the view; first and n_elems lie within the tensor. */
static void cut_to_blocks(ggld_piece *piece, const ggld_view *view,
                          const ggld_type_traits *traits)
{
    uint64_t first = view->first_elem / traits->block_elems;
    uint64_t end = view->first_elem + view->n_elems;
    uint64_t last =
        end / traits->block_elems + (end % traits->block_elems != 0 ? 1 : 0);
    if (view->n_elems == 0)
        last = first;
    piece->block_bytes = traits->block_bytes;
    piece->block_elems = traits->block_elems;
    piece->first_byte = first * traits->block_bytes;
    piece->n_bytes = (last - first) * traits->block_bytes;
    piece->first_elem = view->first_elem;
    piece->n_elems = view->n_elems;
}

/* A type that is not known has no elements to count: all its bytes or none. */
static ggld_status take_whole(ggld_piece *piece, const ggld_view *view,
                              const ggld_tensor_info *info, ggld_error *err)
{
    if (view->first_elem != 0 || view->n_elems != info->n_elems)
        return ggld_piece_fail(piece, GGLD_E_TENSOR_TYPE, 0,
                               info->file_offset_bytes, err,
                               "type %" PRIu32 " is not known; only the whole "
                               "tensor can be read",
                               piece->type);
    piece->block_bytes = 1;
    piece->n_bytes = info->size_bytes;
    return GGLD_OK;
}

/* A file opened with GGLD_OPEN_METADATA need not hold what its table says. */
static ggld_status check_inside(ggld_piece *piece, uint64_t tensor_offset,
                                ggld_error *err)
{
    ggld_file_info file = { sizeof file };
    ggld_file_get_info(
        ggld_file_shard(ggld_tensor_file(piece->tensor), piece->shard), &file);
    if (ggld_add_u64(tensor_offset, piece->first_byte, &piece->offset) &&
        ggld_fits(piece->offset, piece->n_bytes, file.file_bytes))
        return GGLD_OK;
    return ggld_piece_fail(piece, GGLD_E_TRUNCATED, 0, tensor_offset, err,
                           "data at %" PRIu64 " + %" PRIu64 " bytes is not "
                           "inside the file (%" PRIu64 " bytes)",
                           tensor_offset, piece->n_bytes, file.file_bytes);
}

static ggld_status make_piece(ggld_piece *piece, const ggld_view *view,
                              ggld_error *err)
{
    ggld_tensor_info info = { sizeof info };
    ggld_tensor_get_info(view->tensor, &info);
    piece->tensor = view->tensor;
    piece->tensor_index = info.index;
    piece->shard = info.shard;
    piece->type = info.type;
    piece->big_endian = info.big_endian;
    if (!ggld_fits(view->first_elem, view->n_elems, info.n_elems))
        return ggld_piece_fail(piece, GGLD_E_INVALID, 0, 0, err,
                               "elements %" PRIu64 " + %" PRIu64
                               " are not inside the tensor (%" PRIu64 ")",
                               view->first_elem, view->n_elems, info.n_elems);
    const ggld_type_traits *traits = ggld_type_traits_of(info.type);
    ggld_status status = GGLD_OK;
    if (traits != NULL)
        cut_to_blocks(piece, view, traits);
    else
        status = take_whole(piece, view, &info, err);
    if (status == GGLD_OK && piece->n_bytes != 0)
        status = check_inside(piece, info.file_offset_bytes, err);
    return status;
}

static ggld_status add_view(ggld_job_plan *plan, const ggld_file *file,
                            const ggld_view *view, size_t number,
                            ggld_error *err)
{
    ggld_piece *piece = &plan->pieces[plan->n_pieces];
    ggld_status status = check_view(file, view, number, err);
    if (status == GGLD_OK)
        status = make_piece(piece, view, err);
    if (status == GGLD_OK && plan->value_bytes != 0)
        status = check_values(piece, err);
    if (status != GGLD_OK || piece->n_bytes == 0)
        return status;
    piece->view = number;
    /* Only a list that names the same bytes very often gets this far. */
    if (!ggld_add_u64(plan->total_bytes, piece->n_bytes, &plan->total_bytes))
        return ggld_fail(err, GGLD_E_OVERFLOW, ggld_nowhere(),
                         "views: more than %" PRIu64 " bytes in all",
                         UINT64_MAX);
    plan->n_pieces++;
    return GGLD_OK;
}

static int by_offset(const void *a, const void *b)
{
    const ggld_piece *x = a;
    const ggld_piece *y = b;
    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->view < y->view ? -1 : x->view > y->view;
}

ggld_status ggld_job_plan_make(ggld_job_plan *plan, const ggld_file *file,
                               const ggld_view *views, size_t n_views,
                               bool file_order, uint32_t value_bytes,
                               ggld_error *err)
{
    ggld_job_plan made = { .value_bytes = value_bytes,
                           .max_payload = UINT64_MAX };
    size_t n = views != NULL ? n_views : (size_t)ggld_tensor_count(file);
    ggld_status status = GGLD_OK;

    made.pieces = calloc(n + 1, sizeof *made.pieces);
    if (made.pieces == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to plan %zu views", n);
    for (size_t i = 0; i < n && status == GGLD_OK; i++) {
        ggld_view view = views != NULL
                             ? views[i]
                             : ggld_tensor_view(ggld_tensor_at(file, i));
        status = add_view(&made, file, &view, i, err);
    }
    if (status != GGLD_OK) {
        ggld_job_plan_free(&made);
        return status;
    }
    if (file_order)
        qsort(made.pieces, made.n_pieces, sizeof *made.pieces, by_offset);
    *plan = made;
    return GGLD_OK;
}

void ggld_job_plan_free(ggld_job_plan *plan)
{
    free(plan->pieces);
    plan->pieces = NULL;
    plan->n_pieces = 0;
}

/* ---- pieces to extents ---- */

uint64_t ggld_piece_out(const ggld_job_plan *plan, const ggld_piece *piece,
                        uint64_t n_bytes)
{
    if (plan->value_bytes == 0)
        return n_bytes;
    return n_bytes / piece->block_bytes * piece->block_elems *
           plan->value_bytes;
}

/* As many of the next piece's blocks as the limits allow, in bytes. */
static uint64_t blocks_that_fit(const ggld_job_plan *plan, uint64_t max_bytes,
                                uint64_t max_out)
{
    const ggld_piece *piece = &plan->pieces[plan->next_piece];
    uint64_t block_out = ggld_piece_out(plan, piece, piece->block_bytes);
    uint64_t n = piece->n_bytes - plan->next_skip;
    n = ggld_min_u64(n, plan->max_payload - plan->planned);
    n = ggld_min_u64(n, max_bytes) / piece->block_bytes;
    n = ggld_min_u64(n, max_out / block_out);
    return n * piece->block_bytes;
}

/* Adds the next piece's blocks to the extent; false: it ends here. */
static bool extent_grow(ggld_job_plan *plan, ggld_extent *extent,
                        uint64_t max_bytes, uint64_t *out_left)
{
    const ggld_piece *piece = &plan->pieces[plan->next_piece];
    uint64_t at = piece->offset + plan->next_skip;
    if (extent->size == 0) {
        extent->offset = at;
        extent->shard = piece->shard;
    }
    uint64_t end = extent->offset + extent->size;
    uint64_t before = at - extent->offset;
    if (piece->shard != extent->shard || at < end || at - end > GAP_MAX_BYTES ||
        before >= max_bytes)
        return false;

    uint64_t n = blocks_that_fit(plan, max_bytes - before, *out_left);
    if (n == 0)
        return false;
    *out_left -= ggld_piece_out(plan, piece, n);
    extent->size = before + n;
    extent->payload += n;
    extent->n_pieces++;
    plan->planned += n;
    plan->next_skip += n;
    if (plan->next_skip < piece->n_bytes)
        return false;
    plan->next_piece++;
    plan->next_skip = 0;
    return true;
}

bool ggld_job_plan_next(ggld_job_plan *plan, uint64_t max_bytes,
                        uint64_t max_out, ggld_extent *out)
{
    ggld_extent extent = { .piece = plan->next_piece, .skip = plan->next_skip };
    while (plan->next_piece < plan->n_pieces &&
           extent_grow(plan, &extent, max_bytes, &max_out))
        continue;
    if (extent.size == 0)
        return false;
    *out = extent;
    return true;
}

bool ggld_extent_part(const ggld_job_plan *plan, const ggld_extent *extent,
                      size_t *i, ggld_part *out)
{
    if (*i == extent->n_pieces)
        return false;
    const ggld_piece *piece = &plan->pieces[extent->piece + *i];
    uint64_t skip = *i == 0 ? extent->skip : 0;
    uint64_t end = extent->offset + extent->size;
    out->piece = piece;
    out->first_byte = piece->first_byte + skip;
    out->offset = piece->offset + skip;
    out->n_bytes = ggld_min_u64(piece->n_bytes - skip, end - out->offset);
    (*i)++;
    return true;
}
