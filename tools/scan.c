/* SPDX-License-Identifier: MIT */
/* See scan.h. Reads stored bytes in chunks; nothing is dequantised: a
 * quantised value can only fail to be a number if its scale does. */
#include "scan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "progress.h"
#include "report.h"
#include "scales.h"

#define CHUNK_BYTES (1u << 20)

static int scan_tensor(const model *m, const ggld_tensor *tensor,
                       uint8_t *chunk, scale_counts *counts, progress *p)
{
    ggld_tensor_info info = model_tensor_info(tensor);
    const scale_row *row = scale_row_of(info.type);
    const ggld_type_traits *traits = ggld_type_traits_of(info.type);
    ggld_error err;

    if (row == NULL || traits == NULL) {
        progress_add(p, info.size_bytes);
        return STATUS_GOOD;
    }
    uint64_t n_blocks = info.size_bytes / traits->block_bytes;
    uint64_t chunk_blocks = CHUNK_BYTES / traits->block_bytes;
    for (uint64_t i = 0; i < n_blocks; i += chunk_blocks) {
        uint64_t n = n_blocks - i < chunk_blocks ? n_blocks - i : chunk_blocks;
        size_t size = (size_t)(n * traits->block_bytes);
        if (ggld_tensor_read_bytes(tensor, i * traits->block_bytes, chunk, size,
                                   &err) != GGLD_OK)
            return report_error(m->path, &err);
        scale_scan(counts, row, chunk, n, traits->block_bytes, i,
                   info.big_endian);
        progress_add(p, size);
    }
    return STATUS_GOOD;
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
               "' (%s): %" PRIu64 " of %" PRIu64 " %s are not finite (%" PRIu64
               " NaN, %" PRIu64 " infinite), the first in ",
               traits->name, counts->n_nan + counts->n_infinite,
               counts->n_checked, values ? "values" : "scales", counts->n_nan,
               counts->n_infinite);
    if (values)
        out_printf(o, "element %" PRIu64 "\n", counts->first_block);
    else
        out_printf(o, "block %" PRIu64 " (element %" PRIu64 ")\n",
                   counts->first_block,
                   counts->first_block * traits->block_elems);
}

static json_object *json_bad(const ggld_tensor_info *info,
                             const scale_counts *counts)
{
    json_object *row = js_object();

    js_set_u64(row, "index", info->index);
    js_set(row, "name", js_text(info->name.data, info->name.len));
    js_set_text(row, "type", model_type_text(info->type).text);
    js_set_text(row, "what",
                scale_is_value(scale_row_of(info->type)) ? "values" : "scales");
    js_set_u64(row, "checked", counts->n_checked);
    js_set_u64(row, "nan", counts->n_nan);
    js_set_u64(row, "infinite", counts->n_infinite);
    js_set_u64(row, "first_block", counts->first_block);
    return row;
}

int scan_data(const model *m, output *o, json_object *list, uint64_t *n_bad)
{
    uint8_t *chunk = malloc(CHUNK_BYTES);
    int status = STATUS_GOOD;
    progress p;

    *n_bad = 0;
    if (chunk == NULL)
        return report(m->path, "no memory for a chunk");
    progress_begin(&p, "check", m->info.data_bytes);
    for (uint64_t i = 0;
         i < ggld_tensor_count(m->file) && status == STATUS_GOOD; i++) {
        const ggld_tensor *tensor = ggld_tensor_at(m->file, i);
        ggld_tensor_info info = model_tensor_info(tensor);
        scale_counts counts = { 0, 0, 0, 0 };
        status = scan_tensor(m, tensor, chunk, &counts, &p);
        if (status != STATUS_GOOD || counts.n_nan + counts.n_infinite == 0)
            continue;
        (*n_bad)++;
        if (list != NULL)
            js_append(list, json_bad(&info, &counts));
        else
            print_bad(o, &info, &counts);
    }
    progress_end(&p);
    free(chunk);
    return status;
}
