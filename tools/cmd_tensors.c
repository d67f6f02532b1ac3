/* SPDX-License-Identifier: MIT */
/* ggld tensors: the tensor table. */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "js.h"
#include "model.h"

enum { OPT_SINGLE, OPT_JSON };

typedef struct widths {
    size_t name;
    size_t shape;
} widths;

static widths widths_of(const model *m)
{
    widths w = { 4, 5 };

    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_tensor_info info = model_tensor(m, i);
        size_t name = text_name_width(info.name.data, info.name.len);
        text_number shape = model_shape_text(&info);
        size_t shape_width = text_name_width(shape.text, strlen(shape.text));
        w.name = name > w.name && name <= 64 ? name : w.name;
        w.shape = shape_width > w.shape ? shape_width : w.shape;
    }
    return w;
}

static void print_table(output *o, const model *m)
{
    widths w = widths_of(m);

    text_put_column(o, "name", 4, w.name);
    out_printf(o, "  %-8s  ", "type");
    text_put_column(o, "shape", 5, w.shape);
    out_printf(o, "  %16s  %16s%s\n", "bytes", "offset",
               m->info.n_shards > 1 ? "  shard" : "");
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_tensor_info info = model_tensor(m, i);
        text_number shape = model_shape_text(&info);
        text_put_column(o, info.name.data, info.name.len, w.name);
        out_printf(o, "  %-8s  ", model_type_text(info.type).text);
        text_put_column(o, shape.text, strlen(shape.text), w.shape);
        out_printf(o, "  %16s  %16s", text_grouped(info.size_bytes).text,
                   text_grouped(info.file_offset_bytes).text);
        /* As the file's name has it. */
        if (m->info.n_shards > 1)
            out_printf(o, "  %05" PRIu32, info.shard + 1);
        out_text(o, model_tensor_whole(m, &info) ? "\n" : "  not whole\n");
    }
}

static void json_row(js *w, const model *m, uint64_t index)
{
    ggld_tensor_info info = model_tensor(m, index);

    js_object(w, NULL);
    js_u64(w, "index", index);
    js_string(w, "name", info.name.data, info.name.len);
    js_text(w, "type", model_type_text(info.type).text);
    js_u64(w, "type_id", info.type);
    js_bool(w, "supported", info.supported);
    js_array(w, "dims");
    for (uint32_t i = 0; i < info.n_dims; i++)
        js_u64(w, NULL, info.dims[i]);
    js_end(w);
    js_u64(w, "elements", info.n_elems);
    js_u64(w, "size_bytes", info.size_bytes);
    js_u64(w, "file_offset_bytes", info.file_offset_bytes);
    js_u64(w, "shard", info.shard);
    js_bool(w, "whole", model_tensor_whole(m, &info));
    js_end(w);
}

static void print_json(output *o, const model *m)
{
    js w = js_begin(o);

    js_object(&w, NULL);
    js_text(&w, "file", m->path);
    js_array(&w, "tensors");
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++)
        json_row(&w, m, i);
    js_end(&w);
    js_end(&w);
}

static int tensors_run(const args *a)
{
    model m;
    int status = model_open_partial(&m, a->operands[0],
                                    single_flag(a->values[OPT_SINGLE]));

    if (status != STATUS_GOOD)
        return status;
    model_show(&m, a->out);
    if (a->values[OPT_JSON] != NULL)
        print_json(a->out, &m);
    else
        print_table(a->out, &m);
    model_close(&m);
    return STATUS_GOOD;
}

static const option_row options[] = {
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_tensors = {
    "tensors",
    "FILE",
    "Lists the tensors: name, type, shape, bytes, offset in the file",
    "In the order of the file's table. The first number of a shape is the\n"
    "row length. Tensors whose data is not whole are marked.\n",
    1,
    1,
    options,
    tensors_run,
};
