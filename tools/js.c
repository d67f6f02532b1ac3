/* SPDX-License-Identifier: MIT */
/* See js.h. json-c writes strings' C1 controls and direction marks as they
 * are, and doubles in 17 digits: both go through serializers of our own. */
#include "js.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

static json_object *js_made(json_object *object)
{
    if (object == NULL) {
        report(NULL, "no memory for JSON");
        exit(STATUS_FAULT);
    }
    return object;
}

json_object *js_object(void)
{
    return js_made(json_object_new_object());
}

json_object *js_array(void)
{
    return js_made(json_object_new_array());
}

/* The UTF-16 escapes of a code point. */
static void js_escape(struct printbuf *out, uint32_t code)
{
    char text[16];

    if (code >= 0x10000)
        snprintf(text, sizeof text, "\\u%04x\\u%04x",
                 (unsigned)(0xD800 + ((code - 0x10000) >> 10)),
                 (unsigned)(0xDC00 + (code & 0x3FF)));
    else
        snprintf(text, sizeof text, "\\u%04x", (unsigned)code);
    printbuf_memappend(out, text, (int)strlen(text));
}

static int js_write_text(json_object *object, struct printbuf *out, int level,
                         int flags)
{
    const char *data = json_object_get_string(object);
    size_t len = (size_t)json_object_get_string_len(object);
    uint32_t code = 0;

    (void)level;
    (void)flags;
    printbuf_memappend(out, "\"", 1);
    for (size_t i = 0, n; i < len; i += n) {
        n = text_utf8(data + i, len - i, &code);
        if (code == '"' || code == '\\')
            printbuf_memappend(out, "\\", 1);
        if (code == '\n')
            printbuf_memappend(out, "\\n", 2);
        else if (!text_printable(code))
            js_escape(out, code);
        else
            printbuf_memappend(out, data + i, (int)n);
    }
    printbuf_memappend(out, "\"", 1);
    return 0;
}

static json_object *js_hex(const char *data, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    json_object *object = js_object();
    char *hex = malloc(2 * len + 1);

    js_made(hex == NULL ? NULL : object);
    for (size_t i = 0; i < len; i++) {
        hex[2 * i] = digits[(unsigned char)data[i] >> 4];
        hex[2 * i + 1] = digits[(unsigned char)data[i] & 15];
    }
    js_set(object, "hex",
           js_made(json_object_new_string_len(hex, (int)(2 * len))));
    free(hex);
    return object;
}

json_object *js_text(const char *data, size_t len)
{
    uint32_t code;

    if (len > INT32_MAX / 2) {
        report(NULL, "a text of %zu bytes is too long for JSON", len);
        exit(STATUS_FAULT);
    }
    for (size_t i = 0, n; i < len; i += n) {
        n = text_utf8(data + i, len - i, &code);
        if (n == 0)
            return js_hex(data, len);
    }
    json_object *text = js_made(json_object_new_string_len(data, (int)len));
    json_object_set_serializer(text, js_write_text, NULL, NULL);
    return text;
}

json_object *js_u64(uint64_t value)
{
    return js_made(json_object_new_uint64(value));
}

json_object *js_i64(int64_t value)
{
    return js_made(json_object_new_int64(value));
}

json_object *js_bool(bool value)
{
    return js_made(json_object_new_boolean(value));
}

/* A double that is written as text says; a string where JSON has no number
 * for it. */
static json_object *js_number(double value, const char *text)
{
    if (isnan(value))
        text = "NaN";
    else if (isinf(value))
        text = value < 0 ? "-Infinity" : "Infinity";
    else
        return js_made(json_object_new_double_s(value, text));
    return js_made(json_object_new_string(text));
}

json_object *js_f32(float value)
{
    return js_number((double)value, text_f32(value).text);
}

json_object *js_f64(double value)
{
    return js_number(value, text_f64(value).text);
}

json_object *js_measure(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return js_number(value, text);
}

void js_set(json_object *object, const char *key, json_object *value)
{
    if (json_object_object_add(object, key, value) != 0)
        js_made(NULL);
}

void js_set_text(json_object *object, const char *key, const char *text)
{
    js_set(object, key, js_text(text, strlen(text)));
}

void js_set_u64(json_object *object, const char *key, uint64_t value)
{
    js_set(object, key, js_u64(value));
}

void js_append(json_object *array, json_object *value)
{
    if (json_object_array_add(array, value) != 0)
        js_made(NULL);
}

void js_print(output *o, json_object *object)
{
    const char *text = json_object_to_json_string_ext(
        object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                    JSON_C_TO_STRING_NOSLASHESCAPE);

    if (text == NULL)
        js_made(NULL);
    out_text(o, text);
    out_text(o, "\n");
    json_object_put(object);
}
