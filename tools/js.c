/* SPDX-License-Identifier: MIT */
/* See js.h. */
#include "js.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

static const char digits[] = "0123456789abcdef";

js js_begin(output *o)
{
    js w = { .out = o };
    return w;
}

/* ---- what stands between values ---- */

static void put_line(js *w)
{
    out_text(w->out, "\n");
    out_pad(w->out, 2 * (size_t)w->depth);
}

static void put_string(js *w, const char *data, size_t len);

static void put_key(js *w, const char *key)
{
    if (w->depth != 0) {
        bool *empty = &w->is_empty[w->depth - 1];
        out_text(w->out, *empty ? "" : ",");
        *empty = false;
        put_line(w);
    }
    if (key == NULL)
        return;
    put_string(w, key, strlen(key));
    out_text(w->out, ": ");
}

static void open_nested(js *w, const char *key, bool is_list)
{
    put_key(w, key);
    out_text(w->out, is_list ? "[" : "{");
    w->is_empty[w->depth] = true;
    w->is_list[w->depth] = is_list;
    w->depth++;
}

void js_object(js *w, const char *key)
{
    open_nested(w, key, false);
}

void js_array(js *w, const char *key)
{
    open_nested(w, key, true);
}

void js_end(js *w)
{
    w->depth--;
    if (!w->is_empty[w->depth])
        put_line(w);
    out_text(w->out, w->is_list[w->depth] ? "]" : "}");
    if (w->depth == 0)
        out_text(w->out, "\n");
}

/* ---- text ---- */

static void put_unit(output *o, uint32_t unit)
{
    char text[6] = { '\\',
                     'u',
                     digits[unit >> 12 & 15],
                     digits[unit >> 8 & 15],
                     digits[unit >> 4 & 15],
                     digits[unit & 15] };
    out_bytes(o, text, sizeof text);
}

/* The UTF-16 escapes of a code point. */
static void put_escape(output *o, uint32_t code)
{
    if (code >= 0x10000) {
        put_unit(o, 0xD800 + ((code - 0x10000) >> 10));
        code = 0xDC00 + (code & 0x3FF);
    }
    put_unit(o, code);
}

/* Characters that stand for themselves and are one byte. */
static size_t plain_run(const char *data, size_t len)
{
    size_t n = 0;
    while (n < len && data[n] >= 0x20 && data[n] < 0x7F && data[n] != '"' &&
           data[n] != '\\')
        n++;
    return n;
}

/* Up to the next plain character: how many bytes were taken. */
static size_t put_special(output *o, const char *data, size_t len)
{
    uint32_t code = 0;
    size_t n = text_utf8(data, len, &code);

    if (n == 0) /* it was changed meanwhile */
        code = 0xFFFD;
    if (code == '\n')
        out_text(o, "\\n");
    else if (code == '"' || code == '\\')
        out_bytes(o, code == '"' ? "\\\"" : "\\\\", 2);
    else if (n == 0 || !text_printable(code))
        put_escape(o, code);
    else
        out_bytes(o, data, n);
    return n == 0 ? 1 : n;
}

static void put_string(js *w, const char *data, size_t len)
{
    output *o = w->out;

    out_text(o, "\"");
    for (size_t i = 0; i < len && !out_is_over(o);) {
        size_t n = plain_run(data + i, len - i);
        out_bytes(o, data + i, n);
        i += n;
        if (i < len)
            i += put_special(o, data + i, len - i);
    }
    out_text(o, "\"");
}

static void put_hex(js *w, const char *data, size_t len)
{
    output *o = w->out;

    out_text(o, "\"");
    for (size_t i = 0; i < len && !out_is_over(o); i++) {
        char text[2] = { digits[(unsigned char)data[i] >> 4],
                         digits[(unsigned char)data[i] & 15] };
        out_bytes(o, text, sizeof text);
    }
    out_text(o, "\"");
}

static bool is_utf8(const char *data, size_t len)
{
    uint32_t code;
    for (size_t i = 0, n; i < len; i += n) {
        n = text_utf8(data + i, len - i, &code);
        if (n == 0)
            return false;
    }
    return true;
}

void js_string(js *w, const char *key, const char *data, size_t len)
{
    if (is_utf8(data, len)) {
        put_key(w, key);
        put_string(w, data, len);
        return;
    }
    js_object(w, key);
    put_key(w, "hex");
    put_hex(w, data, len);
    js_end(w);
}

void js_text(js *w, const char *key, const char *text)
{
    if (text == NULL)
        js_null(w, key);
    else
        js_string(w, key, text, strlen(text));
}

/* ---- numbers and the like ---- */

void js_u64(js *w, const char *key, uint64_t value)
{
    put_key(w, key);
    out_printf(w->out, "%" PRIu64, value);
}

void js_i64(js *w, const char *key, int64_t value)
{
    put_key(w, key);
    out_printf(w->out, "%" PRId64, value);
}

void js_bool(js *w, const char *key, bool value)
{
    put_key(w, key);
    out_text(w->out, value ? "true" : "false");
}

void js_null(js *w, const char *key)
{
    put_key(w, key);
    out_text(w->out, "null");
}

/* A double that is written as text says; a string where JSON has no number
 * for it. */
static void put_number(js *w, const char *key, double value, const char *text)
{
    put_key(w, key);
    if (isnan(value))
        out_text(w->out, "\"NaN\"");
    else if (isinf(value))
        out_text(w->out, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else
        out_text(w->out, text);
}

void js_f32(js *w, const char *key, float value)
{
    put_number(w, key, (double)value, text_f32(value).text);
}

void js_f64(js *w, const char *key, double value)
{
    put_number(w, key, value, text_f64(value).text);
}

void js_measure(js *w, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    put_number(w, key, value, text);
}

void js_u64_if(js *w, const char *key, bool known, uint64_t value)
{
    if (known)
        js_u64(w, key, value);
    else
        js_null(w, key);
}

void js_measure_if(js *w, const char *key, bool known, double value)
{
    if (known)
        js_measure(w, key, value);
    else
        js_null(w, key);
}
