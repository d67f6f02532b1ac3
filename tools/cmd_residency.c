/* SPDX-License-Identifier: MIT */
/* ggld residency: how much of a model is in memory, as a picture with a row for
 * each layer. Reads no tensor data, and so changes nothing. */
#include <stdlib.h>
#include <string.h>

#include <ggld/residency.h>

#include "command.h"
#include "js.h"
#include "model.h"
#include "report.h"
#include "text.h"

enum { OPT_SINGLE, OPT_JSON };

#define N_CELLS     40
#define GROUPS_BACK 256

/* Tensors whose names begin alike. */
typedef struct group {
    ggld_string name;
    uint64_t n_tensors;
    uint64_t size_bytes;
    uint64_t resident_bytes; /* or GGLD_RESIDENT_UNKNOWN */
    uint64_t cells[N_CELLS]; /* resident bytes */
} group;

typedef struct groups {
    group *list;
    size_t n;
    size_t *of_tensor;
} groups;

static bool is_number(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] >= '0' && text[n] <= '9')
        n++;
    return len > 0 && n == len;
}

/* Up to the first part that is a number: "blk.12.attn_q.weight" is of "blk.12",
 * "enc.blk.3.ffn_up.weight" of "enc.blk.3"; others are of their first part. */
static ggld_string group_name(ggld_string name)
{
    size_t first = 0, at = 0;
    while (at <= name.len) {
        size_t end = at;
        while (end < name.len && name.data[end] != '.')
            end++;
        if (at == 0)
            first = end;
        else if (is_number(name.data + at, end - at))
            return (ggld_string){ name.data, end };
        at = end + 1;
    }
    return (ggld_string){ name.data, first };
}

static bool same_name(ggld_string a, ggld_string b)
{
    return a.len == b.len && memcmp(a.data, b.data, (size_t)a.len) == 0;
}

/* Tensors of a layer stand together, or nearly: a layer that comes again after
 * so many others gets another row, and no file makes the search long. */
static size_t group_of(groups *g, ggld_string name)
{
    size_t first = g->n > GROUPS_BACK ? g->n - GROUPS_BACK : 0;
    for (size_t i = g->n; i-- > first;)
        if (same_name(g->list[i].name, name))
            return i;
    g->list[g->n].name = name;
    return g->n++;
}

static int groups_make(groups *g, const model *m)
{
    uint64_t n = ggld_tensor_count(m->file);
    memset(g, 0, sizeof *g);
    g->list = calloc(n + 1, sizeof *g->list);
    g->of_tensor = calloc(n + 1, sizeof *g->of_tensor);
    if (g->list == NULL || g->of_tensor == NULL)
        return report(m->path, "no memory for a picture");
    for (uint64_t i = 0; i < n; i++) {
        ggld_tensor_info info = model_tensor(m, i);
        size_t at = group_of(g, group_name(info.name));
        g->of_tensor[i] = at;
        g->list[at].n_tensors++;
        g->list[at].size_bytes += info.size_bytes;
    }
    return STATUS_GOOD;
}

static void groups_free(groups *g)
{
    free(g->list);
    free(g->of_tensor);
}

static int ask(const model *m, const ggld_view *view, uint64_t *out)
{
    ggld_error err;
    if (ggld_residency(view, out, &err) == GGLD_OK)
        return STATUS_GOOD;
    return report_error(m->path, &err);
}

/* The part of the tensor that falls into a cell: begin and end are bytes of
 * the tensor, elements are counted in proportion. */
static int ask_part(const model *m, const ggld_tensor *tensor,
                    const ggld_tensor_info *info, uint64_t begin, uint64_t end,
                    uint64_t *out)
{
    ggld_view view = ggld_tensor_view(tensor);
    double elems = (double)info->n_elems / (double)info->size_bytes;
    if (info->supported) {
        uint64_t first = (uint64_t)((double)begin * elems);
        uint64_t last = (uint64_t)((double)end * elems);
        last = end == info->size_bytes || last > info->n_elems ? info->n_elems
                                                               : last;
        view.first_elem = first < last ? first : last;
        view.n_elems = last - view.first_elem;
    }
    int status = ask(m, &view, out);
    if (status == STATUS_GOOD && !info->supported &&
        *out != GGLD_RESIDENT_UNKNOWN)
        *out = *out * (end - begin) / info->size_bytes;
    return status;
}

static uint64_t cell_begin(const group *g, uint64_t cell)
{
    return g->size_bytes / N_CELLS * cell +
           g->size_bytes % N_CELLS * cell / N_CELLS;
}

/* Adds to the group's picture a tensor that begins at byte start of it. */
static int add_tensor(const model *m, group *g, uint64_t index, uint64_t start)
{
    const ggld_tensor *tensor = ggld_tensor_at(m->file, index);
    ggld_tensor_info info = model_tensor(m, index);
    int status = STATUS_GOOD;
    for (uint64_t i = 0; i < N_CELLS && status == STATUS_GOOD; i++) {
        uint64_t from = cell_begin(g, i);
        uint64_t to = cell_begin(g, i + 1);
        uint64_t bytes;
        if (to <= start || from >= start + info.size_bytes)
            continue;
        from = from > start ? from - start : 0;
        to = to - start < info.size_bytes ? to - start : info.size_bytes;
        status = ask_part(m, tensor, &info, from, to, &bytes);
        if (status == STATUS_GOOD && bytes != GGLD_RESIDENT_UNKNOWN)
            g->cells[i] += bytes;
    }
    return status;
}

static int fill(const model *m, groups *g, uint64_t *resident)
{
    uint64_t n = ggld_tensor_count(m->file);
    uint64_t *start = calloc(g->n + 1, sizeof *start);
    int status = STATUS_GOOD;
    if (start == NULL)
        return report(m->path, "no memory for a picture");
    for (uint64_t i = 0; i < n && status == STATUS_GOOD; i++) {
        group *in = &g->list[g->of_tensor[i]];
        ggld_view view = ggld_tensor_view(ggld_tensor_at(m->file, i));
        status = ask(m, &view, &resident[i]);
        if (status != STATUS_GOOD)
            break;
        if (resident[i] == GGLD_RESIDENT_UNKNOWN ||
            in->resident_bytes == GGLD_RESIDENT_UNKNOWN)
            in->resident_bytes = GGLD_RESIDENT_UNKNOWN;
        else
            in->resident_bytes += resident[i];
        status = add_tensor(m, in, i, start[g->of_tensor[i]]);
        start[g->of_tensor[i]] += model_tensor(m, i).size_bytes;
    }
    free(start);
    return status;
}

/* ---- printing ---- */

/* Columns of a row: what stands beside name and picture takes the others. */
typedef struct columns {
    size_t name;
    size_t picture; /* marks; 0: there is no room */
} columns;

#define BESIDE  37 /* "  [" and "]  100 %  1023.9 MiB of 1023.9 MiB" */
#define PICTURE 8  /* less shows nothing */

static columns columns_of(const output *o, const groups *g)
{
    size_t all = text_terminal_columns(o->fd);
    size_t room = all > BESIDE ? all - BESIDE : 0;
    columns c = { 8, 0 };
    size_t most = room > 8 + PICTURE ? room - PICTURE : 8;
    for (size_t i = 0; i < g->n; i++) {
        size_t w = text_name_width(g->list[i].name.data, g->list[i].name.len);
        c.name = w > c.name ? w : c.name;
    }
    c.name = c.name < most ? c.name : most;
    c.picture = room > c.name ? room - c.name : 0;
    c.picture = c.picture < N_CELLS ? c.picture : N_CELLS;
    c.picture = c.picture < PICTURE ? 0 : c.picture;
    return c;
}

/* Of mark i of n, which may be several cells. */
static char mark_of(const group *g, size_t i, size_t n)
{
    uint64_t from = i * N_CELLS / n, to = (i + 1) * N_CELLS / n;
    uint64_t size = cell_begin(g, to) - cell_begin(g, from);
    uint64_t resident = 0;
    if (g->resident_bytes == GGLD_RESIDENT_UNKNOWN)
        return '?';
    for (uint64_t k = from; k < to; k++)
        resident += g->cells[k];
    double part = size != 0 ? (double)resident / (double)size : 0;
    /* Blocks at a cell's ends count for its neighbours. */
    if (part >= 0.95 || g->resident_bytes == g->size_bytes)
        return '#';
    return part >= 0.5 ? '+' : part > 0 ? '-' : '.';
}

static void print_group(output *o, const group *g, const columns *c)
{
    char bar[N_CELLS + 1] = { 0 };
    for (size_t i = 0; i < c->picture; i++)
        bar[i] = mark_of(g, i, c->picture);
    text_put_fitted(o, g->name.data, g->name.len, c->name);
    if (c->picture != 0)
        out_printf(o, "  [%s]", bar);
    if (g->resident_bytes != GGLD_RESIDENT_UNKNOWN)
        out_printf(o, "  %3.0f %%  %10s",
                   g->size_bytes == 0 ? 100.0
                                      : 100.0 * (double)g->resident_bytes /
                                            (double)g->size_bytes,
                   text_size(g->resident_bytes).text);
    else
        out_printf(o, "  unknown    ");
    out_printf(o, " of %s\n", text_size(g->size_bytes).text);
}

static group sum_of(const groups *g)
{
    group sum = { .name = { "all", 3 } };
    for (size_t i = 0; i < g->n; i++) {
        sum.n_tensors += g->list[i].n_tensors;
        sum.size_bytes += g->list[i].size_bytes;
        if (g->list[i].resident_bytes == GGLD_RESIDENT_UNKNOWN)
            sum.resident_bytes = GGLD_RESIDENT_UNKNOWN;
        if (sum.resident_bytes != GGLD_RESIDENT_UNKNOWN)
            sum.resident_bytes += g->list[i].resident_bytes;
    }
    return sum;
}

static void print_picture(output *o, const groups *g)
{
    columns c = columns_of(o, g);
    group sum = sum_of(g);
    for (size_t i = 0; i < g->n; i++)
        print_group(o, &g->list[i], &c);
    if (sum.resident_bytes == GGLD_RESIDENT_UNKNOWN)
        out_text(o, "\nUnknown: the system tells only who owns the file, may "
                    "write it, or has CAP_FOWNER.\n");
    else
        out_printf(o, "\n%s of %s are in memory\n",
                   text_size(sum.resident_bytes).text,
                   text_size(sum.size_bytes).text);
}

static void json_resident(js *w, uint64_t bytes)
{
    js_u64_if(w, "resident_bytes", bytes != GGLD_RESIDENT_UNKNOWN, bytes);
}

static void json_group(js *w, const group *g)
{
    js_object(w, NULL);
    js_string(w, "name", g->name.data, g->name.len);
    js_u64(w, "tensors", g->n_tensors);
    js_u64(w, "size_bytes", g->size_bytes);
    json_resident(w, g->resident_bytes);
    js_end(w);
}

static void json_tensor(js *w, const model *m, uint64_t i, uint64_t resident)
{
    ggld_tensor_info info = model_tensor(m, i);

    js_object(w, NULL);
    js_u64(w, "index", i);
    js_string(w, "name", info.name.data, info.name.len);
    js_u64(w, "size_bytes", info.size_bytes);
    json_resident(w, resident);
    js_end(w);
}

static void print_json(output *o, const model *m, const groups *g,
                       const uint64_t *resident)
{
    js w = js_begin(o);
    group sum = sum_of(g);

    js_object(&w, NULL);
    js_text(&w, "file", m->path);
    js_u64(&w, "size_bytes", sum.size_bytes);
    json_resident(&w, sum.resident_bytes);
    js_array(&w, "layers");
    for (size_t i = 0; i < g->n; i++)
        json_group(&w, &g->list[i]);
    js_end(&w);
    js_array(&w, "tensors");
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++)
        json_tensor(&w, m, i, resident[i]);
    js_end(&w);
    js_end(&w);
}

static int residency_show(const args *a, const model *m, groups *g,
                          uint64_t *resident)
{
    int status = fill(m, g, resident);
    if (status != STATUS_GOOD)
        return status;
    if (a->values[OPT_JSON] != NULL)
        print_json(a->out, m, g, resident);
    else
        print_picture(a->out, g);
    return STATUS_GOOD;
}

static int residency_run(const args *a)
{
    groups g;
    model m;
    int status =
        model_open_with(&m, a->operands[0], single_flag(a->values[OPT_SINGLE]));
    if (status != STATUS_GOOD)
        return status;
    model_show(&m, a->out);
    uint64_t *resident =
        calloc(ggld_tensor_count(m.file) + 1, sizeof *resident);
    status = groups_make(&g, &m);
    if (resident == NULL)
        status = report(m.path, "no memory for a picture");
    else if (status == STATUS_GOOD)
        status = residency_show(a, &m, &g, resident);
    groups_free(&g);
    free(resident);
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_residency = {
    "residency",
    "FILE",
    "Shows how much of a model is in memory, layer by layer",
    "Each mark is an equal part of the layer: # all of it is in memory, + half\n"
    "and more, - less, . none. Nothing is read, so nothing changes.\n",
    1,
    1,
    options,
    residency_run,
};
