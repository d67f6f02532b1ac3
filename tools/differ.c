/* SPDX-License-Identifier: MIT */
/* See differ.h. Long values are cut; where what is left of both would be the
 * same, or does not tell, it is said where they part. */
#include "differ.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "parting.h"
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

static void put_place(output *o, const parting *p)
{
    out_text(o, ", from element ");
    for (unsigned i = 0; i < p->depth; i++)
        out_printf(o, p->depth == 1 ? "%" PRIu64 : "[%" PRIu64 "]",
                   p->index[i]);
    out_text(o, " on");
}

/* A number or bool by its bits. */
static text_number bits_text(uint32_t type, uint64_t bits, unsigned width)
{
    text_number t;
    uint32_t word = (uint32_t)bits;
    /* The sign bit to the top, and back. */
    int64_t number = (int64_t)(bits << (64 - 8 * width)) >> (64 - 8 * width);
    float f;
    double d;

    switch (type) {
    case GGLD_VALUE_F32:
        memcpy(&f, &word, sizeof f);
        return text_f32(f);
    case GGLD_VALUE_F64:
        memcpy(&d, &bits, sizeof d);
        return text_f64(d);
    case GGLD_VALUE_BOOL:
        snprintf(t.text, sizeof t.text, "%s", bits != 0 ? "true" : "false");
        return t;
    case GGLD_VALUE_I8:
    case GGLD_VALUE_I16:
    case GGLD_VALUE_I32:
    case GGLD_VALUE_I64:
        snprintf(t.text, sizeof t.text, "%" PRId64, number);
        return t;
    default:
        snprintf(t.text, sizeof t.text, "%" PRIu64, bits);
        return t;
    }
}

/* Two NaNs, or two bools that are both true. */
static bool looks_same(const parting *p)
{
    return p->width != 0 && p->type_a == p->type_b &&
           strcmp(bits_text(p->type_a, p->bits_a, p->width).text,
                  bits_text(p->type_b, p->bits_b, p->width).text) == 0;
}

static void put_bits(output *o, const parting *p, uint64_t bits)
{
    out_text(o, bits_text(p->type_a, bits, p->width).text);
    if (looks_same(p))
        out_printf(o, " (0x%0*" PRIx64 ")", (int)(2 * p->width), bits);
}

/* The two elements. */
static void put_elements(output *o, const parting *p)
{
    if (p->type_a != p->type_b) {
        out_printf(o, ": %s[] -> %s[]", ggld_value_type_name(p->type_a),
                   ggld_value_type_name(p->type_b));
    } else if (p->type_a == GGLD_VALUE_STRING) {
        out_text(o, ": ");
        text_put_quoted(o, p->text_a.data, (size_t)p->text_a.len, MAX_CHARS);
        out_text(o, " -> ");
        text_put_quoted(o, p->text_b.data, (size_t)p->text_b.len, MAX_CHARS);
        if (p->text_a.len > MAX_CHARS || p->text_b.len > MAX_CHARS)
            out_printf(o, ", from its byte %" PRIu64 " on",
                       string_parts(p->text_a, p->text_b));
    } else if (p->type_a != GGLD_VALUE_ARRAY) {
        out_text(o, ": ");
        put_bits(o, p, p->bits_a);
        out_text(o, " -> ");
        put_bits(o, p, p->bits_b);
    }
}

/* Is it to be seen in what is shown of both arrays? */
static bool is_shown(const ggld_array_iter *a, const ggld_array_iter *b,
                     const parting *p)
{
    return a->n_elems <= MAX_ELEMS && b->n_elems <= MAX_ELEMS &&
           p->depth == 1 && p->type_a == p->type_b && !looks_same(p) &&
           p->text_a.len <= MAX_CHARS && p->text_b.len <= MAX_CHARS;
}

static void put_parting(output *o, const ggld_kv *a, const ggld_kv *b)
{
    ggld_array_iter x, y;
    parting p;

    if (ggld_kv_type(a) != ggld_kv_type(b) || !parting_find(a, b, &p))
        return;
    if (ggld_kv_get_array(a, &x) && ggld_kv_get_array(b, &y)) {
        if (p.depth != 0 && !is_shown(&x, &y, &p)) {
            put_place(o, &p);
            put_elements(o, &p);
        }
    } else if (p.text_a.len > MAX_CHARS || p.text_b.len > MAX_CHARS) {
        out_printf(o, ", from byte %" PRIu64 " on",
                   string_parts(p.text_a, p.text_b));
    } else if (looks_same(&p)) {
        out_printf(o, ", as bits 0x%0*" PRIx64 " -> 0x%0*" PRIx64,
                   (int)(2 * p.width), p.bits_a, (int)(2 * p.width), p.bits_b);
    }
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
    out_printf(o, "; %" PRIu64 " of %" PRIu64 " value%s differ%s", d->n_unequal,
               d->n_elems, text_plural(d->n_elems),
               d->n_unequal == 1 ? "s" : "");
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

static void tensor_json(js *w, const char *key, const ggld_tensor *tensor)
{
    ggld_tensor_info info = model_tensor_info(tensor);

    js_object(w, key);
    js_text(w, "type", model_type_text(info.type).text);
    js_array(w, "dims");
    for (uint32_t i = 0; i < info.n_dims; i++)
        js_u64(w, NULL, info.dims[i]);
    js_end(w);
    js_end(w);
}

static void measure_json(js *w, const char *key, const ggld_difference *d)
{
    js_object(w, key);
    js_u64(w, "n_elems", d->n_elems);
    js_u64(w, "n_unequal", d->n_unequal);
    js_u64(w, "n_nan", d->n_nan);
    js_u64(w, "max_elem", d->max_elem);
    js_f64(w, "max", d->max);
    js_f64(w, "rms", d->rms);
    js_end(w);
}

/* What values in JSON do not tell: bits. */
static void add_parting(js *w, const ggld_difference *d)
{
    parting p;
    char bits[24];

    if (ggld_kv_type(d->a_kv) != ggld_kv_type(d->b_kv) ||
        !parting_find(d->a_kv, d->b_kv, &p))
        return;
    if (p.depth != 0) {
        js_array(w, "first_element");
        for (unsigned i = 0; i < p.depth; i++)
            js_u64(w, NULL, p.index[i]);
        js_end(w);
    }
    if (!looks_same(&p))
        return;
    snprintf(bits, sizeof bits, "0x%0*" PRIx64, (int)(2 * p.width), p.bits_a);
    js_text(w, "a_bits", bits);
    snprintf(bits, sizeof bits, "0x%0*" PRIx64, (int)(2 * p.width), p.bits_b);
    js_text(w, "b_bits", bits);
}

static void kv_json(js *w, const ggld_difference *d)
{
    ggld_string key = ggld_kv_key(d->a_kv != NULL ? d->a_kv : d->b_kv);

    js_string(w, "key", key.data, (size_t)key.len);
    if (d->a_kv != NULL)
        value_json_row(w, "a", d->a_kv, value_limits_none());
    if (d->b_kv != NULL)
        value_json_row(w, "b", d->b_kv, value_limits_none());
    if (d->kind == GGLD_KV_CHANGED)
        add_parting(w, d);
}

static void both_json(js *w, const ggld_difference *d)
{
    ggld_string name =
        model_tensor_info(d->a_tensor != NULL ? d->a_tensor : d->b_tensor).name;

    js_string(w, "name", name.data, (size_t)name.len);
    if (d->a_tensor != NULL)
        tensor_json(w, "a", d->a_tensor);
    if (d->b_tensor != NULL)
        tensor_json(w, "b", d->b_tensor);
    if (d->kind == GGLD_TENSOR_DATA)
        js_u64(w, "first_byte", d->first_byte);
    if (d->has_values)
        measure_json(w, "values", d);
}

void differ_json(js *w, const ggld_difference *d)
{
    js_object(w, NULL);
    js_text(w, "kind", kind_name(d->kind));
    if (d->kind <= GGLD_KV_CHANGED)
        kv_json(w, d);
    else
        both_json(w, d);
    js_end(w);
}
