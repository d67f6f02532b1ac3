/* SPDX-License-Identifier: MIT */
/* See scan.h. Reads stored bytes in chunks, on all cores; nothing is
 * dequantised: a quantised value can only fail to be a number if its scale
 * does. */
#include "scan.h"

#include <inttypes.h>

#include "chunks.h"
#include "pipeline.h"
#include "progress.h"
#include "report.h"
#include "scales.h"

#define CHUNK_ELEMS    (1u << 17)
#define ELEM_MAX_BYTES 8

typedef struct scan {
    const model *m;
    output *out;
    js *list; /* or NULL: text */
    uint64_t n_bad;
    chunks chunks;
    scale_counts counts; /* so far, of the tensor whose turn it is */
    progress bar;
} scan;

typedef struct scan_slot {
    scale_counts counts;
    uint64_t size_bytes;
    uint8_t blocks[CHUNK_ELEMS * ELEM_MAX_BYTES];
} scan_slot;

static bool has_scales(const void *user, const ggld_tensor_info *info)
{
    (void)user;
    return scale_row_of(info->type) != NULL;
}

/* On any thread. */
static ggld_status scan_chunk(void *user, uint64_t item, void *memory,
                              ggld_error *err)
{
    const scan *s = user;
    scan_slot *slot = memory;
    chunk c = chunks_at(&s->chunks, item);
    const ggld_type_traits *traits = ggld_type_traits_of(c.info.type);
    uint64_t first_block = c.first_elem / traits->block_elems;
    uint64_t n_blocks = c.n_elems / traits->block_elems;

    slot->counts = (scale_counts){ 0, 0, 0, 0 };
    slot->size_bytes = n_blocks * traits->block_bytes;
    ggld_status status =
        ggld_tensor_read_bytes(c.tensor, first_block * traits->block_bytes,
                               slot->blocks, (size_t)slot->size_bytes, err);
    if (status == GGLD_OK)
        scale_scan(&slot->counts, scale_row_of(c.info.type), slot->blocks,
                   n_blocks, traits->block_bytes, first_block,
                   c.info.big_endian);
    return status;
}

static void print_bad(output *o, const ggld_tensor_info *info,
                      const scale_counts *counts)
{
    const scale_row *row = scale_row_of(info->type);
    const ggld_type_traits *traits = ggld_type_traits_of(info->type);
    bool values = scale_is_value(row);

    out_printf(o, "error    tensor %" PRIu64 " '", info->index);
    text_put_name(o, info->name.data, info->name.len);
    out_printf(o,
               "' (%s): %" PRIu64 " of %" PRIu64 " %s%s %s not finite (%" PRIu64
               " NaN, %" PRIu64 " infinite), the first in ",
               traits->name, scale_n_bad(counts), counts->n_checked,
               values ? "value" : "scale", text_plural(counts->n_checked),
               scale_n_bad(counts) == 1 ? "is" : "are", counts->n_nan,
               counts->n_infinite);
    if (values)
        out_printf(o, "element %" PRIu64 "\n", counts->first_block);
    else
        out_printf(o, "block %" PRIu64 " (element %" PRIu64 ")\n",
                   counts->first_block,
                   counts->first_block * traits->block_elems);
}

static void json_bad(js *w, const ggld_tensor_info *info,
                     const scale_counts *counts)
{
    js_object(w, NULL);
    js_u64(w, "index", info->index);
    js_string(w, "name", info->name.data, info->name.len);
    js_text(w, "type", model_type_text(info->type).text);
    js_text(w, "what",
            scale_is_value(scale_row_of(info->type)) ? "values" : "scales");
    js_u64(w, "checked", counts->n_checked);
    js_u64(w, "nan", counts->n_nan);
    js_u64(w, "infinite", counts->n_infinite);
    js_u64(w, "first_block", counts->first_block);
    js_end(w);
}

static void scan_report(scan *s, const ggld_tensor_info *info)
{
    if (scale_n_bad(&s->counts) == 0)
        return;
    s->n_bad++;
    if (s->list != NULL)
        json_bad(s->list, info, &s->counts);
    else
        print_bad(s->out, info, &s->counts);
}

static ggld_status scan_take(void *user, uint64_t item, void *memory,
                             ggld_error *err)
{
    scan *s = user;
    const scan_slot *slot = memory;
    chunk c = chunks_at(&s->chunks, item);

    (void)err;
    scale_add(&s->counts, &slot->counts);
    progress_add(&s->bar, slot->size_bytes);
    if (c.last) {
        scan_report(s, &c.info);
        s->counts = (scale_counts){ 0, 0, 0, 0 };
    }
    return GGLD_OK;
}

int scan_data(model *m, output *o, js *list, uint64_t *n_bad)
{
    scan s = { .m = m, .out = o, .list = list };
    pipeline p = { .slot_bytes = sizeof(scan_slot),
                   .user = &s,
                   .work = scan_chunk,
                   .take = scan_take };
    ggld_error err;

    if (chunks_make(&s.chunks, m, CHUNK_ELEMS, has_scales, NULL) != STATUS_GOOD)
        return STATUS_FAULT;
    p.n_items = s.chunks.n;
    progress_begin(&s.bar, "check", s.chunks.size_bytes);
    ggld_status status = pipeline_run(&p, &err);
    progress_end(&s.bar);
    chunks_free(&s.chunks);
    *n_bad = s.n_bad;
    return status == GGLD_OK ? STATUS_GOOD : model_failed(m, NULL, &err);
}
