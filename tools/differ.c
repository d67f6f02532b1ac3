/* SPDX-License-Identifier: MIT */
/* See differ.h. Long values are cut; where what is left of both would be the
 * same, or does not tell, it is said where they part. */
#include "differ.h"

#include <inttypes.h>
#include <string.h>

#include "model.h"
#include "value.h"

#define MAX_CHARS 60
#define MAX_ELEMS 6

static void put_name(output *o, const char *what, ggld_string name)
{
    out_text(o, what);
    text_put_name(o, name.data, (size_t)name.len);
}

static void put_value(output *o, const ggld_kv *kv)
{
    const value_limits limits = { MAX_ELEMS, MAX_CHARS };

    out_printf(o, " (%s) ", value_type_text(kv).text);
    value_print(o, kv, limits);
}

/* ---- where values part ---- */

static uint64_t string_parts(ggld_string a, ggld_string b)
{
    uint64_t i = 0;
    while (i < a.len && i < b.len && a.data[i] == b.data[i])
        i++;
    return i;
}

/* As they are stored, element by element; *at counts elements. */
static bool array_parts(ggld_array_iter a, ggld_array_iter b, uint64_t *at)
{
    ggld_string x, y;
    int64_t i, j;
    double f, g;

    if (a.elem_type != b.elem_type)
        return false;
    for (;; (*at)++) {
        if (ggld_array_next_string(&a, &x) && ggld_array_next_string(&b, &y)) {
            if (x.len != y.len || string_parts(x, y) != x.len)
                return true;
        } else if (ggld_array_next_i64(&a, &i) && ggld_array_next_i64(&b, &j)) {
            if (i != j)
                return true;
        } else if (ggld_array_next_f64(&a, &f) && ggld_array_next_f64(&b, &g)) {
            if (!(f == g))
                return true;
        } else {
            /* An end, or what has no order: bools, arrays, NaN. */
            return a.next == a.n_elems || b.next == b.n_elems;
        }
    }
}

static void put_parting(output *o, const ggld_kv *a, const ggld_kv *b)
{
    ggld_array_iter x, y;
    ggld_string s, t;
    uint64_t at = 0;

    if (ggld_kv_get_string(a, &s) && ggld_kv_get_string(b, &t)) {
        at = string_parts(s, t);
        if (s.len > MAX_CHARS || t.len > MAX_CHARS)
            out_printf(o, ", from byte %" PRIu64 " on", at);
        return;
    }
    if (!ggld_kv_get_array(a, &x) || !ggld_kv_get_array(b, &y) ||
        (x.n_elems <= MAX_ELEMS && y.n_elems <= MAX_ELEMS))
        return;
    if (array_parts(x, y, &at))
        out_printf(o, ", from element %" PRIu64 " on", at);
}

/* ---- text ---- */

static void print_kv(output *o, const ggld_difference *d)
{
    const ggld_kv *kv = d->a_kv != NULL ? d->a_kv : d->b_kv;
    const char *sign = d->a_kv == NULL   ? "+ key "
                       : d->b_kv == NULL ? "- key "
                                         : "! key ";

    put_name(o, sign, ggld_kv_key(kv));
    out_text(o, ":");
    put_value(o, kv);
    if (d->kind == GGLD_KV_CHANGED) {
        out_text(o, " ->");
        put_value(o, d->b_kv);
        put_parting(o, d->a_kv, d->b_kv);
    }
    out_text(o, "\n");
}

static void put_measure(output *o, const ggld_difference *d)
{
    if (!d->has_values)
        return;
    out_printf(o, "; %" PRIu64 " of %" PRIu64 " values differ", d->n_unequal,
               d->n_elems);
    if (d->n_unequal != d->n_nan)
        out_printf(o, ", by at most %.6g (element %" PRIu64 "), rms %.6g",
                   d->max, d->max_elem, d->rms);
    if (d->n_nan != 0)
        out_printf(o, ", %" PRIu64 " beside NaN", d->n_nan);
}

static void print_both(output *o, const ggld_difference *d,
                       const ggld_tensor_info *a, const ggld_tensor_info *b)
{
    put_name(o, "! tensor ", a->name);
    switch (d->kind) {
    case GGLD_TENSOR_RESHAPED:
        out_printf(o, ": %s -> %s", model_shape_text(a).text,
                   model_shape_text(b).text);
        break;
    case GGLD_TENSOR_RETYPED:
        out_printf(o, ": %s -> %s", model_type_text(a->type).text,
                   model_type_text(b->type).text);
        break;
    case GGLD_TENSOR_DATA:
        out_printf(o, ": data differs from byte %" PRIu64 " on", d->first_byte);
        break;
    default:
        out_printf(o, ": %s in two byte orders can't be compared",
                   model_type_text(a->type).text);
    }
    put_measure(o, d);
    out_text(o, "\n");
}

static void print_one(output *o, const char *sign, const ggld_tensor *tensor)
{
    ggld_tensor_info info = model_tensor_info(tensor);

    put_name(o, sign, info.name);
    out_printf(o, ": %s %s\n", model_type_text(info.type).text,
               model_shape_text(&info).text);
}

void differ_print(output *o, const ggld_difference *d)
{
    if (d->kind <= GGLD_KV_CHANGED) {
        print_kv(o, d);
    } else if (d->kind == GGLD_TENSOR_REMOVED) {
        print_one(o, "- tensor ", d->a_tensor);
    } else if (d->kind == GGLD_TENSOR_ADDED) {
        print_one(o, "+ tensor ", d->b_tensor);
    } else {
        ggld_tensor_info a = model_tensor_info(d->a_tensor);
        ggld_tensor_info b = model_tensor_info(d->b_tensor);
        print_both(o, d, &a, &b);
    }
}

/* ---- JSON ---- */

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = { "kv_removed",     "kv_added",
                                         "kv_changed",     "tensor_removed",
                                         "tensor_added",   "tensor_reshaped",
                                         "tensor_retyped", "tensor_data",
                                         "tensor_opaque" };
    return kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

static json_object *tensor_json(const ggld_tensor *tensor)
{
    ggld_tensor_info info = model_tensor_info(tensor);
    json_object *row = js_object(), *dims = js_array();

    js_set_text(row, "type", model_type_text(info.type).text);
    for (uint32_t i = 0; i < info.n_dims; i++)
        js_append(dims, js_u64(info.dims[i]));
    js_set(row, "dims", dims);
    return row;
}

static json_object *measure_json(const ggld_difference *d)
{
    json_object *row = js_object();

    js_set_u64(row, "n_elems", d->n_elems);
    js_set_u64(row, "n_unequal", d->n_unequal);
    js_set_u64(row, "n_nan", d->n_nan);
    js_set_u64(row, "max_elem", d->max_elem);
    js_set(row, "max", js_f64(d->max));
    js_set(row, "rms", js_f64(d->rms));
    return row;
}

json_object *differ_json(const ggld_difference *d)
{
    json_object *row = js_object();

    js_set_text(row, "kind", kind_name(d->kind));
    if (d->kind <= GGLD_KV_CHANGED) {
        ggld_string key = ggld_kv_key(d->a_kv != NULL ? d->a_kv : d->b_kv);
        js_set(row, "key", js_text(key.data, (size_t)key.len));
        if (d->a_kv != NULL)
            js_set(row, "a", value_json_row(d->a_kv, UINT64_MAX));
        if (d->b_kv != NULL)
            js_set(row, "b", value_json_row(d->b_kv, UINT64_MAX));
        return row;
    }
    ggld_string name =
        model_tensor_info(d->a_tensor != NULL ? d->a_tensor : d->b_tensor).name;
    js_set(row, "name", js_text(name.data, (size_t)name.len));
    if (d->a_tensor != NULL)
        js_set(row, "a", tensor_json(d->a_tensor));
    if (d->b_tensor != NULL)
        js_set(row, "b", tensor_json(d->b_tensor));
    if (d->kind == GGLD_TENSOR_DATA)
        js_set_u64(row, "first_byte", d->first_byte);
    if (d->has_values)
        js_set(row, "values", measure_json(d));
    return row;
}
