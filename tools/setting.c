/* SPDX-License-Identifier: MIT */
/* See setting.h. Numbers are taken only where the type holds them exactly, but
 * for floats, which are rounded to the nearest. */
#include "setting.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "report.h"

static const struct {
    uint32_t type;
    size_t width; /* 0: text */
    int64_t least;
    uint64_t most; /* 0: no integer */
} kinds[] = {
    { GGLD_VALUE_U8, 1, 0, UINT8_MAX },
    { GGLD_VALUE_I8, 1, INT8_MIN, INT8_MAX },
    { GGLD_VALUE_U16, 2, 0, UINT16_MAX },
    { GGLD_VALUE_I16, 2, INT16_MIN, INT16_MAX },
    { GGLD_VALUE_U32, 4, 0, UINT32_MAX },
    { GGLD_VALUE_I32, 4, INT32_MIN, INT32_MAX },
    { GGLD_VALUE_U64, 8, 0, UINT64_MAX },
    { GGLD_VALUE_I64, 8, INT64_MIN, INT64_MAX },
    { GGLD_VALUE_BOOL, 1, 0, 1 },
    { GGLD_VALUE_F32, 4, 0, 0 },
    { GGLD_VALUE_F64, 8, 0, 0 },
    { GGLD_VALUE_STRING, 0, 0, 0 },
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static size_t kind_of(uint32_t type)
{
    size_t i = 0;
    while (i < N_KINDS - 1 && kinds[i].type != type)
        i++;
    return i;
}

static bool kind_named(const char *name, size_t len, uint32_t *out)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const char *known = ggld_value_type_name(kinds[i].type);
        if (strlen(known) == len && strncmp(known, name, len) == 0) {
            *out = kinds[i].type;
            return true;
        }
    }
    return false;
}

/* ---- one value ---- */

static void store_integer(void *out, size_t width, uint64_t bits)
{
    uint8_t u8 = (uint8_t)bits;
    uint16_t u16 = (uint16_t)bits;
    uint32_t u32 = (uint32_t)bits;

    memcpy(out,
           width == 1   ? (const void *)&u8
           : width == 2 ? (const void *)&u16
           : width == 4 ? (const void *)&u32
                        : (const void *)&bits,
           width);
}

static bool parse_integer(size_t kind, const char *text, void *out)
{
    char *end;

    errno = 0;
    if (text[0] == '-') {
        long long value = strtoll(text, &end, 10);
        if (errno != 0 || end == text + 1 || *end != '\0' ||
            value < kinds[kind].least)
            return false;
        store_integer(out, kinds[kind].width, (uint64_t)value);
        return true;
    }
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' ||
        value > kinds[kind].most)
        return false;
    store_integer(out, kinds[kind].width, value);
    return true;
}

static bool parse_float(uint32_t type, const char *text, void *out)
{
    char *end;
    double f64 = strtod(text, &end);
    float f32 = type == GGLD_VALUE_F32 ? strtof(text, &end) : 0;

    if (end == text || *end != '\0')
        return false;
    memcpy(out, type == GGLD_VALUE_F32 ? (const void *)&f32 : &f64,
           type == GGLD_VALUE_F32 ? sizeof f32 : sizeof f64);
    return true;
}

static bool parse_number(uint32_t type, const char *text, void *out)
{
    size_t kind = kind_of(type);

    if (type == GGLD_VALUE_BOOL) {
        bool is_true = strcmp(text, "true") == 0;
        if (!is_true && strcmp(text, "false") != 0)
            return false;
        *(uint8_t *)out = is_true;
        return true;
    }
    return kinds[kind].most != 0 ? parse_integer(kind, text, out)
                                 : parse_float(type, text, out);
}

/* ---- text ---- */

static int read_file(const char *path, setting *out)
{
    FILE *f = fopen(path, "rbe");
    size_t cap = 0, n = 1;

    if (f == NULL)
        return report_errno(path, errno, "cannot open");
    while (n > 0) {
        if (out->n == cap) {
            cap = cap == 0 ? 65536 : 2 * cap;
            void *grown = realloc(out->data, cap);
            if (grown == NULL)
                break;
            out->data = grown;
        }
        n = fread((char *)out->data + out->n, 1, cap - (size_t)out->n, f);
        out->n += n;
    }
    bool failed = ferror(f) != 0 || n != 0;
    int sys_errno = failed ? errno : 0;
    fclose(f);
    return failed ? report_errno(path, sys_errno, "cannot read") : STATUS_GOOD;
}

static int parse_text(const char *text, setting *out)
{
    if (text[0] == '@' && text[1] != '@')
        return read_file(text + 1, out);
    text += text[0] == '@';
    out->n = strlen(text);
    out->data = strdup(text);
    return out->data != NULL ? STATUS_GOOD : report("--set", "no memory");
}

/* ---- arrays ---- */

static bool parse_element(setting *s, uint64_t i, json_object *value,
                          size_t *pool_used)
{
    uint32_t type = s->elem_type;
    size_t width = kinds[kind_of(type)].width;

    if (type == GGLD_VALUE_STRING) {
        if (!json_object_is_type(value, json_type_string))
            return false;
        size_t n = (size_t)json_object_get_string_len(value);
        memcpy(s->pool + *pool_used, json_object_get_string(value), n);
        ((ggld_string *)s->data)[i] = (ggld_string){ s->pool + *pool_used, n };
        *pool_used += n;
        return true;
    }
    if (value == NULL || json_object_is_type(value, json_type_string))
        return false;
    return parse_number(type, json_object_get_string(value),
                        (uint8_t *)s->data + i * width);
}

static int parse_array(const args *a, const char *text, const char *whole,
                       setting *s)
{
    struct json_tokener *tokener = json_tokener_new();
    size_t len = strlen(text), used = 0;
    json_object *list = NULL;
    int status = STATUS_GOOD;

    if (tokener == NULL || len > INT_MAX - 1)
        return report("--set", "no memory");
    json_tokener_set_flags(tokener,
                           JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    list = json_tokener_parse_ex(tokener, text, (int)len + 1);
    json_tokener_free(tokener);
    if (!json_object_is_type(list, json_type_array)) {
        json_object_put(list);
        return report_usage(a, "--set '%s': the value is no JSON list", whole);
    }
    s->n = json_object_array_length(list);
    s->data = calloc((size_t)s->n + 1, sizeof(ggld_string));
    s->pool = malloc(len + 1);
    if (s->data == NULL || s->pool == NULL)
        status = report("--set", "no memory");
    for (uint64_t i = 0; i < s->n && status == STATUS_GOOD; i++)
        if (!parse_element(s, i, json_object_array_get_idx(list, (size_t)i),
                           &used))
            status = report_usage(a, "--set '%s': element %" PRIu64 " is no %s",
                                  whole, i, ggld_value_type_name(s->elem_type));
    json_object_put(list);
    return status;
}

/* ---- all of it ---- */

static int parse_value(const args *a, const char *text, const char *whole,
                       setting *s)
{
    if (s->type == GGLD_VALUE_ARRAY)
        return parse_array(a, text, whole, s);
    if (s->type == GGLD_VALUE_STRING)
        return parse_text(text, s);
    s->n = 1;
    s->data = calloc(1, sizeof(uint64_t));
    if (s->data == NULL)
        return report("--set", "no memory");
    if (parse_number(s->type, text, s->data))
        return STATUS_GOOD;
    return report_usage(a, "--set '%s': '%s' is no %s", whole, text,
                        ggld_value_type_name(s->type));
}

int setting_parse(const args *a, const char *text, setting *out)
{
    const char *equals = strchr(text, '=');
    const char *colon = equals;

    memset(out, 0, sizeof *out);
    while (colon != NULL && colon > text && *colon != ':')
        colon--;
    if (equals == NULL || *colon != ':' || colon == text)
        return report_usage(a,
                            "--set is '%s': KEY:TYPE=VALUE is wanted, as "
                            "'llama.context_length:u32=4096'",
                            text);
    size_t len = (size_t)(equals - colon) - 1;
    bool is_array = len > 2 && strncmp(equals - 2, "[]", 2) == 0;
    uint32_t type;
    if (!kind_named(colon + 1, is_array ? len - 2 : len, &type))
        return report_usage(a,
                            "--set '%s': '%.*s' is no type: u8 to u64, i8 "
                            "to i64, f32, f64, bool, string; with [] an "
                            "array",
                            text, (int)len, colon + 1);
    out->type = is_array ? GGLD_VALUE_ARRAY : type;
    out->elem_type = type;
    out->key = strndup(text, (size_t)(colon - text));
    if (out->key == NULL)
        return report("--set", "no memory");
    return parse_value(a, equals + 1, text, out);
}

static ggld_status write_number(const setting *s, ggld_writer *w,
                                ggld_error *err)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } v;

    memcpy(&v, s->data, kinds[kind_of(s->type)].width);
    switch (s->type) {
    case GGLD_VALUE_U8:
        return ggld_writer_set_u8(w, s->key, v.u8, err);
    case GGLD_VALUE_I8:
        return ggld_writer_set_i8(w, s->key, v.i8, err);
    case GGLD_VALUE_U16:
        return ggld_writer_set_u16(w, s->key, v.u16, err);
    case GGLD_VALUE_I16:
        return ggld_writer_set_i16(w, s->key, v.i16, err);
    case GGLD_VALUE_U32:
        return ggld_writer_set_u32(w, s->key, v.u32, err);
    case GGLD_VALUE_I32:
        return ggld_writer_set_i32(w, s->key, v.i32, err);
    case GGLD_VALUE_U64:
        return ggld_writer_set_u64(w, s->key, v.u64, err);
    case GGLD_VALUE_I64:
        return ggld_writer_set_i64(w, s->key, v.i64, err);
    case GGLD_VALUE_F32:
        return ggld_writer_set_f32(w, s->key, v.f32, err);
    case GGLD_VALUE_F64:
        return ggld_writer_set_f64(w, s->key, v.f64, err);
    default:
        return ggld_writer_set_bool(w, s->key, v.u8 != 0, err);
    }
}

ggld_status setting_write(const setting *s, ggld_writer *w, ggld_error *err)
{
    if (s->type == GGLD_VALUE_STRING)
        return ggld_writer_set_string(w, s->key, s->data, (size_t)s->n, err);
    if (s->type != GGLD_VALUE_ARRAY)
        return write_number(s, w, err);
    if (s->elem_type == GGLD_VALUE_STRING)
        return ggld_writer_set_strings(w, s->key, s->data, s->n, err);
    return ggld_writer_set_array(w, s->key, s->elem_type, s->data, s->n, err);
}

void setting_free(setting *s)
{
    free(s->key);
    free(s->data);
    free(s->pool);
}
