/* SPDX-License-Identifier: MIT */
/* See value.h. Nested arrays are walked with a stack of iterators: the format
 * bounds their depth, and the reader has refused what goes past it. */
#include "value.h"

#include <inttypes.h>
#include <stdio.h>

#define DEPTH_MAX 16

typedef struct scalar {
    uint32_t type; /* ggld_value_type */
    union {
        uint64_t u;
        int64_t i;
        double f;
        bool b;
        ggld_string s;
    } as;
} scalar;

static bool scalar_of_kv(const ggld_kv *kv, scalar *s)
{
    s->type = ggld_kv_type(kv);
    switch (s->type) {
    case GGLD_VALUE_U8:
    case GGLD_VALUE_U16:
    case GGLD_VALUE_U32:
    case GGLD_VALUE_U64:
        return ggld_kv_get_u64(kv, &s->as.u);
    case GGLD_VALUE_I8:
    case GGLD_VALUE_I16:
    case GGLD_VALUE_I32:
    case GGLD_VALUE_I64:
        return ggld_kv_get_i64(kv, &s->as.i);
    case GGLD_VALUE_F32:
    case GGLD_VALUE_F64:
        return ggld_kv_get_f64(kv, &s->as.f);
    case GGLD_VALUE_BOOL:
        return ggld_kv_get_bool(kv, &s->as.b);
    default:
        return ggld_kv_get_string(kv, &s->as.s);
    }
}

static bool scalar_next(ggld_array_iter *it, scalar *s)
{
    s->type = it->elem_type;
    switch (s->type) {
    case GGLD_VALUE_U8:
    case GGLD_VALUE_U16:
    case GGLD_VALUE_U32:
    case GGLD_VALUE_U64:
        return ggld_array_next_u64(it, &s->as.u);
    case GGLD_VALUE_I8:
    case GGLD_VALUE_I16:
    case GGLD_VALUE_I32:
    case GGLD_VALUE_I64:
        return ggld_array_next_i64(it, &s->as.i);
    case GGLD_VALUE_F32:
    case GGLD_VALUE_F64:
        return ggld_array_next_f64(it, &s->as.f);
    case GGLD_VALUE_BOOL:
        return ggld_array_next_bool(it, &s->as.b);
    default:
        return ggld_array_next_string(it, &s->as.s);
    }
}

static void scalar_print(output *o, const scalar *s, uint64_t max_chars)
{
    switch (s->type) {
    case GGLD_VALUE_U8:
    case GGLD_VALUE_U16:
    case GGLD_VALUE_U32:
    case GGLD_VALUE_U64:
        out_printf(o, "%" PRIu64, s->as.u);
        break;
    case GGLD_VALUE_I8:
    case GGLD_VALUE_I16:
    case GGLD_VALUE_I32:
    case GGLD_VALUE_I64:
        out_printf(o, "%" PRId64, s->as.i);
        break;
    case GGLD_VALUE_F32:
        out_text(o, text_f32((float)s->as.f).text);
        break;
    case GGLD_VALUE_F64:
        out_text(o, text_f64(s->as.f).text);
        break;
    case GGLD_VALUE_BOOL:
        out_text(o, s->as.b ? "true" : "false");
        break;
    default:
        text_put_quoted(o, s->as.s.data, s->as.s.len, max_chars);
    }
}

/* Of a text that is longer than max: up to the last whole character. */
static size_t cut_bytes(const char *data, uint64_t len, uint64_t max)
{
    if (len <= max)
        return (size_t)len;
    size_t n = (size_t)max;
    while (n > 0 && n + 3 > max && (data[n] & 0xC0) == 0x80)
        n--;
    return n;
}

static void scalar_json(js *w, const char *key, const scalar *s, uint64_t max)
{
    switch (s->type) {
    case GGLD_VALUE_U8:
    case GGLD_VALUE_U16:
    case GGLD_VALUE_U32:
    case GGLD_VALUE_U64:
        js_u64(w, key, s->as.u);
        break;
    case GGLD_VALUE_I8:
    case GGLD_VALUE_I16:
    case GGLD_VALUE_I32:
    case GGLD_VALUE_I64:
        js_i64(w, key, s->as.i);
        break;
    case GGLD_VALUE_F32:
        js_f32(w, key, (float)s->as.f);
        break;
    case GGLD_VALUE_F64:
        js_f64(w, key, s->as.f);
        break;
    case GGLD_VALUE_BOOL:
        js_bool(w, key, s->as.b);
        break;
    default:
        js_string(w, key, s->as.s.data,
                  cut_bytes(s->as.s.data, s->as.s.len, max));
    }
}

/* One step of a walk over an array with nested ones: what comes next at the
 * top of the stack. */
typedef enum step { STEP_SCALAR, STEP_DOWN, STEP_UP } step;

typedef struct walk {
    ggld_array_iter stack[DEPTH_MAX];
    unsigned depth;
    uint64_t max_elems;
    scalar scalar; /* after STEP_SCALAR */
} walk;

static void walk_begin(walk *w, ggld_array_iter it, uint64_t max_elems)
{
    w->stack[0] = it;
    w->depth = 1;
    w->max_elems = max_elems;
}

static step walk_step(walk *w)
{
    ggld_array_iter *it = &w->stack[w->depth - 1];

    if (it->next < w->max_elems && it->next < it->n_elems) {
        if (it->elem_type != GGLD_VALUE_ARRAY) {
            if (scalar_next(it, &w->scalar))
                return STEP_SCALAR;
        } else if (w->depth < DEPTH_MAX &&
                   ggld_array_next_array(it, &w->stack[w->depth])) {
            w->depth++;
            return STEP_DOWN;
        }
    }
    w->depth--;
    return STEP_UP;
}

static void array_print(output *o, ggld_array_iter it, value_limits limits)
{
    walk w;
    walk_begin(&w, it, limits.max_elems);

    out_text(o, "[");
    while (w.depth > 0) {
        const ggld_array_iter top = w.stack[w.depth - 1];
        const char *comma = top.next > 0 ? ", " : "";
        switch (walk_step(&w)) {
        case STEP_SCALAR:
            out_text(o, comma);
            scalar_print(o, &w.scalar, limits.max_chars);
            break;
        case STEP_DOWN:
            out_text(o, comma);
            out_text(o, "[");
            break;
        case STEP_UP:
            if (top.next < top.n_elems)
                out_printf(o, "%s...", comma);
            out_text(o, "]");
            break;
        }
    }
}

void value_print(output *o, const ggld_kv *kv, value_limits limits)
{
    ggld_array_iter it;
    scalar s;

    if (ggld_kv_get_array(kv, &it))
        array_print(o, it, limits);
    else if (scalar_of_kv(kv, &s))
        scalar_print(o, &s, limits.max_chars);
}

static void array_print_lines(output *o, ggld_array_iter it)
{
    const value_limits all = value_limits_none();
    ggld_array_iter nested;
    scalar s;

    while (o->sys_errno == 0) {
        if (it.elem_type == GGLD_VALUE_ARRAY) {
            if (!ggld_array_next_array(&it, &nested))
                return;
            array_print(o, nested, all);
        } else {
            if (!scalar_next(&it, &s))
                return;
            scalar_print(o, &s, UINT64_MAX);
        }
        out_text(o, "\n");
    }
}

void value_print_raw(output *o, const ggld_kv *kv)
{
    ggld_string s;

    if (ggld_kv_get_string(kv, &s))
        out_bytes(o, s.data, s.len);
    else
        value_print(o, kv, value_limits_none());
}

void value_print_full(output *o, const ggld_kv *kv)
{
    ggld_array_iter it;
    ggld_string s;

    if (ggld_kv_get_array(kv, &it)) {
        array_print_lines(o, it);
        return;
    }
    if (o->terminal && ggld_kv_get_string(kv, &s))
        text_put_lines(o, s.data, (size_t)s.len);
    else
        value_print_raw(o, kv);
    out_text(o, "\n");
}

static void array_json(js *w, const char *key, ggld_array_iter it,
                       value_limits limits)
{
    walk steps;

    walk_begin(&steps, it, limits.max_elems);
    js_array(w, key);
    while (steps.depth > 0 && !out_is_over(w->out)) {
        switch (walk_step(&steps)) {
        case STEP_SCALAR:
            scalar_json(w, NULL, &steps.scalar, limits.max_chars);
            break;
        case STEP_DOWN:
            js_array(w, NULL);
            break;
        case STEP_UP:
            js_end(w);
            break;
        }
    }
}

/* Of what is shown only: does the limit cut any text? */
static bool cuts_text(ggld_array_iter it, value_limits limits)
{
    walk steps;

    if (limits.max_chars == UINT64_MAX)
        return false;
    walk_begin(&steps, it, limits.max_elems);
    while (steps.depth > 0)
        if (walk_step(&steps) == STEP_SCALAR &&
            steps.scalar.type == GGLD_VALUE_STRING &&
            steps.scalar.as.s.len > limits.max_chars)
            return true;
    return false;
}

void value_json_row(js *w, const char *key, const ggld_kv *kv,
                    value_limits limits)
{
    ggld_string name = ggld_kv_key(kv);
    ggld_array_iter it;
    scalar s;

    js_object(w, key);
    js_string(w, "key", name.data, (size_t)name.len);
    js_text(w, "type", ggld_value_type_name(ggld_kv_type(kv)));
    if (ggld_kv_get_array(kv, &it)) {
        js_text(w, "elem_type", ggld_value_type_name(it.elem_type));
        js_u64(w, "count", it.n_elems);
        js_bool(w, "shortened",
                it.n_elems > limits.max_elems || cuts_text(it, limits));
        array_json(w, "value", it, limits);
    } else if (scalar_of_kv(kv, &s)) {
        if (s.type == GGLD_VALUE_STRING && s.as.s.len > limits.max_chars) {
            js_u64(w, "bytes", s.as.s.len);
            js_bool(w, "shortened", true);
        }
        scalar_json(w, "value", &s, limits.max_chars);
    } else {
        js_null(w, "value");
    }
    js_end(w);
}

text_number value_type_text(const ggld_kv *kv)
{
    ggld_array_iter it;
    text_number t;

    if (!ggld_kv_get_array(kv, &it))
        snprintf(t.text, sizeof t.text, "%s",
                 ggld_value_type_name(ggld_kv_type(kv)));
    else
        snprintf(t.text, sizeof t.text, "%s[%" PRIu64 "]",
                 ggld_value_type_name(it.elem_type), it.n_elems);
    return t;
}
