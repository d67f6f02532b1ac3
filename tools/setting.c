/* SPDX-License-Identifier: MIT */
/* See setting.h. Numbers are taken only where the type holds them exactly, but
 * for floats, which are rounded to the nearest. */
#include "setting.h"
#include "setting_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <ggld/edit.h>

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

/* What went wrong, and what it is about, shortened. */
static bool fail(char *why, const char *what, const char *text)
{
    snprintf(why, SETTING_WHY_MAX, "%s '%.80s%s'", what, text,
             strlen(text) > 80 ? "..." : "");
    return false;
}

static bool fail_memory(setting *s, char *why)
{
    snprintf(why, SETTING_WHY_MAX, "no memory");
    s->status = STATUS_FAULT;
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool parse_integer(size_t kind, const char *text, void *out)
{
    char *end;

    errno = 0;
    if (text[0] == '-' && is_digit(text[1])) {
        long long value = strtoll(text, &end, 10);
        if (errno != 0 || *end != '\0' || value < kinds[kind].least)
            return false;
        store_integer(out, kinds[kind].width, (uint64_t)value);
        return true;
    }
    if (!is_digit(text[0]))
        return false;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > kinds[kind].most)
        return false;
    store_integer(out, kinds[kind].width, value);
    return true;
}

/* Decimal, inf or nan. What is too great for the type is not taken for an
 * infinity; what is too small is rounded, to zero in the end. */
static bool parse_float(uint32_t type, const char *text, void *out)
{
    bool narrow = type == GGLD_VALUE_F32;
    char *end;

    if (strspn(text, " \t\n\v\f\r") != 0 || strpbrk(text, "xX(") != NULL)
        return false;
    errno = 0;
    double f64 = narrow ? 0 : strtod(text, &end);
    float f32 = narrow ? strtof(text, &end) : 0;
    bool great =
        errno == ERANGE && (narrow ? f32 > 1 || f32 < -1 : f64 > 1 || f64 < -1);
    if (great || end == text || *end != '\0')
        return false;
    memcpy(out, narrow ? (const void *)&f32 : &f64,
           narrow ? sizeof f32 : sizeof f64);
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
        if (n != 0)
            memcpy(s->pool + *pool_used, json_object_get_string(value), n);
        ((ggld_string *)s->data)[i] = (ggld_string){ s->pool + *pool_used, n };
        *pool_used += n;
        return true;
    }
    if (!json_object_is_type(value, json_type_boolean) &&
        !json_object_is_type(value, json_type_int) &&
        !json_object_is_type(value, json_type_double))
        return false;
    return parse_number(type, json_object_get_string(value),
                        (uint8_t *)s->data + i * width);
}

static json_object *parse_list(const char *text, size_t len)
{
    struct json_tokener *tokener = json_tokener_new();
    json_object *list = NULL;

    if (tokener == NULL || len > SETTING_TEXT_MAX ||
        memchr(text, '\0', len) != NULL) {
        json_tokener_free(tokener);
        return NULL;
    }
    json_tokener_set_flags(tokener,
                           JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    /* Up to the NUL: there may be white space behind, and nothing else. */
    list = json_tokener_parse_ex(tokener, text, (int)len + 1);
    json_tokener_free(tokener);
    if (json_object_is_type(list, json_type_array))
        return list;
    json_object_put(list);
    return NULL;
}

static bool parse_array(const char *text, size_t len, setting *s, char *why)
{
    size_t used = 0, at;
    bool good = true;

    if (setting_has_lone_surrogate(text, len, &at)) {
        snprintf(why, SETTING_WHY_MAX,
                 "'%.6s' is one half of a surrogate pair, alone: no text",
                 text + at);
        return false;
    }
    json_object *list = parse_list(text, len);
    if (list == NULL)
        return fail(why, "no JSON list:", text);
    s->n = json_object_array_length(list);
    s->data = calloc((size_t)s->n + 1, sizeof(ggld_string));
    /* A text takes no more than it does in JSON. */
    s->pool = malloc(len + 1);
    if (s->data == NULL || s->pool == NULL)
        good = fail_memory(s, why);
    for (uint64_t i = 0; i < s->n && good; i++) {
        good = parse_element(s, i, json_object_array_get_idx(list, (size_t)i),
                             &used);
        if (!good)
            snprintf(why, SETTING_WHY_MAX, "element %" PRIu64 " is no %s", i,
                     ggld_value_type_name(s->elem_type));
    }
    json_object_put(list);
    return good;
}

/* ---- all of it ---- */

static bool parse_value(const char *text, bool files, setting *s, char *why)
{
    size_t len;
    char *loaded = setting_load_text(text, files, &len, why);
    bool good = loaded != NULL;

    if (!good) {
        s->status = STATUS_FAULT;
        return false;
    }
    if (s->type == GGLD_VALUE_STRING) {
        s->data = loaded;
        s->n = len;
        return true;
    }
    if (s->type == GGLD_VALUE_ARRAY) {
        good = parse_array(loaded, len, s, why);
    } else {
        s->n = 1;
        s->data = calloc(1, sizeof(uint64_t));
        if (s->data == NULL)
            good = fail_memory(s, why);
        else if (!parse_number(s->type, loaded, s->data) ||
                 strlen(loaded) != len) {
            char what[32];
            snprintf(what, sizeof what,
                     "no %s:", ggld_value_type_name(s->type));
            good = fail(why, what, loaded);
        }
    }
    free(loaded);
    return good;
}

static bool set_key(setting *s, const char *text, size_t len)
{
    free(s->key);
    s->key = strndup(text, len);
    return s->key != NULL;
}

static bool take_type(const char *name, size_t len, setting *s, char *why)
{
    bool is_array = len > 2 && strncmp(name + len - 2, "[]", 2) == 0;
    uint32_t type;

    if (!kind_named(name, is_array ? len - 2 : len, &type)) {
        snprintf(why, SETTING_WHY_MAX,
                 "'%.*s' is no type: u8 to u64, i8 to i64, f32, f64, bool, "
                 "string; with [] an array",
                 len < 80 ? (int)len : 80, name);
        return false;
    }
    s->type = is_array ? GGLD_VALUE_ARRAY : type;
    s->elem_type = is_array ? type : 0;
    return true;
}

/* What stands before the "=": a key that is there, colons and all, or a key and
 * a type. */
static bool take_key(const char *text, size_t len, setting_known known,
                     const void *user, setting *s, char *why)
{
    size_t colon = len;

    if (!set_key(s, text, len))
        return fail_memory(s, why);
    if (known != NULL && known(user, s->key, &s->type, &s->elem_type))
        return true;
    while (colon > 0 && text[colon - 1] != ':')
        colon--;
    if (colon <= 1) {
        if (known != NULL)
            s->status = STATUS_FAULT; /* as for a key that is to be removed */
        snprintf(why, SETTING_WHY_MAX,
                 known != NULL ? "the key is not there, and so has no type: "
                                 "KEY:TYPE=VALUE is wanted"
                               : "KEY:TYPE=VALUE is wanted, as "
                                 "'llama.context_length:u32=4096'");
        return false;
    }
    if (!take_type(text + colon, len - colon, s, why))
        return false;
    return set_key(s, text, colon - 1) || fail_memory(s, why);
}

/* Keys that say what a file is, not what the model is, are not set by hand. */
static bool check_key(const setting *s, char *why)
{
    ggld_error err;

    if (ggld_edit_check_key(s->key, s->type, &err) == GGLD_OK)
        return true;
    snprintf(why, SETTING_WHY_MAX, "%s", err.message);
    return false;
}

bool setting_read(const char *text, setting_known known, const void *user,
                  bool files, setting *out, char why[static SETTING_WHY_MAX])
{
    const char *equals = strchr(text, '=');

    memset(out, 0, sizeof *out);
    out->status = STATUS_USAGE;
    if (equals == NULL) {
        snprintf(why, SETTING_WHY_MAX,
                 "there is no '=' in it: KEY%s=VALUE is wanted",
                 known != NULL ? "[:TYPE]" : ":TYPE");
        return false;
    }
    return take_key(text, (size_t)(equals - text), known, user, out, why) &&
           check_key(out, why) && parse_value(equals + 1, files, out, why);
}

void setting_free(setting *s)
{
    free(s->key);
    free(s->data);
    free(s->pool);
    memset(s, 0, sizeof *s);
}
