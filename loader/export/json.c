/* SPDX-License-Identifier: MIT */
/* See json.h. Only finds where members begin and end, which takes knowing
 * strings and brackets; whether what is between is JSON, json-c says. */
#include "json.h"

#include <limits.h>
#include <string.h>

#define MAX_DEPTH 16

static void skip_space(ggld_json_members *m)
{
    while (m->pos < m->size && m->text[m->pos] != '\0' &&
           strchr(" \t\r\n", m->text[m->pos]) != NULL)
        m->pos++;
}

static bool take(ggld_json_members *m, char c)
{
    skip_space(m);
    if (m->pos == m->size || m->text[m->pos] != c)
        return false;
    m->pos++;
    return true;
}

/* From the opening quote to behind the closing one. */
static bool skip_string(ggld_json_members *m)
{
    for (m->pos++; m->pos < m->size; m->pos++) {
        char c = m->text[m->pos];
        if (c == '"') {
            m->pos++;
            return true;
        }
        if ((unsigned char)c < 0x20)
            return false;
        if (c == '\\')
            m->pos++;
    }
    m->pos = m->size;
    return false;
}

/* From a bracket to behind the one that closes it. */
static bool skip_brackets(ggld_json_members *m)
{
    uint64_t depth = 0;

    while (m->pos < m->size) {
        char c = m->text[m->pos];
        if (c == '"') {
            if (!skip_string(m))
                return false;
            continue;
        }
        m->pos++;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (depth == 0)
            return true;
    }
    return false;
}

static bool is_bracket(char c)
{
    return c == '{' || c == '[';
}

/* A number or word ends where something else begins. */
static bool skip_word(ggld_json_members *m)
{
    size_t start = m->pos;

    while (m->pos < m->size && m->text[m->pos] != '\0' &&
           strchr(" \t\r\n,:{}[]\"", m->text[m->pos]) == NULL)
        m->pos++;
    return m->pos > start;
}

static bool take_value(ggld_json_members *m, ggld_string *out)
{
    skip_space(m);
    size_t start = m->pos;
    if (start == m->size)
        return false;
    char c = m->text[start];
    bool good = c == '"'        ? skip_string(m)
                : is_bracket(c) ? skip_brackets(m)
                                : skip_word(m);
    out->data = m->text + start;
    out->len = m->pos - start;
    return good;
}

static ggld_json_step end(ggld_json_members *m)
{
    skip_space(m);
    return m->pos == m->size ? GGLD_JSON_END : GGLD_JSON_BROKEN;
}

ggld_json_step ggld_json_next(ggld_json_members *m, ggld_json_member *out)
{
    if (!m->begun) {
        if (!take(m, '{'))
            return GGLD_JSON_BROKEN;
        m->begun = true;
        if (take(m, '}'))
            return end(m);
    } else if (take(m, '}')) {
        return end(m);
    } else if (!take(m, ',')) {
        return GGLD_JSON_BROKEN;
    }
    skip_space(m);
    if (m->pos == m->size || m->text[m->pos] != '"' ||
        !take_value(m, &out->key) || !take(m, ':') ||
        !take_value(m, &out->value))
        return GGLD_JSON_BROKEN;
    return GGLD_JSON_MEMBER;
}

bool ggld_json_count(const char *text, uint64_t size, uint64_t *out)
{
    ggld_json_members m = ggld_json_members_of(text, size);
    ggld_json_member member;
    ggld_json_step step;
    uint64_t n = 0;

    while ((step = ggld_json_next(&m, &member)) == GGLD_JSON_MEMBER)
        n++;
    *out = n;
    return step == GGLD_JSON_END;
}

struct json_tokener *ggld_json_tokener(void)
{
    struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
    if (tokener != NULL)
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT |
                                            JSON_TOKENER_VALIDATE_UTF8);
    return tokener;
}

struct json_object *ggld_json_parse(struct json_tokener *tokener,
                                    ggld_string text)
{
    if (text.len > INT_MAX || text.len == 0 ||
        (text.data[0] != '"' && !is_bracket(text.data[0])))
        return NULL;
    if (ggld_json_has_lone_half(text))
        return NULL;
    json_tokener_reset(tokener);
    struct json_object *value =
        json_tokener_parse_ex(tokener, text.data, (int)text.len);
    if (value != NULL && json_tokener_get_parse_end(tokener) == text.len)
        return value;
    json_object_put(value);
    return NULL;
}

/* Four hex digits behind a backslash and a u; -1: there is no such escape. */
static int32_t escape_at(ggld_string text, uint64_t at)
{
    /* At a place's number modulo 16 there is the digit that has this value. */
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t value = 0;

    if (text.len - at < 6 || text.data[at] != '\\' || text.data[at + 1] != 'u')
        return -1;
    for (uint64_t i = at + 2; i < at + 6; i++) {
        char c = text.data[i];
        const char *digit = c != '\0' ? strchr(digits, c) : NULL;
        if (digit == NULL)
            return -1;
        value = value * 16 + (int32_t)((digit - digits) % 16);
    }
    return value;
}

bool ggld_json_has_lone_half(ggld_string text)
{
    for (uint64_t i = 0; i < text.len; i++) {
        if (text.data[i] != '\\')
            continue;
        int32_t value = escape_at(text, i);
        if (value < 0xD800 || value > 0xDFFF) {
            i++; /* what is escaped, which may be a backslash */
            continue;
        }
        int32_t second =
            value < 0xDC00 && text.len - i > 6 ? escape_at(text, i + 6) : -1;
        if (second < 0xDC00 || second > 0xDFFF)
            return true;
        i += 11;
    }
    return false;
}

bool ggld_json_string(struct json_object *value, ggld_string *out)
{
    if (value == NULL || !json_object_is_type(value, json_type_string))
        return false;
    out->data = json_object_get_string(value);
    out->len = (uint64_t)json_object_get_string_len(value);
    return true;
}

bool ggld_json_u64(struct json_object *value, uint64_t *out)
{
    if (value == NULL || !json_object_is_type(value, json_type_int) ||
        json_object_get_int64(value) < 0)
        return false;
    *out = json_object_get_uint64(value);
    return *out != UINT64_MAX; /* that, or more: json-c clips */
}
